/*
 * The line cache: see line_cache.h.
 */
#include "runner/history/line_cache.h"

#include "runner/history/line.h"
#include "runner/history/past.h"
#include "store/session/log.h"

#include <errno.h>
#include <stdlib.h>

static void line_free(struct cached_line *line)
{
	if (!line)
		return;
	content_free(line->content);
	content_free(line->foreign);
	free(line);
}

struct cached_line *const *line_cache_lines(const struct line_cache *cache, size_t *count)
{
	return BUF_LIST(struct cached_line *const, &cache->list, count);
}

void line_cache_release(struct line_cache *cache)
{
	size_t count;
	struct cached_line *const *lines = line_cache_lines(cache, &count);
	size_t i;

	for (i = 0; i < count; i++)
		line_free(lines[i]);
	buf_release(&cache->list);
	cache->bytes = 0;
}

enum cached_text { AUTHOR, BRANCH, INVOCATION, SIGNER, LONG_RUNNING, TIMESTAMP, TEXTS };

/* The provider that made the signatures of a content. Empty: it has none, or is not known. */
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

/* Append the texts one after the other, and note where each ends. */
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

static struct cached_line *line_new(struct span texts, const size_t end[TEXTS])
{
	struct cached_line *line = calloc(1, sizeof *line + texts.len);
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

/* The memory of a line: its content is a few allocations for each part. */
static size_t weigh(struct span texts, const struct past_line *picked, const struct content *c)
{
	size_t parts = c ? c->count : 0;

	return sizeof(struct cached_line) + texts.len + picked->content.len +
	       parts * (sizeof(struct part) + 64) + 64;
}

static void take_content(struct cached_line *line, struct content *content)
{
	line->content = content;
	if (!content)
		return;
	line->is_shown = content->role && *content->role && !content_is_empty(content);
	line->has_functions = content_has(content, PART_CALL) ||
			      content_has(content, PART_RESPONSE);
}

int line_cache_add(struct line_cache *cache, uint64_t at, struct span text)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf texts = { 0 };
	struct past_line picked = { 0 };
	struct cached_line *line;
	size_t end[TEXTS];
	int r = past_pick(text, &picked);

	if (r == 0 && picked.content.len)
		r = content_from_stored(picked.content, &content);
	if (r == 0)
		r = gather(&picked, content, &texts, end);
	if (r < 0)
		return r;
	if (!buf_reserve(&cache->list, sizeof line))
		return -ENOMEM;
	line = line_new(buf_span(&texts), end);
	if (!line)
		return -ENOMEM;
	cache->bytes += weigh(buf_span(&texts), &picked, content);
	line->at = at;
	line->size = text.len + 1;
	take_content(line, STEAL(&content));
	buf_add(&cache->list, &line, sizeof line);
	return 0;
}

/* Lines that are being read from the log. */
struct reading {
	struct line_cache *cache;
	uint64_t at; /* where the next line begins */
};

static int take_line(void *arg, struct span text)
{
	struct reading *rd = arg;
	int r = line_cache_add(rd->cache, rd->at, text);

	rd->at += text.len + 1;
	return r;
}

/* Move the lines that were read last, `from` and on, to their place. */
static int move_back(struct line_cache *cache, size_t from, size_t to)
{
	size_t count;
	struct cached_line **lines = BUF_LIST(struct cached_line *, &cache->list, &count);
	size_t n = count - from;
	struct cached_line **moved;

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

static size_t find_line(const struct line_cache *cache, uint64_t at)
{
	size_t high;
	struct cached_line *const *lines = line_cache_lines(cache, &high);
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

int line_cache_each(struct line_cache *cache, uint64_t from, uint64_t to, line_cache_fn *fn,
		    void *arg, struct err *err)
{
	size_t i = find_line(cache, from);
	size_t count;
	int r = 0;

	while (r == 0 && from < to) {
		struct cached_line *const *lines = line_cache_lines(cache, &count);
		struct cached_line *next = i < count ? lines[i] : NULL;
		struct reading rd = { cache, from };

		if (next && next->at == from) {
			from += next->size;
			i++;
			r = fn(arg, next);
			continue;
		}
		r = session_lines(
			cache->store,
			(struct log_range){ cache->session, from, next ? MIN(next->at, to) : to },
			take_line, &rd, err);
		if (r == 0 && rd.at == from) /* the log is shorter than the caller said */
			break;
		if (r == 0)
			r = move_back(cache, count, i);
	}
	return r;
}
