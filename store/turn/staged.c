/*
 * Staged messages: see staged.h.
 *
 * Rows: KEY_MESSAGE message piece -> bytes; piece 0 is the record app, user, session,
 * kind.
 */
#include "store/turn/staged.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Rows are deleted one by one: most messages have two, and each range that was deleted lately
 * slows down all reads of the engine.
 */
int message_delete(struct store_tx *tx, uint64_t message)
{
	CLEANUP(buf_release) struct buf row = { 0 };
	struct key key = key_2(KEY_MESSAGE, message, 0);
	uint64_t piece = 0;
	int r;

	while ((r = store_get(tx, &key, &row)) == 0) {
		store_delete(tx, &key);
		key = key_2(KEY_MESSAGE, message, ++piece);
		buf_clear(&row);
	}
	return r == -ENOENT ? 0 : r;
}

struct stage {
	const struct staged_message *message;
	uint64_t piece;
	struct span text;
};

static int stage(struct store_tx *tx, void *arg)
{
	struct stage sg = *(struct stage *)arg;
	const struct staged_message *m = sg.message;
	CLEANUP(buf_release) struct buf head = { 0 };
	struct key key = key_2(KEY_MESSAGE, m->number, 0);

	if (sg.piece == 0) {
		record_number(&head, m->session.app);
		record_number(&head, m->session.user);
		record_number(&head, m->session.session);
		record_number(&head, m->kind);
		store_put(tx, &key, buf_span(&head));
	}
	while (sg.text.len) {
		size_t n = MIN(sg.text.len, ENGINE_VALUE_MAX);

		key = key_2(KEY_MESSAGE, m->number, ++sg.piece);
		store_put(tx, &key, span_sub(sg.text, 0, n));
		sg.text = span_sub(sg.text, n, sg.text.len);
	}
	return 0;
}

int message_stage(struct store *st, const struct staged_message *message, uint64_t pieces,
		  struct span text, struct err *err)
{
	struct stage sg = { message, pieces, text };

	return store_update(st, stage, &sg, err);
}

static int drop(struct store_tx *tx, void *arg)
{
	return message_delete(tx, *(uint64_t *)arg);
}

int message_drop(struct store *st, uint64_t message, struct err *err)
{
	return store_update(st, drop, &message, err);
}

struct staged {
	message_fn *fn;
	void *arg;
	struct staged_message message; /* number 0: none was collected yet */
	struct buf text;
};

/* Hand on the message that was collected, if there is one. */
static int pass_message(struct staged *sg)
{
	int r = 0;

	if (sg->message.number)
		r = sg->fn(sg->arg, &sg->message, buf_span(&sg->text));
	sg->message.number = 0;
	buf_clear(&sg->text);
	return r;
}

static int collect(void *arg, struct span key, struct span value)
{
	struct staged *sg = arg;
	struct record_reader r = { .left = value };
	int done;

	if (key_last_number(key) != 0) {
		buf_span_add(&sg->text, value);
		return buf_check(&sg->text, NULL);
	}
	done = pass_message(sg);
	sg->message.number = key_first_number(key);
	sg->message.session.app = record_take_number(&r);
	sg->message.session.user = record_take_number(&r);
	sg->message.session.session = record_take_number(&r);
	sg->message.kind = (enum message_kind)record_take_number(&r);
	return r.bad ? -EIO : done;
}

int message_staged(struct store *st, message_fn *fn, void *arg, struct err *err)
{
	struct key prefix = key_space(KEY_MESSAGE);
	struct staged sg = { .fn = fn, .arg = arg };
	int r = store_rows(st, &prefix, &prefix, collect, &sg, err);

	if (r == 0)
		r = pass_message(&sg);
	buf_release(&sg.text);
	return r;
}
