/*
 * What an earlier process left: see runner.h.
 */
#include "runner/conversation.h"

#include "store/compaction.h"

#include <errno.h>

/* What the store says was left behind; acted on after the scan. */
struct leftover {
	struct ref ref;
	uint64_t n;
};

static int note_leftover(void *arg, struct ref session, uint64_t n)
{
	struct leftover left = { session, n };

	buf_add(arg, &left, sizeof left);
	return buf_check(arg, NULL);
}

static int resume(struct runner *rn, const struct leftover *left, struct err *err)
{
	struct turn_info info;
	struct live *live;
	int r = turn_stat(rn->options.store, left->ref, left->n, &info, err);

	if (r < 0)
		return r;
	if (info.state == TURN_RUNNING) {
		mutex_lock(&rn->lock);
		recent_add(&rn->recent, left->ref, left->n);
		mutex_unlock(&rn->lock);
		return invocation_abort(rn->options.store, left->ref, left->n, err);
	}
	live = live_new(left->ref, &info, err);
	return live ? runner_enqueue(rn, live, err) : -ENOMEM;
}

static int recover_compactions(struct runner *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct leftover *left;
	size_t i;
	int r = compaction_list(rn->options.store, note_leftover, &list, err);

	left = (const struct leftover *)(const void *)list.data;
	for (i = 0; r == 0 && i < list.len / sizeof *left; i++)
		r = runner_enqueue_compaction(rn, left[i].ref, left[i].n, err);
	return r;
}

struct message {
	struct ref ref;
	uint64_t number;
	enum message_kind kind;
	struct buf text;
};

static int note_message(void *arg, struct ref session, uint64_t number, enum message_kind kind,
			struct span text)
{
	struct message m = { .ref = session, .number = number, .kind = kind };

	buf_span_add(&m.text, text);
	buf_add(arg, &m, sizeof m);
	return buf_check(arg, NULL);
}

/*
 * A message whose close had succeeded is submitted as it is; of JSON a close
 * may have kept a part, and the rest never came.
 */
static int resubmit(struct runner *rn, struct message *m, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = message_parse(m->kind, buf_span(&m->text), &e, NULL, err);

	if (r == 0)
		r = runner_submit(rn, m->ref, m->number, &e, err);
	else if (r == -ENOMEM)
		return r;
	else
		return message_drop(rn->options.store, m->number, err);
	return r == -ESTALE || r == -EINVAL ? message_drop(rn->options.store, m->number, err) : r;
}

int runner_recover(struct runner *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf turns = { 0 };
	CLEANUP(buf_release) struct buf messages = { 0 };
	struct leftover *left;
	struct message *m;
	size_t i;
	int r = turn_unfinished(rn->options.store, note_leftover, &turns, err);

	left = (struct leftover *)(void *)turns.data;
	for (i = 0; r == 0 && i < turns.len / sizeof *left; i++)
		r = resume(rn, &left[i], err);
	if (r == 0)
		r = recover_compactions(rn, err);
	if (r == 0)
		r = message_staged(rn->options.store, note_message, &messages, err);
	m = (struct message *)(void *)messages.data;
	for (i = 0; i < messages.len / sizeof *m; i++) {
		if (r == 0)
			r = resubmit(rn, &m[i], err);
		buf_release(&m[i].text);
	}
	return r;
}
