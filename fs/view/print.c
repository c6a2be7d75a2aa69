/*
 * Printing: see print.h.
 */
#include "fs/view/print.h"

#include "base/clock.h"
#include "base/percent.h"
#include "base/utf8.h"

#include <time.h>

void print_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
	buf_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

void print_time(struct buf *out, int64_t usec)
{
	time_t seconds = (time_t)(usec / USEC_PER_SEC);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		text[0] = 0;
	buf_text(out, text);
}

void print_duration(struct buf *out, int64_t usec)
{
	long long ms = (long long)MAX(usec, 0) / 1000;

	if (ms < 1000)
		buf_printf(out, "%lld ms", ms);
	else if (ms < 60000)
		buf_printf(out, "%lld.%lld s", ms / 1000, ms % 1000 / 100);
	else
		buf_printf(out, "%lld min %lld s", ms / 60000, ms % 60000 / 1000);
}

void print_url(struct buf *out, const char *path)
{
	percent_encode(out, span_of(path), "/");
}

/* The bytes of a string token, quotes included. */
static size_t string_length(struct span json, size_t at)
{
	size_t i;

	for (i = at + 1; i < json.len && json.data[i] != '"'; i++)
		i += json.data[i] == '\\';
	return MIN(i + 1, json.len) - at;
}

static void begin_line(struct buf *out, unsigned depth)
{
	buf_char(out, '\n');
	while (depth--)
		buf_text(out, "  ");
}

void print_json_lines(struct buf *out, struct span json)
{
	unsigned depth = 0;
	size_t n;
	size_t i;

	for (i = 0; i < json.len; i += n) {
		char c = json.data[i];
		bool opens = c == '{' || c == '[';
		bool closes = c == '}' || c == ']';
		bool empty = opens && i + 1 < json.len && json.data[i + 1] == c + 2;

		n = c == '"' ? string_length(json, i) : empty ? 2 : 1;
		depth -= closes && depth;
		if (closes)
			begin_line(out, depth);
		buf_span_add(out, span_sub(json, i, i + n));
		depth += opens && !empty;
		if ((opens && !empty) || c == ',')
			begin_line(out, depth);
		if (c == ':')
			buf_char(out, ' ');
	}
}

struct span print_cut(struct span text, size_t max)
{
	bool cut;

	if (text.len <= max)
		return text;
	text.len = max;
	text.len = utf8_prefix(text, &cut);
	return text;
}
