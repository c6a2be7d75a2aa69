/*
 * `temp:` keys: the conversation has them until a turn ends. See runner.h.
 */
#include "runner/conversation.h"

#include "base/json_text.h"

#include <errno.h>

struct merge {
	struct buf *out;
	struct span newer;
};

static int keep_older(void *arg, struct span key, struct span value)
{
	struct merge *m = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span found;

	buf_span_add(&name, key);
	if (!buf_cstr(&name))
		return -ENOMEM;
	if (json_member(m->newer, name.data, &found) == 0)
		return 0;
	buf_char(m->out, ',');
	json_quote(m->out, key);
	buf_char(m->out, ':');
	buf_span_add(m->out, value);
	return 0;
}

int runner_set_temp(struct runner *rn, struct ref session, struct span delta, struct err *err)
{
	CLEANUP(buf_release) struct buf merged = { 0 };
	struct merge m = { &merged, delta };
	struct conversation *c;
	int r = 0;

	if (delta.len <= 2)
		return 0;
	buf_add(&merged, delta.data, delta.len - 1);
	mutex_lock(&rn->lock);
	c = conversation_need_locked(rn, session);
	if (c && c->temp.len)
		r = json_each(buf_span(&c->temp), keep_older, &m);
	buf_char(&merged, '}');
	if (!c || merged.failed || r < 0) {
		r = -ENOMEM;
	} else {
		struct buf old = c->temp;

		c->temp = merged;
		merged = old;
	}
	mutex_unlock(&rn->lock);
	return r < 0 ? err_nomem(err) : 0;
}

int runner_read_temp(void *arg, struct ref session, struct buf *object)
{
	struct runner *rn = arg;
	struct conversation *c;

	mutex_lock(&rn->lock);
	c = *conversation_slot_locked(rn, session.session);
	if (c)
		buf_span_add(object, buf_span(&c->temp));
	mutex_unlock(&rn->lock);
	return buf_check(object, NULL);
}

int runner_add_temp(void *arg, struct ref session, struct span delta, struct err *err)
{
	return runner_set_temp(arg, session, delta, err);
}
