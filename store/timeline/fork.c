/*
 * Fork: see fork.h.
 *
 * The rows are loose (loose.h) until the last transaction gives the session its name.
 */
#include "store/timeline/fork.h"

#include "base/clock.h"
#include "store/artifact/artifact.h"
#include "store/json/time.h"
#include "store/session/log.h"
#include "store/session/mark.h"
#include "store/session/state.h"
#include "store/session/value.h"
#include "store/timeline/loose.h"
#include "store/timeline/replay.h"
#include "store/turn/fork.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

#define COPY_BYTES (1u << 20) /* of the log, or of state, in one transaction */
#define COPY_ROWS  4096       /* of events */
#define COPY_KEYS  256        /* of state */

struct fork {
	struct store *st;
	struct ref from;
	struct ref to;
	uint64_t cut;           /* the copy ends here */
	struct scope_info info; /* of the new session */
	struct replay left;     /* by the lines */
	struct err *err;
};

/* Lines to be written, as segments. */
struct lines {
	struct fork *fork;
	struct buf text;
	uint64_t start; /* offset of the text */
	uint64_t last;  /* offset of the last line */
};

static int put_segments(struct store_tx *tx, void *arg)
{
	struct lines *lines = arg;
	struct span left = buf_span(&lines->text);
	uint64_t end = lines->start;

	while (left.len) {
		size_t n = session_segment_length(left);
		struct key key;

		end += n;
		key = key_2(KEY_SEGMENT, lines->fork->to.session, end);
		store_put(tx, &key, span_sub(left, 0, n));
		left = span_sub(left, n, left.len);
	}
	return 0;
}

static int put_lines(struct lines *lines)
{
	struct fork *f = lines->fork;
	int r = lines->text.len ? store_update(f->st, put_segments, lines, f->err) : 0;

	lines->start += lines->text.len;
	buf_clear(&lines->text);
	return r;
}

static int take_line(void *arg, struct span line)
{
	struct lines *lines = arg;
	int r = replay_line(&lines->fork->left, line);

	lines->last = lines->start + lines->text.len;
	lines->fork->info.events++;
	buf_span_add(&lines->text, line);
	buf_char(&lines->text, '\n');
	if (r == 0)
		r = buf_check(&lines->text, lines->fork->err);
	return r == 0 && lines->text.len >= COPY_BYTES ? put_lines(lines) : r;
}

/* The time of the last line is the session's. */
static int take_time(struct fork *f, uint64_t last)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	struct span token;
	int r = session_read(f->st, f->from, last, f->cut - last - 1, &line, f->err);

	if (r == 0)
		r = json_member(buf_span(&line), "timestamp", &token);
	if (r == 0)
		r = time_parse(token, &f->info.updated);
	return r < 0 ? err_set(f->err, -EIO, "the log has a line without a time") : 0;
}

static int copy_log(struct fork *f)
{
	struct lines lines = { .fork = f };
	int r = session_lines(f->st, (struct log_range){ f->from, 0, f->cut }, take_line, &lines,
			      f->err);

	if (r == 0)
		r = put_lines(&lines);
	buf_release(&lines.text);
	if (r == 0 && lines.start != f->cut) /* it ended early */
		return err_set(f->err, -ESTALE, "the session was removed");
	f->info.log_size = f->cut;
	return r == 0 && f->cut ? take_time(f, lines.last) : r;
}

/* Rows of events to be copied. */
struct events {
	struct fork *fork;
	struct key from; /* the first one to look at */
	size_t looked;
	struct buf rows; /* id, value; of those before the cut */
};

static int note_event(void *arg, struct span key, struct span value)
{
	struct events *events = arg;
	struct record_reader r = { .left = value };
	uint64_t start = record_take_number(&r);
	uint64_t length = record_take_number(&r);

	if (r.bad)
		return -EIO;
	events->from = key_next(key);
	if (start + length <= events->fork->cut) {
		record_text(&events->rows, key_event_id(key));
		record_text(&events->rows, value);
	}
	if (events->rows.failed)
		return -ENOMEM;
	return ++events->looked == COPY_ROWS;
}

static int put_events(struct store_tx *tx, void *arg)
{
	struct events *events = arg;
	struct record_reader r = { .left = buf_span(&events->rows) };

	while (r.left.len) {
		struct key key = key_event(events->fork->to.session, record_take_text(&r));

		store_put(tx, &key, record_take_text(&r));
	}
	return 0;
}

static int copy_events(struct fork *f)
{
	struct key prefix = key_1(KEY_EVENT, f->from.session);
	struct events events = { .fork = f, .from = prefix };
	int r;

	do {
		events.looked = 0;
		buf_clear(&events.rows);
		r = store_rows(f->st, &events.from, &prefix, note_event, &events, f->err);
		if (r >= 0 && events.rows.len)
			r = store_update(f->st, put_events, &events, f->err);
	} while (r >= 0 && events.looked == COPY_ROWS);
	buf_release(&events.rows);
	return MIN(r, 0);
}

/* State keys to be written. */
struct keys {
	struct fork *fork;
	struct buf items; /* struct replay_item * */
	size_t bytes;     /* size of their names and values */
};

static int put_state(struct store_tx *tx, void *arg)
{
	struct keys *keys = arg;
	struct fork *f = keys->fork;
	uint64_t stamp = clock_stamp();
	size_t count;
	struct replay_item **items = BUF_LIST(struct replay_item *, &keys->items, &count);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = state_put(tx, f->to, &f->info, (struct span){ items[i]->name, items[i]->len },
			      buf_span(&items[i]->text), stamp);
	return r;
}

static int put_keys(struct keys *keys)
{
	int r = keys->items.len ? store_update(keys->fork->st, put_state, keys, keys->fork->err)
				: 0;

	buf_clear(&keys->items);
	keys->bytes = 0;
	return r;
}

static int take_key(void *arg, struct replay_item *item)
{
	struct keys *keys = arg;

	if (!item->text.len) /* it was deleted */
		return 0;
	buf_add(&keys->items, &item, sizeof item);
	keys->bytes += item->text.len + item->len;
	if (keys->items.failed)
		return err_nomem(keys->fork->err);
	if (keys->bytes < COPY_BYTES && keys->items.len < COPY_KEYS * sizeof item)
		return 0;
	return put_keys(keys);
}

static int copy_state(struct fork *f)
{
	struct keys keys = { .fork = f };
	int r = replay_each(&f->left.keys, take_key, &keys);

	if (r == 0)
		r = put_keys(&keys);
	buf_release(&keys.items);
	return r;
}

/* Publishing the session, or removing its rows. */

static int put_mark(struct store_tx *tx, void *arg)
{
	loose_put(tx, *(uint64_t *)arg, LOOSE_FORK);
	return 0;
}

/* The version of an artifact that the lines named last; 0: none. */
static uint64_t latest_of(void *arg, const char *full_name)
{
	const struct fork *f = arg;
	const struct replay_item *item = replay_find(&f->left.artifacts, span_of(full_name));

	return item ? item->version : 0;
}

static int publish(struct store_tx *tx, void *arg)
{
	struct fork *f = arg;
	struct scope_info info = f->info;
	struct scope_info from;
	int r = scope_need(tx, f->from, &from);

	if (r == 0)
		r = loose_publish(tx, f->to.session);
	if (r < 0)
		return r;
	info.stamp = clock_stamp();
	info.log_stamp = info.turns_stamp = info.turn_stamp = info.stamp;
	info.artifacts_stamp = info.stamp;
	r = artifact_fork(tx, f->from, f->to, latest_of, f);
	return r < 0 ? r : scope_publish(tx, f->to, &info);
}

static int copy_all(struct fork *f)
{
	int r = store_update(f->st, put_mark, &f->to.session, f->err);

	if (r == 0)
		r = copy_log(f);
	if (r == 0)
		r = copy_events(f);
	if (r == 0)
		r = copy_state(f);
	if (r == 0)
		r = mark_fork(f->st, f->from, f->to, f->cut, &f->info.rewinds, f->err);
	if (r == 0)
		r = turn_fork(f->st, f->from, f->to, f->cut, &f->info.turns, f->err);
	return r < 0 ? r : store_update(f->st, publish, f, f->err);
}

/* Find where the copy ends, and check that it can be made. */
static int prepare(struct fork *f, const char *id, struct span event)
{
	struct scope_info from;
	uint64_t start;
	uint64_t length;
	int r = scope_check_id(id, f->err);

	if (r == 0)
		r = scope_stat(f->st, f->from, &from, f->err);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	if (scope_find(f->st, ref_parent(f->from), id, NULL, NULL, NULL) == 0)
		return err_set(f->err, -EEXIST, "there is a session '%s' already", id);
	f->cut = from.log_size;
	if (event.len) {
		r = session_find_event(f->st, f->from, event, &start, &length, f->err);
		if (r < 0)
			return r;
		f->cut = start + length;
	}
	f->info.number = store_new_number(f->st, f->err);
	if (!f->info.number)
		return -EIO;
	f->to = ref_child(ref_parent(f->from), f->info.number);
	f->info.created = f->info.updated = clock_now();
	(void)snprintf(f->info.id, sizeof f->info.id, "%s", id);
	return 0;
}

int session_fork(struct store *st, struct ref from, const char *id, struct span event,
		 struct ref *out, struct err *err)
{
	struct fork f = { .st = st, .from = from, .err = err };
	int r = prepare(&f, id, event);

	if (r < 0)
		return r;
	r = copy_all(&f);
	replay_release(&f.left);
	if (r < 0) /* loose_recover() takes care of the rows if this fails */
		(void)!loose_drop(st, f.info.number, NULL);
	else if (out)
		*out = f.to;
	return r;
}
