/*
 * Records of turns: see info.h.
 *
 * Rows: KEY_TURN session n -> record: number, state, created, started, ended,
 * stamp, first, last, bytes, input_size, output_size, invocation, agent, error,
 * calls.
 */
#include "store/turn/info.h"

#include "store/tx/key.h"

#include <errno.h>

void turn_encode(const struct turn_info *t, struct buf *out)
{
	record_number(out, t->number);
	record_number(out, t->state);
	record_number(out, (uint64_t)t->created);
	record_number(out, (uint64_t)t->started);
	record_number(out, (uint64_t)t->ended);
	record_number(out, t->stamp);
	record_number(out, t->first);
	record_number(out, t->last);
	record_number(out, t->bytes);
	record_number(out, t->input_size);
	record_number(out, t->output_size);
	record_text(out, span_of(t->invocation));
	record_text(out, span_of(t->agent));
	record_text(out, span_of(t->error));
	record_number(out, t->calls);
}

int turn_decode(struct span record, uint64_t n, struct turn_info *t)
{
	struct record_reader r = { .left = record };

	*t = (struct turn_info){ .n = n };
	t->number = record_take_number(&r);
	t->state = (enum turn_state)record_take_number(&r);
	t->created = (int64_t)record_take_number(&r);
	t->started = (int64_t)record_take_number(&r);
	t->ended = (int64_t)record_take_number(&r);
	t->stamp = record_take_number(&r);
	t->first = record_take_number(&r);
	t->last = record_take_number(&r);
	t->bytes = record_take_number(&r);
	t->input_size = record_take_number(&r);
	t->output_size = record_take_number(&r);
	record_take_field(&r, t->invocation, sizeof t->invocation);
	record_take_field(&r, t->agent, sizeof t->agent);
	record_take_field(&r, t->error, sizeof t->error);
	t->calls = record_take_number(&r);
	return r.bad ? -EIO : 0;
}

int turn_load(struct store_tx *tx, struct ref ref, uint64_t n, struct turn_info *t)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_TURN, ref.session, n);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no turn %llu", (unsigned long long)n);
	return r < 0 ? r : turn_decode(buf_span(&record), n, t);
}
