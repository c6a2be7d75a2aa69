/*
 * Copies of turns for a session that is forked: see fork.h.
 */
#include "store/turn/fork.h"

#include "base/clock.h"
#include "store/session/log.h"
#include "store/turn/call.h"
#include "store/turn/text.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FORK_AT_ONCE 256

/* Turns on the way to a fork. */
struct forking {
	struct store *st;
	struct ref from;
	struct ref to;
	uint64_t cut;
	struct turn_info turns[FORK_AT_ONCE];
	size_t count;
};

static int note_turn(void *arg, const struct turn_info *info)
{
	struct forking *f = arg;

	if (info->first >= f->cut)
		return 1;
	f->turns[f->count++] = *info;
	return f->count == FORK_AT_ONCE;
}

static int count_line(void *arg, struct span line)
{
	struct turn_info *t = arg;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = turn_own_line(t, line, &e);

	if (r == 1) {
		r = turn_event_output(&e, &text);
		t->bytes += line.len + 1;
		t->output_size += text.len;
	}
	return r;
}

/* End a turn that goes on after the cut, and count only the lines before it. */
static int cut_turn(struct forking *f, struct turn_info *t, struct err *err)
{
	t->state = TURN_FAILED;
	t->last = f->cut;
	t->ended = clock_now();
	t->bytes = t->output_size = 0;
	(void)snprintf(t->error, sizeof t->error, "the session was forked before the turn ended");
	return session_lines(f->st, (struct log_range){ f->from, t->first, f->cut }, count_line, t,
			     err);
}

static int put_turns(struct store_tx *tx, void *arg)
{
	struct forking *f = arg;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < f->count; i++) {
		CLEANUP(buf_release) struct buf record = { 0 };
		struct key key = key_2(KEY_TURN, f->to.session, f->turns[i].n);

		turn_encode(&f->turns[i], &record);
		store_put(tx, &key, buf_span(&record));
		if (record.failed)
			return err_nomem(tx->err);
		r = call_fork(tx, f->from, f->to, f->turns[i].n, f->cut);
	}
	return r;
}

static int fork_turns(struct forking *f, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < f->count; i++) {
		struct turn_info *t = &f->turns[i];

		t->number = store_new_number(f->st, err);
		t->stamp = clock_stamp();
		if (!t->number)
			r = -EIO;
		else if (t->last > f->cut || !t->ended)
			r = cut_turn(f, t, err);
	}
	return r < 0 ? r : store_update(f->st, put_turns, f, err);
}

int turn_fork(struct store *st, struct ref from, struct ref to, uint64_t cut, uint64_t *turns,
	      struct err *err)
{
	struct forking *f = calloc(1, sizeof *f);
	uint64_t after = 0;
	int r;

	if (!f)
		return err_nomem(err);
	f->st = st;
	f->from = from;
	f->to = to;
	f->cut = cut;
	do {
		f->count = 0;
		r = turn_list(st, from, after, note_turn, f, err);
		if (r >= 0 && f->count) {
			after = f->turns[f->count - 1].n;
			r = fork_turns(f, err);
		}
	} while (r >= 0 && f->count == FORK_AT_ONCE);
	free(f);
	if (r < 0)
		return r;
	*turns = after;
	return 0;
}
