/*
 * Kept lines: see kept.h.
 */
#include "runner/history/kept.h"

#include "runner/history/past.h"
#include "store/session/log.h"

#include <errno.h>
#include <stdlib.h>

static void line_free(struct kept_line *line)
{
	if (!line)
		return;
	content_free(line->content);
	content_free(line->story);
	free(line);
}

struct kept_line *const *kept_lines(const struct kept *kept, size_t *count)
{
	*count = kept->lines.len / sizeof(struct kept_line *);
	return (struct kept_line *const *)(void *)kept->lines.data;
}

void kept_release(struct kept *kept)
{
	size_t count;
	struct kept_line *const *lines = kept_lines(kept, &count);
	size_t i;

	for (i = 0; i < count; i++)
		line_free(lines[i]);
	buf_release(&kept->lines);
	kept->bytes = 0;
}

enum kept_text { AUTHOR, BRANCH, INVOCATION, SIGNER, LONG_RUNNING, TIMESTAMP, TEXTS };

/* Who made the signatures of a content, as the runner noted it. Empty: it has none. */
static struct span signer_of(const struct past_line *picked, const struct content *content)
{
	struct span value = { 0 };
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		if (!content->parts[i].signature)
			continue;
		if (picked->metadata.len &&
		    json_member(picked->metadata, "adkfs.model", &value) == 0 &&
		    json_member(value, "provider", &value) == 0 && value.data[0] == '"')
			return value;
		break;
	}
	return (struct span){ 0 };
}

/* The texts one behind the other; where each ends. */
static int gather(const struct past_line *picked, const struct content *content, struct buf *texts,
		  size_t end[TEXTS])
{
	const struct span quoted[] = { [AUTHOR] = picked->author,
				       [BRANCH] = picked->branch,
				       [INVOCATION] = picked->invocation,
				       [SIGNER] = signer_of(picked, content) };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(quoted); i++) {
		if (quoted[i].len)
			r = json_unquote(quoted[i], texts);
		end[i] = texts->len;
	}
	buf_span_add(texts, picked->long_running);
	end[LONG_RUNNING] = texts->len;
	buf_span_add(texts, picked->timestamp);
	end[TIMESTAMP] = texts->len;
	return r < 0 ? r : buf_check(texts, NULL);
}

static struct kept_line *line_new(struct span texts, const size_t end[TEXTS])
{
	struct kept_line *line = calloc(1, sizeof *line + texts.len);
	struct span copy = { (const char *)(line + 1), texts.len };

	if (!line)
		return NULL;
	if (texts.len)
		memcpy(line + 1, texts.data, texts.len);
	line->author = span_sub(copy, 0, end[AUTHOR]);
	line->branch = span_sub(copy, end[AUTHOR], end[BRANCH]);
	line->invocation = span_sub(copy, end[BRANCH], end[INVOCATION]);
	line->signer = span_sub(copy, end[INVOCATION], end[SIGNER]);
	line->long_running = span_sub(copy, end[SIGNER], end[LONG_RUNNING]);
	line->timestamp = span_sub(copy, end[LONG_RUNNING], end[TIMESTAMP]);
	return line;
}

/* What a line takes: its content is a few allocations for each part. */
static size_t weigh(struct span texts, const struct past_line *picked, const struct content *c)
{
	size_t parts = c ? c->count : 0;

	return sizeof(struct kept_line) + texts.len + picked->content.len +
	       parts * (sizeof(struct part) + 64) + 64;
}

static void take_content(struct kept_line *line, struct content *content)
{
	line->content = content;
	if (!content)
		return;
	line->is_shown = content->role && *content->role && !content_is_empty(content);
	line->has_functions = content_has(content, PART_CALL) ||
			      content_has(content, PART_RESPONSE);
}

int kept_add(struct kept *kept, uint64_t at, struct span text)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf texts = { 0 };
	struct past_line picked = { 0 };
	struct kept_line *line;
	size_t end[TEXTS];
	int r = past_pick(text, &picked);

	if (r == 0 && picked.content.len)
		r = content_from_stored(picked.content, &content);
	if (r == 0)
		r = gather(&picked, content, &texts, end);
	if (r < 0)
		return r;
	if (!buf_reserve(&kept->lines, sizeof line))
		return -ENOMEM;
	line = line_new(buf_span(&texts), end);
	if (!line)
		return -ENOMEM;
	kept->bytes += weigh(buf_span(&texts), &picked, content);
	line->at = at;
	line->size = text.len + 1;
	take_content(line, STEAL(&content));
	buf_add(&kept->lines, &line, sizeof line);
	return 0;
}

/* Lines on the way from the log. */
struct reading {
	struct kept *kept;
	uint64_t at; /* of the line that comes */
};

static int take_line(void *arg, struct span text)
{
	struct reading *rd = arg;
	int r = kept_add(rd->kept, rd->at, text);

	rd->at += text.len + 1;
	return r;
}

/* Put the lines `from` on, which came last, at their place. */
static int move_back(struct kept *kept, size_t from, size_t to)
{
	struct kept_line **lines = (struct kept_line **)(void *)kept->lines.data;
	size_t count = kept->lines.len / sizeof *lines;
	size_t n = count - from;
	struct kept_line **moved;

	if (from == to || !n)
		return 0;
	moved = malloc(n * sizeof *lines);
	if (!moved)
		return -ENOMEM;
	memcpy(moved, lines + from, n * sizeof *lines);
	memmove(lines + to + n, lines + to, (from - to) * sizeof *lines);
	memcpy(lines + to, moved, n * sizeof *lines);
	free(moved);
	return 0;
}

static size_t find_line(const struct kept *kept, uint64_t at)
{
	size_t high;
	struct kept_line *const *lines = kept_lines(kept, &high);
	size_t low = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines[middle]->at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int kept_each(struct kept *kept, struct store *st, struct ref session, uint64_t from, uint64_t to,
	      kept_fn *fn, void *arg, struct err *err)
{
	size_t i = find_line(kept, from);
	size_t count;
	int r = 0;

	while (r == 0 && from < to) {
		struct kept_line *const *lines = kept_lines(kept, &count);
		struct kept_line *next = i < count ? lines[i] : NULL;
		struct reading rd = { kept, from };

		if (next && next->at == from) {
			from += next->size;
			i++;
			r = fn(arg, next);
			continue;
		}
		r = session_lines(st, session, from, next ? MIN(next->at, to) : to, take_line, &rd,
				  err);
		if (r == 0 && rd.at == from) /* the log is shorter than the caller said */
			break;
		if (r == 0)
			r = move_back(kept, count, i);
	}
	return r;
}
