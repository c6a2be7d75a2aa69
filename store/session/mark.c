/*
 * Marks: see mark.h.
 *
 * Rows: KEY_MARK session start -> record: length, actions. Bit n of the actions says that the line
 * has the action marked[n].
 */
#include "store/session/mark.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

/* The index of an action is stored, so it must not change. */
static const enum action_member marked[] = { ACTION_REWIND, ACTION_COMPACTION };

static uint64_t bit_of(enum action_member action)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(marked) && marked[i] != action)
		i++;
	return i < ARRAY_SIZE(marked) ? UINT64_C(1) << i : 0;
}

void mark_put(struct store_tx *tx, struct ref session, const struct event *e, uint64_t start,
	      size_t length)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_MARK, session.session, start);
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marked); i++) {
		if (event_action(e, marked[i]).len)
			bits |= bit_of(marked[i]);
	}
	if (!bits)
		return;
	record_number(&record, length);
	record_number(&record, bits);
	store_put(tx, &key, buf_span(&record));
}

struct mark {
	uint64_t start;
	uint64_t length;
	uint64_t bits;
};

/* The marks of a part of a log. */
struct marks {
	struct log_range range;
	struct buf found; /* struct mark */
};

static int note_mark(void *arg, struct span key, struct span value)
{
	struct marks *marks = arg;
	struct record_reader r = { .left = value };
	struct mark mark = { .start = key_last_number(key) };

	if (mark.start >= marks->range.to)
		return 1;
	mark.length = record_take_number(&r);
	mark.bits = record_take_number(&r);
	if (r.bad)
		return -EIO;
	buf_add(&marks->found, &mark, sizeof mark);
	return buf_check(&marks->found, NULL);
}

static int scan(struct store_tx *tx, void *arg)
{
	struct marks *marks = arg;
	struct key prefix = key_1(KEY_MARK, marks->range.session.session);
	struct key from = key_2(KEY_MARK, marks->range.session.session, marks->range.from);
	int r = store_scan(tx, &from, &prefix, note_mark, marks);

	return MIN(r, 0);
}

int mark_lines(struct store *st, struct log_range range, enum action_member action, line_at_fn *fn,
	       void *arg, struct err *err)
{
	struct marks marks = { .range = range };
	const struct mark *list;
	size_t count;
	size_t i;
	int r = store_view(st, scan, &marks, err);

	list = BUF_LIST(struct mark, &marks.found, &count);
	for (i = 0; r == 0 && i < count; i++) {
		CLEANUP(buf_release) struct buf line = { 0 };

		if (!(list[i].bits & bit_of(action)))
			continue;
		r = session_read(st, range.session, list[i].start, list[i].length - 1, &line, err);
		if (r == 0)
			r = fn(arg, list[i].start, buf_span(&line));
	}
	buf_release(&marks.found);
	return r;
}

struct forking {
	struct marks marks; /* marks of the old session */
	struct ref to;
	uint64_t rewinds;
};

static int copy(struct store_tx *tx, void *arg)
{
	struct forking *f = arg;
	const struct mark *list;
	size_t count;
	size_t i;
	int r;

	f->rewinds = 0;
	buf_clear(&f->marks.found);
	r = scan(tx, &f->marks);
	list = BUF_LIST(struct mark, &f->marks.found, &count);
	for (i = 0; r == 0 && i < count; i++) {
		struct key key = key_2(KEY_MARK, f->to.session, list[i].start);
		CLEANUP(buf_release) struct buf record = { 0 };

		record_number(&record, list[i].length);
		record_number(&record, list[i].bits);
		store_put(tx, &key, buf_span(&record));
		f->rewinds += (list[i].bits & bit_of(ACTION_REWIND)) != 0;
	}
	return r;
}

int mark_fork(struct store *st, struct ref from, struct ref to, uint64_t cut, uint64_t *rewinds,
	      struct err *err)
{
	struct forking f = { .marks = { .range = { from, 0, cut } }, .to = to };
	int r = store_update(st, copy, &f, err);

	buf_release(&f.marks.found);
	if (r == 0)
		*rewinds = f.rewinds;
	return r;
}
