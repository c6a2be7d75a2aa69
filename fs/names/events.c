/*
 * events.jsonl: see events.h.
 *
 * A read returns stored bytes. Each whole line of a write is an event. All events
 * of one write are one transaction, up to the first refused one. A last line
 * without a newline waits for the next write or the close.
 */
#include "fs/names/events.h"

#include "base/clock.h"
#include "fs/tree/handle.h"
#include "runner/runner.h"
#include "store/session/log.h"
#include "store/session/session.h"
#include "store/turn/turn.h"

#include <errno.h>
#include <stdlib.h>

#define CACHED_FROM (1u << 20) /* bytes; a shorter log never enters the page cache */
#define RESTING_NS  (2 * (uint64_t)NSEC_PER_SEC)

int events_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r < 0)
		return r;
	st->size = info.log_size;
	st->mtime = MAX(info.log_stamp, at->fs->mounted);
	return 0;
}

/* Only a long log that did not change for a moment may be read through the page cache. */
bool events_grow(const struct place *at)
{
	struct scope_info info;
	struct turn_info turn;

	if (scope_stat(at->fs->store, at->ref, &info, NULL) < 0 || info.log_size < CACHED_FROM)
		return true;
	return clock_stamp() - info.log_stamp < RESTING_NS ||
	       turn_current(at->fs->store, at->ref, &turn, NULL) != -ENOENT;
}

int events_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	(void)buf_reserve(out, size);
	return session_read(h->at.fs->store, h->at.ref, offset, size, out, err);
}

/* The parsed lines of one write. */
struct batch {
	struct handle *h;
	struct event *events;
	size_t count;
	size_t cap;
};

static void batch_release(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		event_release(&b->events[i]);
	free(b->events);
}

static struct event *batch_add(struct batch *b)
{
	if (b->count == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 8;
		struct event *events = realloc(b->events, cap * sizeof *events);

		if (!events)
			return NULL;
		b->events = events;
		b->cap = cap;
	}
	b->events[b->count] = (struct event){ 0 };
	return &b->events[b->count++];
}

static int parse_line(struct batch *b, struct span line, struct err *err)
{
	struct event *e;
	int r;

	if (span_is_blank(line))
		return 0;
	e = batch_add(b);
	if (!e)
		return err_nomem(err);
	r = event_from_json(line, e, err);
	if (r == 0)
		r = owners_may_set(b->h->at.fs, b->h->at.ref, event_action(e, ACTION_STATE_DELTA),
				   b->h->caller, err);
	if (r < 0) {
		event_release(e);
		b->count--;
	}
	return r;
}

static int set_temp(struct handle *h, const struct batch *b, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < b->count; i++)
		r = runner_set_temp(h->at.fs->runner, h->at.ref, b->events[i].temp_delta, err);
	return r;
}

/* Parse the whole lines of a text; *parsed is the end of the last valid line. */
static int parse_lines(struct batch *b, struct span text, size_t *parsed, struct err *err)
{
	int r = 0;

	*parsed = 0;
	while (r == 0 && *parsed < text.len) {
		const char *from = text.data + *parsed;
		const char *newline = memchr(from, '\n', text.len - *parsed);

		if (!newline)
			break;
		r = parse_line(b, (struct span){ from, (size_t)(newline - from) }, err);
		if (r == 0)
			*parsed = (size_t)(newline - text.data) + 1;
	}
	return r;
}

/* Store the batch: all events at once, or one by one up to the first refused one. */
static int store_batch(struct handle *h, struct batch *b, size_t *stored, struct err *err)
{
	struct store *st = h->at.fs->store;
	int r = 0;

	*stored = 0;
	if (b->count)
		r = session_append(st, h->at.ref, b->events, b->count, err);
	if (r == 0)
		*stored = b->count;
	while (r == -EEXIST && b->count > 1 && *stored < b->count) {
		if (session_append(st, h->at.ref, &b->events[*stored], 1, err) < 0)
			break;
		++*stored;
	}
	return r;
}

/* The length of the first n event lines of a text. */
static size_t length_of_lines(struct span text, size_t n)
{
	size_t at = 0;

	while (at < text.len) {
		const char *from = text.data + at;
		const char *newline = memchr(from, '\n', text.len - at);
		size_t len = newline ? (size_t)(newline - from) : text.len - at;

		if (!span_is_blank((struct span){ from, len }) && n-- == 0)
			break;
		at += len + 1;
	}
	return MIN(at, text.len);
}

static int events_open(struct handle *h, struct err *err)
{
	if (!handle_writes(h))
		return 0;
	if (!(h->flags & O_APPEND) || (h->flags & O_TRUNC))
		return err_set(err, -EPERM,
			       "the log can only be appended to: open it with O_APPEND (>>)");
	return 0;
}

/* h->text has the start of a line whose end is still to come. */
static ssize_t events_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	CLEANUP(batch_release) struct batch b = { .h = h };
	size_t carried;
	size_t parsed;
	size_t stored;
	int refused;
	int r;
	ssize_t done;

	(void)offset; /* a write always appends to the log */
	mutex_lock(&h->lock);
	carried = h->text.len;
	buf_span_add(&h->text, data);
	refused = buf_check(&h->text, err);
	if (refused == 0)
		refused = parse_lines(&b, buf_span(&h->text), &parsed, err);
	else
		parsed = 0;
	r = store_batch(h, &b, &stored, refused == 0 ? err : NULL);
	if (r == 0)
		r = set_temp(h, &b, err);
	else
		parsed = length_of_lines(buf_span(&h->text), stored);
	if (r == 0 && refused == 0) {
		buf_consume(&h->text, parsed); /* the rest starts the next line */
		if (h->text.len > EVENT_LINE_MAX)
			r = err_set(err, -EFBIG, "the line is longer than %u bytes",
				    EVENT_LINE_MAX);
		done = r < 0 ? r : (ssize_t)data.len;
	} else {
		/* Lines before the bad one are stored: return their length; the next write fails.
		 */
		done = parsed > carried ? (ssize_t)(parsed - carried) : r < 0 ? r : refused;
		buf_clear(&h->text);
	}
	mutex_unlock(&h->lock);
	return done;
}

/* The close ends a last line without a newline. */
static int events_flush(struct handle *h, struct err *err)
{
	CLEANUP(batch_release) struct batch b = { .h = h };
	size_t stored;
	int r;

	mutex_lock(&h->lock);
	r = parse_line(&b, buf_span(&h->text), err);
	if (r == 0)
		r = store_batch(h, &b, &stored, err);
	if (r == 0)
		r = set_temp(h, &b, err);
	buf_clear(&h->text);
	mutex_unlock(&h->lock);
	return r;
}

const struct file_ops events_ops = {
	.open = events_open,
	.write = events_write,
	.makes_names = true,
	.flush = events_flush,
};
