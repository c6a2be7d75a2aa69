/*
 * Conversations: see conversation.h.
 */
#include "runner/conversation.h"

#include <errno.h>
#include <stdlib.h>

struct conversation **conversation_slot_locked(struct runner *rn, uint64_t session)
	REQUIRES(rn->lock)
{
	struct conversation **at = &rn->bucket[session % CONVERSATION_BUCKETS];

	while (*at && (*at)->ref.session != session)
		at = &(*at)->next;
	return at;
}

struct conversation *conversation_need_locked(struct runner *rn, struct ref ref) REQUIRES(rn->lock)
{
	struct conversation **at = conversation_slot_locked(rn, ref.session);

	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (*at)
			(*at)->ref = ref;
	}
	return *at;
}

bool conversation_is_busy(const struct conversation *c)
{
	return c->first || c->running || c->compactions.len;
}

bool conversation_runs_turn(const struct conversation *c)
{
	return c->running && !c->compacting;
}

struct compaction *conversation_compaction(const struct conversation *c)
{
	struct compaction *first = BUF_LIST(struct compaction, &c->compactions, NULL);

	if (!c->compactions.len || conversation_runs_turn(c))
		return NULL;
	return !c->first || c->first->n > first->after ? first : NULL;
}

void conversation_free(struct conversation *c)
{
	while (c->first) {
		struct live *live = c->first;

		c->first = live->next;
		live_unref(live);
	}
	buf_release(&c->compactions);
	buf_release(&c->temp);
	free(c);
}

void conversation_settle_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	struct conversation **at = conversation_slot_locked(rn, c->ref.session);

	if (conversation_is_busy(c) || c->temp.len || *at != c)
		return;
	*at = c->next;
	conversation_free(c);
}

void conversation_ready_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	c->ready = NULL;
	if (rn->ready_last)
		rn->ready_last->ready = c;
	else
		rn->ready_first = c;
	rn->ready_last = c;
	cond_wake_one(&rn->work);
}

struct conversation *conversation_take_locked(struct runner *rn) REQUIRES(rn->lock)
{
	struct conversation *c = rn->ready_first;

	if (!c)
		return NULL;
	rn->ready_first = c->ready;
	if (!rn->ready_first)
		rn->ready_last = NULL;
	return c;
}

void conversation_go_on_locked(struct runner *rn, struct conversation *c) REQUIRES(rn->lock)
{
	c->running = c->compacting = false;
	if (conversation_is_busy(c) && !rn->stopping)
		conversation_ready_locked(rn, c);
	else
		conversation_settle_locked(rn, c);
}

int conversation_add_compaction_locked(struct runner *rn, struct conversation *c,
				       const struct compaction *new) REQUIRES(rn->lock)
{
	size_t skip = c->compacting ? sizeof *new : 0; /* the one that runs */
	size_t at = c->compactions.len;
	struct compaction *there;

	while (at > skip) {
		there = (struct compaction *)(void *)(c->compactions.data + at) - 1;
		if (there->after < new->after)
			break;
		if (there->after == new->after) {
			there->is_asked |= new->is_asked;
			there->is_cancelled = false;
			return 0;
		}
		at -= sizeof *new;
	}
	if (!buf_reserve(&c->compactions, sizeof *new)) {
		c->compactions.failed = false; /* the earlier compactions stay */
		return -ENOMEM;
	}
	memmove(c->compactions.data + at + sizeof *new, c->compactions.data + at,
		c->compactions.len - at);
	memcpy(c->compactions.data + at, new, sizeof *new);
	c->compactions.len += sizeof *new;
	rn->compactions++;
	return 0;
}

int conversation_agent(struct runner *rn, struct ref session, struct agent_tree **out,
		       struct err *err)
{
	struct ref app = { .app = session.app };
	struct scope_info info;
	int r = scope_stat(rn->options.store, app, &info, err);

	return r < 0 ? r : agents_get(&rn->agents, info.id, out, err);
}
