/*
 * The log of a session: see log.h.
 *
 * Rows: KEY_LOG session end -> bytes that end there; KEY_SEGMENT session end ->
 * bytes of a segment that ends there; KEY_EVENT session id -> record: start,
 * length of the line of the event.
 */
#include "store/session/log.h"

#include "store/session/scope.h"
#include "store/session/seal.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdlib.h>

struct reading {
	uint64_t offset; /* next byte wanted */
	uint64_t end;
	struct buf *out;
};

static int take_bytes(void *arg, struct span key, struct span value)
{
	struct reading *rd = arg;
	uint64_t end = key_last_number(key);
	uint64_t start = end - value.len;
	size_t from;
	size_t to;

	if (start > rd->offset)
		return -EIO; /* a hole in the log */
	from = rd->offset - start;
	to = MIN(rd->end, end) - start;
	buf_add(rd->out, value.data + from, to - from);
	rd->offset = start + to;
	return rd->offset >= rd->end || rd->out->failed;
}

/* Segments hold the beginning of the log, rows the rest. */
static int read_bytes(struct store_tx *tx, struct ref ref, struct reading *rd)
{
	static const enum key_space spaces[] = { KEY_SEGMENT, KEY_LOG };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct key prefix = key_1(spaces[i], ref.session);
		struct key from = key_2(spaces[i], ref.session, rd->offset + 1);
		int r = store_scan(tx, &from, &prefix, take_bytes, rd);

		if (r < 0)
			return err_set(tx->err, r, "the log cannot be read");
		if (r > 0)
			break;
	}
	return buf_check(rd->out, tx->err);
}

struct read_request {
	struct ref ref;
	struct reading rd;
};

static int read_log(struct store_tx *tx, void *arg)
{
	struct read_request *rq = arg;

	return read_bytes(tx, rq->ref, &rq->rd);
}

int session_read(struct store *st, struct ref ref, uint64_t offset, size_t size, struct buf *out,
		 struct err *err)
{
	struct read_request rq = { ref, { offset, offset + size, out } };

	return store_view(st, read_log, &rq, err);
}

#define LINES_AT_ONCE (1u << 20)

int session_lines(struct store *st, struct log_range range, line_fn *fn, void *arg, struct err *err)
{
	uint64_t from = range.from;
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = 0;

	while (r == 0 && (from < range.to || text.len)) {
		size_t want = MIN(range.to - from, LINES_AT_ONCE);
		size_t before = text.len;
		char *line;
		char *newline;

		r = session_read(st, range.session, from, want, &text, err);
		if (r < 0)
			return r;
		from += text.len - before;
		line = text.data;
		while (r == 0 && text.len &&
		       (newline = memchr(line, '\n', (size_t)(text.data + text.len - line)))) {
			r = fn(arg, (struct span){ line, (size_t)(newline - line) });
			line = newline + 1;
		}
		if (text.len == before) /* the log is shorter than the caller said */
			return r;
		buf_consume(&text, (size_t)(line - text.data));
	}
	return r;
}

#define LINES_BACK_LEAST (16u << 10)

/* Pass the whole lines of a text, the last one first. *rest: the length of a line cut at the start.
 */
static int pass_back(struct span text, uint64_t at, bool is_first, line_at_fn *fn, void *arg,
		     size_t *rest)
{
	size_t end = text.len;
	int r = 0;

	while (r == 0 && end) {
		const char *newline = memrchr(text.data, '\n', end - 1);
		size_t start = newline ? (size_t)(newline - text.data) + 1 : 0;

		if (!start && !is_first)
			break;
		r = fn(arg, at + start, span_sub(text, start, end - 1));
		end = start;
	}
	*rest = end;
	return r;
}

int session_lines_back(struct store *st, struct log_range range, line_at_fn *fn, void *arg,
		       struct err *err)
{
	uint64_t to = range.to;
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t want = LINES_BACK_LEAST;
	int r = 0;

	while (r == 0 && range.from < to) {
		size_t size = MIN(to - range.from, want);
		uint64_t at = to - size;
		size_t rest;

		buf_clear(&text);
		r = session_read(st, range.session, at, size, &text, err);
		if (r < 0)
			return r;
		if (text.len < size) /* the log is shorter than the caller said */
			return 0;
		r = pass_back(buf_span(&text), at, at == range.from, fn, arg, &rest);
		to = at + rest;
		/* Read more at once for a long line, and for a long walk. */
		want = rest == size ? want * 2 : MIN(want * 2, LINES_AT_ONCE);
	}
	return r;
}

/* A segment ends with a line, unless the first line is longer than a segment. */
size_t session_segment_length(struct span text)
{
	const char *last = memrchr(text.data, '\n', MIN(text.len, LOG_SEGMENT_BYTES));

	return last ? (size_t)(last - text.data) + 1 : MIN(text.len, LOG_SEGMENT_BYTES);
}

struct folding {
	struct ref ref;
	uint64_t limit; /* bytes that may lie after the segments */
	bool more;      /* there may be another segment to fold */
};

static int stop_at_row(void *arg, struct span key, struct span value)
{
	(void)arg;
	(void)key;
	(void)value;
	return 1;
}

/* Whether the log reaches farther than an offset. 1: yes. */
static int reaches(struct store_tx *tx, uint64_t session, uint64_t offset)
{
	struct key prefix = key_1(KEY_LOG, session);
	struct key from = key_2(KEY_LOG, session, offset + 1);

	return store_scan(tx, &from, &prefix, stop_at_row, NULL);
}

/* Write one segment from the seal on, and delete the rows that it covers. */
static int fold(struct store_tx *tx, void *arg)
{
	struct folding *folding = arg;
	struct ref ref = folding->ref;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct reading rd = { .out = &text };
	struct key key;
	struct key end;
	uint64_t seal;
	size_t n;
	int r = seal_load(tx, ref.session, &seal);

	if (r == 0)
		r = reaches(tx, ref.session, seal + folding->limit);
	folding->more = r > 0;
	if (r <= 0)
		return r;
	rd.offset = seal;
	rd.end = seal + LOG_SEGMENT_BYTES;
	r = read_bytes(tx, ref, &rd);
	if (r < 0)
		return r;
	n = session_segment_length(buf_span(&text));
	key = key_2(KEY_SEGMENT, ref.session, seal + n);
	store_put(tx, &key, span_sub(buf_span(&text), 0, n));
	key = key_2(KEY_LOG, ref.session, 0);
	end = key_2(KEY_LOG, ref.session, seal + n + 1);
	tx->ops->del_range(tx->txn, key_span(&key), key_span(&end));
	seal_save(tx, ref.session, seal + n);
	return 0;
}

int session_fold(struct store *st, struct ref ref, struct err *err)
{
	struct folding folding = { .ref = ref, .limit = LOG_FOLD_BYTES };
	int r;

	do {
		r = store_update(st, fold, &folding, err);
		folding.limit = LOG_FOLD_BYTES / 2;
	} while (r == 0 && folding.more);
	return r;
}

struct event_place {
	struct ref ref;
	struct span id;
	uint64_t start;
	uint64_t length;
};

static int find_event(struct store_tx *tx, void *arg)
{
	struct event_place *p = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_event(p->ref.session, p->id);
	struct record_reader reader;
	int r = store_get(tx, &key, &record);

	if (r < 0)
		return r;
	reader = (struct record_reader){ .left = buf_span(&record) };
	p->start = record_take_number(&reader);
	p->length = record_take_number(&reader);
	return 0;
}

int session_find_event(struct store *st, struct ref ref, struct span id, uint64_t *start,
		       uint64_t *length, struct err *err)
{
	struct event_place p = { .ref = ref, .id = id };
	int r = store_view(st, find_event, &p, err);

	if (r == -ENOENT)
		return err_set(err, r, "there is no event '%.*s'", (int)MIN(id.len, 100), id.data);
	if (r == 0) {
		*start = p.start;
		*length = p.length;
	}
	return r;
}
