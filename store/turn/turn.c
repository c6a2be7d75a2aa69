/*
 * Turns: see turn.h.
 *
 * Rows: KEY_TURN session n -> turn_fields of info.c.
 * KEY_QUEUE session n -> record: app, user; there while the turn has not ended.
 */
#include "store/turn/turn.h"

#include "base/clock.h"
#include "store/artifact/saves.h"
#include "store/turn/attachment.h"
#include "store/turn/call.h"
#include "store/turn/staged.h"
#include "store/turn/text.h"
#include "store/tx/key.h"

#include <errno.h>
#include <stdio.h>

static int save_turn(struct session_tx *s, struct turn_info *t, enum change_kind kind)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_TURN, s->ref.session, t->n);
	struct change *change = store_add_change(s->tx, kind, s->ref);

	if (!change)
		return err_nomem(s->tx->err);
	change->item = t->number;
	change->turn = t->n;
	t->stamp = s->stamp;
	s->session.turn_stamp = s->stamp;
	turn_encode(t, &record);
	store_put(s->tx, &key, buf_span(&record));
	return buf_check(&record, s->tx->err);
}

struct request {
	struct ref ref;
	uint64_t n;
	uint64_t message;
	uint64_t number;
	struct event *events;
	size_t count;
	const struct attachments *attachments;
	const struct call_report *reports;
	size_t report_count;
	struct saves_tx *saves; /* NULL: none */
	int (*change)(struct request *rq, struct turn_info *t);
	const char *agent;
	enum turn_state state;
	const char *error;
	struct turn_info info;
};

/* Add the reports. len: of the line of the first event, with its newline; 0: no event. */
static int add_reports(struct calls_tx *c, const struct request *rq, size_t len)
{
	struct call_line line = { .at = c->s->start, .len = len ? len - 1 : 0 };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < rq->report_count; i++)
		r = calls_add_report(c, &rq->reports[i], &line);
	return r;
}

/* Count the event that was added last, and note its calls and responses. */
static int count_event(struct calls_tx *c, const struct event *e, size_t at)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf text = { 0 };
	const struct session_tx *s = c->s;
	size_t len = s->lines.len - at;
	int r = turn_content(e, &content);

	if (r == 0)
		r = turn_answer_text(e, content, &text);
	if (r == 0 && content)
		r = calls_add_event(c, e, content,
				    (struct call_line){ .at = s->start + at, .len = len - 1 });
	c->t->bytes += len;
	c->t->last = s->start + s->lines.len;
	c->t->output_size += text.len;
	return r;
}

/* Add the events, reports and saves to a turn. */
static int add_events(struct session_tx *s, struct request *rq, struct turn_info *t)
{
	CLEANUP(calls_release) struct calls_tx c = { .s = s, .t = t };
	size_t i;
	int r = rq->count ? 0 : add_reports(&c, rq, 0);

	if (r == 0 && rq->saves)
		r = saves_put(rq->saves, s, rq->events);
	for (i = 0; r == 0 && i < rq->count; i++) {
		size_t at = s->lines.len;

		r = session_add(s, &rq->events[i]);
		if (r == 0 && i == 0)
			r = add_reports(&c, rq, s->lines.len);
		if (r == 0 && s->lines.len > at) /* partial events are not stored */
			r = count_event(&c, &rq->events[i], at);
	}
	return r;
}

static int submit(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct turn_info *t = &rq->info;
	int r = session_begin(&s, tx, rq->ref);

	if (r == 0)
		r = attachments_take(&s, rq->attachments);
	if (r < 0)
		return r;
	*t = (struct turn_info){ .n = ++s.session.turns, .number = rq->number };
	t->created = clock_now();
	t->first = s.start;
	r = event_text(rq->events, EVENT_INVOCATION, &text);
	if (r < 0 || text.len >= sizeof t->invocation)
		return err_set(tx->err, -EINVAL, "the invocation id is invalid");
	memcpy(t->invocation, text.data, text.len);
	buf_clear(&text);
	r = turn_event_input(rq->events, &text);
	t->input_size = text.len;
	if (r == 0)
		r = add_events(&s, rq, t);
	if (r == 0)
		r = save_turn(&s, t, CHANGE_TURN_ADDED);
	if (r < 0)
		return r;
	s.session.turns_stamp = s.stamp;
	waiting_put(tx, KEY_QUEUE, rq->ref, t->n);
	if (rq->message)
		r = message_delete(tx, rq->message);
	return r < 0 ? r : session_finish(&s);
}

static int move_parts(struct content *to, struct content *from)
{
	size_t i;

	for (i = 0; i < from->count; i++) {
		struct part *p = content_add(to, from->parts[i].kind);

		if (!p)
			return -ENOMEM;
		*p = from->parts[i];
		from->parts[i] = (struct part){ .kind = PART_TEXT };
	}
	return 0;
}

/* Add the attachments after the message's own parts. said: the content without attachments. */
static int attach(struct event *e, struct span said, struct attachments *all, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	int r;

	if (said.len)
		r = content_from_stored(said, &content);
	else
		r = (content = content_new("user")) ? 0 : -ENOMEM;
	if (r == 0 && all->parts)
		r = move_parts(content, all->parts);
	if (r < 0)
		return r == -ENOMEM ? err_nomem(err)
				    : err_set(err, r, "the content of the message is invalid");
	event_set_content(e, content);
	return event_check(e, err);
}

/*
 * Submit with the current attachments, and try again if they change meanwhile. Attachments are
 * read and encoded outside of the transaction, to keep it short.
 */
static int submit_attached(struct store *st, struct request *rq, struct err *err)
{
	CLEANUP(buf_release) struct buf said = { 0 };
	bool has_attached = false;
	int r = -ECANCELED;

	buf_span_add(&said, event_json(rq->events, EVENT_CONTENT));
	if (said.failed)
		return err_nomem(err);
	while (r == -ECANCELED) {
		CLEANUP(attachments_release) struct attachments all;

		rq->attachments = &all;
		r = attachments_collect(st, rq->ref, &all, err);
		if (r == 0 && (all.parts || has_attached)) {
			r = attach(rq->events, buf_span(&said), &all, err);
			has_attached = true;
		}
		if (r == 0)
			r = store_update(st, submit, rq, err);
	}
	return r;
}

int turn_submit(struct store *st, struct ref session, uint64_t message, struct event *user_event,
		struct turn_info *out, struct err *err)
{
	struct request rq = {
		.ref = session, .message = message, .events = user_event, .count = 1
	};
	int r;

	rq.number = store_new_number(st, err);
	if (!rq.number)
		return -EIO;
	r = submit_attached(st, &rq, err);
	if (r == 0)
		*out = rq.info;
	return r;
}

static int change_turn(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	int r = session_begin(&s, tx, rq->ref);

	if (r == 0)
		r = turn_load(tx, rq->ref, rq->n, &rq->info);
	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the session was removed") : r;
	r = add_events(&s, rq, &rq->info);
	if (r == 0 && rq->change)
		r = rq->change(rq, &rq->info);
	if (r == 0)
		r = save_turn(&s, &rq->info, CHANGE_TURN);
	if (r == 0 && rq->info.ended) {
		struct key key = key_2(KEY_QUEUE, rq->ref.session, rq->n);

		store_delete(tx, &key);
	}
	return r < 0 ? r : session_finish(&s);
}

static int update(struct store *st, struct request *rq, struct turn_info *out, struct err *err)
{
	int r = store_update(st, change_turn, rq, err);

	if (r == 0 && out)
		*out = rq->info;
	return r;
}

static int mark_started(struct request *rq, struct turn_info *t)
{
	t->state = TURN_RUNNING;
	t->started = clock_now();
	(void)snprintf(t->agent, sizeof t->agent, "%s", rq->agent);
	return 0;
}

int turn_start(struct store *st, struct ref session, uint64_t n, const char *agent,
	       struct turn_info *out, struct err *err)
{
	struct request rq = { .ref = session, .n = n, .change = mark_started, .agent = agent };

	return update(st, &rq, out, err);
}

static int update_with_saves(struct store *st, struct request *rq, struct turn_commit *commit,
			     struct turn_info *out, struct err *err)
{
	CLEANUP(saves_release) struct saves_tx saves = { 0 };
	int r;

	if (!commit->count)
		return err_set(err, -EINVAL, "artifacts are saved without an event");
	r = saves_prepare(&saves, st, commit->saves, commit->save_count, commit->events, err);
	rq->saves = &saves;
	if (r == 0)
		r = update(st, rq, out, err);
	commit->bad_save = r < 0 ? saves.bad : 0;
	return r;
}

static int mark_ended(struct request *rq, struct turn_info *t)
{
	t->state = rq->state;
	t->ended = clock_now();
	(void)snprintf(t->error, sizeof t->error, "%s", rq->error ? rq->error : "");
	return 0;
}

int turn_commit(struct store *st, struct ref session, uint64_t n, struct turn_commit *commit,
		struct turn_info *out, struct err *err)
{
	struct request rq = { .ref = session,
			      .n = n,
			      .events = commit->events,
			      .count = commit->count,
			      .reports = commit->reports,
			      .report_count = commit->report_count,
			      .change = commit->end ? mark_ended : NULL,
			      .state = commit->end,
			      .error = commit->error };

	return commit->save_count ? update_with_saves(st, &rq, commit, out, err)
				  : update(st, &rq, out, err);
}

int turn_end(struct store *st, struct ref session, uint64_t n, enum turn_state state,
	     const char *error, struct err *err)
{
	struct turn_commit commit = { .end = state, .error = error };

	return turn_commit(st, session, n, &commit, NULL, err);
}

static int stat_turn(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	return turn_load(tx, rq->ref, rq->n, &rq->info);
}

int turn_stat(struct store *st, struct ref session, uint64_t n, struct turn_info *out,
	      struct err *err)
{
	struct request rq = { .ref = session, .n = n };
	int r = store_view(st, stat_turn, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

static int note_number(void *arg, struct span key, struct span value)
{
	(void)value;
	*(uint64_t *)arg = key_last_number(key);
	return 1;
}

static int find_current(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct key prefix = key_1(KEY_QUEUE, rq->ref.session);
	int r = store_scan(tx, &prefix, &prefix, note_number, &rq->n);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return turn_load(tx, rq->ref, rq->n, &rq->info);
}

int turn_current(struct store *st, struct ref session, struct turn_info *out, struct err *err)
{
	struct request rq = { .ref = session };
	int r = store_view(st, find_current, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

struct listing {
	turn_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct turn_info info;
	int r = turn_decode(value, key_last_number(key), &info);

	return r < 0 ? r : l->fn(l->arg, &info);
}

int turn_list(struct store *st, struct ref session, uint64_t after, turn_fn *fn, void *arg,
	      struct err *err)
{
	struct key prefix = key_1(KEY_TURN, session.session);
	struct key from = key_2(KEY_TURN, session.session, after + 1);
	struct listing l = { fn, arg };

	return store_rows(st, &from, &prefix, emit, &l, err);
}

int turn_unfinished(struct store *st, waiting_fn *fn, void *arg, struct err *err)
{
	return waiting_list(st, KEY_QUEUE, fn, arg, err);
}
