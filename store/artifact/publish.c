/*
 * Saving versions of artifacts: see artifact.h.
 */
#include "base/clock.h"
#include "store/artifact/tx.h"

#include <errno.h>
#include <stdio.h>

/* The event of a save: author user, artifactDelta {full name: n}. */
static void fill_event(struct event *e, const char *name, uint64_t n)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	char invocation[40];

	clock_new_id(invocation, "p-");
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	buf_char(&delta, '{');
	json_quote(&delta, span_of(name));
	buf_printf(&delta, ":%llu}", (unsigned long long)n);
	e->text.failed |= delta.failed;
	event_set_action(e, ACTION_ARTIFACT_DELTA, buf_span(&delta));
}

/* Give the name and its history to another file. */
static int replace_item(struct store_tx *tx, const struct artifact_request *rq,
			struct artifact_info *a)
{
	struct key key = key_item(rq->parent, KEY_FILE, a->number);
	int r = item_tell(tx, CHANGE_ARTIFACT_REPLACED, rq->scope, rq->parent, a, NULL);

	store_delete(tx, &key);
	a->number = rq->new_number;
	a->attr = (struct artifact_attr){ 0 };
	return r;
}

int artifact_put_version(struct store_tx *tx, struct artifact_request *rq, struct scope_info *scope,
			 uint64_t stamp)
{
	const struct artifact_save *save = rq->save;
	struct artifact_info *a = &rq->info;
	struct version_info *v = &rq->version;
	bool is_new;
	int r = artifact_check_parent(tx, rq->scope, rq->parent);

	buf_clear(&rq->dead);
	if (r == 0)
		r = item_claim(tx, rq->parent, save->name, save->full_name, rq->new_number, a);
	is_new = r == 0;
	if (r >= 0 && save->must_be_there && (is_new || a->number != rq->new_number))
		return err_set(tx->err, -ESTALE, "'%s' was removed", save->full_name);
	if (r == 1 && save->replaces && a->number != rq->new_number)
		r = replace_item(tx, rq, a);
	if (r < 0)
		return r;
	*v = (struct version_info){ .n = save->n,
				    .number = save->version_number ? save->version_number
								   : rq->new_version,
				    .size = save->blob->size,
				    .stamp = stamp,
				    .created = clock_now() };
	(void)snprintf(v->mime, sizeof v->mime, "%s", save->mime);
	r = version_take_number(tx, a->history, &a->highest, &v->n);
	if (r == 0)
		r = blob_save_sums(save->blob, tx);
	if (r == 0)
		r = version_save(tx, a->history, v, SPAN(""), &save->blob->map);
	if (r < 0)
		return r;
	item_note_version(a, v);
	if (save->attr)
		attr_merge(&a->attr, save->attr);
	item_save(tx, rq->parent, a);
	if (is_new || save->replaces) {
		item_save_name(tx, rq->parent, a);
		artifact_touch_list(tx, rq->scope, rq->parent, scope, stamp);
	}
	r = item_tell(tx, is_new ? CHANGE_ARTIFACT_ADDED : CHANGE_ARTIFACT, rq->scope, rq->parent,
		      a, NULL);
	return r < 0 ? r : item_tell(tx, CHANGE_VERSION_ADDED, rq->scope, rq->parent, a, v);
}

int artifact_save_in_session(struct store_tx *tx, struct artifact_request *rq, struct ref session,
			     const char *event_name, artifact_saving_fn *saving)
{
	CLEANUP(session_release) struct session_tx s;
	CLEANUP(event_release) struct event e = { 0 };
	int r = session_begin(&s, tx, session);

	if (r == 0 && !rq->scope.session) {
		r = scope_need(tx, rq->scope, &s.user);
		s.has_user = r == 0;
	}
	if (r < 0)
		return r;
	r = saving(tx, rq, s.has_user ? &s.user : &s.session, s.stamp);
	if (r < 0)
		return r;
	if (rq->version.n) {
		fill_event(&e, event_name ? event_name : rq->info.full_name, rq->version.n);
		r = session_add(&s, &e);
	}
	if (s.has_user)
		s.user.stamp = s.stamp;
	return r < 0 ? r : session_finish(&s);
}

int artifact_save_at_user(struct store_tx *tx, struct artifact_request *rq,
			  artifact_saving_fn *saving)
{
	struct scope_info scope;
	uint64_t stamp = clock_stamp();
	int r = scope_need(tx, rq->scope, &scope);

	if (r == 0)
		r = saving(tx, rq, &scope, stamp);
	if (r < 0)
		return r;
	scope.stamp = stamp;
	scope_save(tx, rq->scope, &scope);
	return 0;
}

/* Give a version other bytes, without a second event: the open that saved it wrote more. */
static int extend(struct store_tx *tx, struct artifact_request *rq)
{
	const struct artifact_save *save = rq->save;
	CLEANUP(buf_release) struct buf meta = { 0 };
	struct version_info *v = &rq->version;
	struct artifact_info *a = &rq->info;
	struct scope_info scope;
	int r = scope_need(tx, rq->scope, &scope);

	buf_clear(&rq->dead);
	if (r == 0)
		r = item_load_name(tx, rq->parent, save->name, a);
	if (r == 0)
		r = version_load(tx, a->history, save->version, v, &meta);
	if (r == 0 && v->number != save->version_number) /* a version of another artifact */
		r = -ENOENT;
	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the version was removed") : r;
	v->size = save->blob->size;
	v->stamp = clock_stamp();
	if (!v->is_typed)
		(void)snprintf(v->mime, sizeof v->mime, "%s", save->mime);
	r = blob_save_sums(save->blob, tx);
	if (r == 0)
		r = version_change(tx, a->history, v, buf_span(&meta), &save->blob->map, &rq->dead);
	if (r < 0)
		return r;
	a->changed = a->versions_stamp = v->stamp;
	if (a->latest == v->n) {
		a->size = v->size;
		a->stamp = v->stamp;
		a->attr.has &= ~(unsigned)(ATTR_MTIME | ATTR_ATIME);
	}
	if (save->attr)
		attr_merge(&a->attr, save->attr);
	item_save(tx, rq->parent, a);
	scope.stamp = v->stamp;
	scope_save(tx, rq->scope, &scope);
	r = item_tell(tx, CHANGE_ARTIFACT, rq->scope, rq->parent, a, NULL);
	return r < 0 ? r : item_tell(tx, CHANGE_VERSION, rq->scope, rq->parent, a, v);
}

static int publish(struct store_tx *tx, void *arg)
{
	struct artifact_request *rq = arg;
	const struct artifact_save *save = rq->save;

	if (save->version)
		return extend(tx, rq);
	if (save->event_session.session)
		return artifact_save_in_session(tx, rq, save->event_session, save->event_name,
						artifact_put_version);
	if (rq->scope.session)
		return artifact_save_in_session(tx, rq, rq->scope, NULL, artifact_put_version);
	return artifact_save_at_user(tx, rq, artifact_put_version);
}

int artifact_take_numbers(struct store *st, struct artifact_request *rq, struct err *err)
{
	if (!rq->new_number)
		rq->new_number = store_new_number(st, err);
	rq->new_version = store_new_number(st, err);
	return rq->new_number && rq->new_version ? 0 : -EIO;
}

int artifact_publish(struct store *st, const struct artifact_save *save, struct artifact_info *out,
		     struct err *err)
{
	struct artifact_request rq = { .scope = save->scope,
				       .parent = save->parent,
				       .new_number = save->number,
				       .save = save };
	int r = artifact_check_full_name(save->full_name, err);

	if (r == 0)
		r = artifact_take_numbers(st, &rq, err);
	if (r == 0)
		r = store_update(st, publish, &rq, err);
	if (r == 0)
		artifact_remove_bulks(st, &rq.dead);
	if (r == 0 && out) {
		*out = rq.info;
		out->saved = rq.version.n;
		out->saved_number = rq.version.number;
	}
	buf_release(&rq.dead);
	return r;
}
