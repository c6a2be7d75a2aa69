/*
 * Recovery: the work that an earlier process left. See runner.h.
 */
#include "runner/conversation.h"

#include "runner/turn/invocation.h"
#include "store/turn/staged.h"
#include "store/turn/waiting.h"

#include <errno.h>

/* A turn or a compaction that was left: the scan collects them, and they are queued after it. */
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

/* Whether a compaction comes before a turn. The compaction has the number of the turn before it. */
static bool is_before(const struct leftover *compaction, const struct leftover *turn)
{
	if (compaction->ref.session != turn->ref.session)
		return compaction->ref.session < turn->ref.session;
	return compaction->n < turn->n;
}

/*
 * Queue turns and compactions in the order of each session, since workers begin at once. Both
 * lists are sorted by session and number.
 */
static int recover_all(struct runner *rn, const struct buf *turns, const struct buf *compactions,
		       struct err *err)
{
	size_t n;
	size_t m;
	const struct leftover *turn = BUF_LIST(const struct leftover, turns, &n);
	const struct leftover *compaction = BUF_LIST(const struct leftover, compactions, &m);
	int r = 0;

	while (r == 0 && (n || m)) {
		if (m && (!n || is_before(compaction, turn))) {
			r = runner_enqueue_compaction(rn, compaction->ref, compaction->n, err);
			compaction++;
			m--;
		} else {
			r = resume(rn, turn++, err);
			n--;
		}
	}
	return r;
}

struct message {
	struct staged_message staged;
	struct buf text;
};

static int note_message(void *arg, const struct staged_message *staged, struct span text)
{
	struct message m = { .staged = *staged };

	buf_span_add(&m.text, text);
	buf_add(arg, &m, sizeof m);
	return buf_check(arg, NULL);
}

/*
 * Submit a message whose close had succeeded. A message that does not parse is dropped: the rest
 * of its JSON never came.
 */
static int resubmit(struct runner *rn, struct message *m, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = message_parse(m->staged.kind, buf_span(&m->text), &e, NULL, err);

	if (r == -ENOMEM)
		return r;
	r = r < 0 ? -EINVAL : runner_submit(rn, m->staged.session, m->staged.number, &e, err);
	return r == -ESTALE || r == -EINVAL ? message_drop(rn->options.store, m->staged.number, err)
					    : r;
}

int runner_recover(struct runner *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf turns = { 0 };
	CLEANUP(buf_release) struct buf compactions = { 0 };
	CLEANUP(buf_release) struct buf messages = { 0 };
	struct message *m;
	size_t n;
	size_t i;
	int r = turn_unfinished(rn->options.store, note_leftover, &turns, err);

	if (r == 0)
		r = compaction_list(rn->options.store, note_leftover, &compactions, err);
	if (r == 0)
		r = recover_all(rn, &turns, &compactions, err);
	if (r == 0)
		r = message_staged(rn->options.store, note_message, &messages, err);
	m = BUF_LIST(struct message, &messages, &n);
	for (i = 0; i < n; i++) {
		if (r == 0)
			r = resubmit(rn, &m[i], err);
		buf_release(&m[i].text);
	}
	return r;
}
