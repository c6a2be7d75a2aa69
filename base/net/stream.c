/*
 * Streams: see stream.h.
 *
 * Bytes are gathered into lines. A line ends at LF, CR LF or CR, and not at U+2028.
 * Between two pieces we keep the unfinished line, and whether a CR was the last byte.
 */
#include "base/net/stream.h"

#include <errno.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void stream_init(struct stream *s, enum stream_kind kind)
{
	*s = (struct stream){ .kind = kind, .at_start = true, .retry_ms = STREAM_RETRY_MS };
}

void stream_release(struct stream *s)
{
	buf_release(&s->line);
	buf_release(&s->data);
	buf_release(&s->id);
}

/* Hand on the event and be ready for the next one. Empty data is not an event. */
static int dispatch(struct stream *s, stream_event_fn *fn, void *arg)
{
	int r = s->data.len ? fn(arg, buf_span(&s->data)) : 0;

	buf_clear(&s->data);
	s->has_data = false;
	s->bare = false;
	return r;
}

static int keep(struct stream *s, struct span data)
{
	if (s->data.len + data.len > STREAM_EVENT_MAX)
		return -EMSGSIZE;
	buf_span_add(&s->data, data);
	return buf_check(&s->data, NULL);
}

static bool has_prefix(struct span text, struct span prefix)
{
	return text.len >= prefix.len && span_equal(span_sub(text, 0, prefix.len), prefix);
}

static int take_data(struct stream *s, struct span value)
{
	int r = 0;

	if (s->has_data)
		r = keep(s, SPAN("\n"));
	s->has_data = true;
	return r < 0 ? r : keep(s, value);
}

static int take_id(struct stream *s, struct span value)
{
	if (value.len > STREAM_ID_MAX || memchr(value.data, 0, value.len))
		return 0;
	buf_clear(&s->id);
	buf_span_add(&s->id, value);
	return buf_check(&s->id, NULL);
}

static int take_retry(struct stream *s, struct span value)
{
	int ms = 0;
	size_t i;

	for (i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return 0;
		ms = MIN(ms * 10 + (value.data[i] - '0'), STREAM_RETRY_MAX);
	}
	if (value.len)
		s->retry_ms = ms;
	return 0;
}

/* Other fields and comments are ignored. */
static const struct field {
	const char *name;
	int (*take)(struct stream *s, struct span value);
} fields[] = {
	{ "data", take_data },
	{ "id", take_id },
	{ "retry", take_retry },
};

/*
 * Whether a line belongs to JSON that was written into the stream without `data`. No field begins
 * with a bracket. Such JSON goes up to the next blank line or `data`.
 */
static bool is_bare(const struct stream *s, struct span line)
{
	if (s->bare)
		return !has_prefix(line, SPAN("data:"));
	return !s->has_data && (line.data[0] == '{' || line.data[0] == '[');
}

static int sse_line(struct stream *s, struct span line, stream_event_fn *fn, void *arg)
{
	const char *colon = memchr(line.data, ':', line.len);
	size_t n = colon ? (size_t)(colon - line.data) : line.len;
	struct span value = span_sub(line, colon ? n + 1 : n, line.len);
	size_t i;
	int r;

	if (!line.len)
		return dispatch(s, fn, arg);
	if (is_bare(s, line)) {
		s->bare = true;
		return take_data(s, line);
	}
	r = s->bare ? dispatch(s, fn, arg) : 0;
	if (r)
		return r;
	if (value.len && value.data[0] == ' ')
		value = span_sub(value, 1, value.len);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (span_is(span_sub(line, 0, n), fields[i].name))
			return fields[i].take(s, value);
	}
	return 0;
}

static int take_line(struct stream *s, stream_event_fn *fn, void *arg)
{
	struct span line = buf_span(&s->line);
	int r;

	if (s->at_start && has_prefix(line, SPAN(BYTE_ORDER_MARK)))
		line = span_sub(line, sizeof BYTE_ORDER_MARK - 1, line.len);
	s->at_start = false;
	if (s->kind == STREAM_SSE)
		r = sse_line(s, line, fn, arg);
	else
		r = span_is_blank(line) ? 0 : fn(arg, line);
	buf_clear(&s->line);
	return r;
}

/* The next LF and CR in a piece. Each is searched for only after it has been passed. */
struct ends {
	const char *lf;
	const char *cr;
};

static const char *next_end(const char *known, struct span piece, char c)
{
	const char *end = piece.data + piece.len;

	if (known >= piece.data)
		return known;
	known = memchr(piece.data, c, piece.len);
	return known ? known : end;
}

static size_t line_length(struct ends *ends, struct span piece)
{
	ends->lf = next_end(ends->lf, piece, '\n');
	ends->cr = next_end(ends->cr, piece, '\r');
	return (size_t)(MIN(ends->lf, ends->cr) - piece.data);
}

static int gather(struct stream *s, struct span piece)
{
	if (s->line.len + piece.len > STREAM_EVENT_MAX)
		return -EMSGSIZE;
	buf_span_add(&s->line, piece);
	return buf_check(&s->line, NULL);
}

static int feed_lines(struct stream *s, struct span piece, stream_event_fn *fn, void *arg)
{
	struct ends ends = { NULL, NULL };
	int r = 0;

	while (r == 0 && piece.len) {
		size_t n;

		if (s->skip_lf && piece.data[0] == '\n')
			piece = span_sub(piece, 1, piece.len);
		s->skip_lf = false;
		if (!piece.len)
			break;
		n = line_length(&ends, piece);
		r = gather(s, span_sub(piece, 0, n));
		if (r < 0 || n == piece.len)
			break;
		s->skip_lf = piece.data[n] == '\r';
		piece = span_sub(piece, n + 1, piece.len);
		r = take_line(s, fn, arg);
	}
	return r;
}

int stream_feed(struct stream *s, struct span piece, stream_event_fn *fn, void *arg)
{
	if (s->kind == STREAM_WHOLE)
		return keep(s, piece);
	return feed_lines(s, piece, fn, arg);
}

int stream_end(struct stream *s, stream_event_fn *fn, void *arg)
{
	int r = s->line.len ? take_line(s, fn, arg) : 0;

	return r ? r : dispatch(s, fn, arg);
}
