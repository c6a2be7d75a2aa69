/*
 * Saves: see saves.h.
 */
#include "store/artifact/saves.h"

#include "base/json_text.h"
#include "base/name.h"
#include "store/artifact/tx.h"
#include "store/json/state_key.h"

#include <errno.h>

#define UNKNOWN_MIME "application/octet-stream"

struct ref save_scope(struct ref session, const char *name, const char **rest)
{
	const char *prefix = statekey_prefix(SCOPE_USER);
	size_t n = strlen(prefix);

	*rest = name;
	if (strncmp(name, prefix, n) == 0 && name[n]) {
		*rest = name + n;
		session.session = 0;
	}
	return session;
}

static struct span first_component(const char *name)
{
	return (struct span){ name, strcspn(name, "/") };
}

static int check_name(const char *name, struct err *err)
{
	const char *rest;
	int r;

	(void)save_scope((struct ref){ 0 }, name, &rest);
	r = artifact_check_full_name(rest, err);
	while (r == 0 && rest) {
		CLEANUP(buf_release) struct buf file_name = { 0 };
		struct span part = first_component(rest);

		r = name_encode(part, NAME_HIDE_DOT, &file_name, err);
		rest = rest[part.len] ? rest + part.len + 1 : NULL;
	}
	if (r < 0)
		(void)err_wrap(err, "artifact '%.100s'", name);
	return r;
}

/* Take a number for the artifact, its version, and each directory. */
static int take_numbers(struct saves_tx *t, struct store *st, const char *name, struct err *err)
{
	size_t left = 2;

	for (; *name; name++)
		left += *name == '/';
	while (left--) {
		uint64_t number = store_new_number(st, err);

		if (!number)
			return -EIO;
		buf_add(&t->numbers, &number, sizeof number);
	}
	return buf_check(&t->numbers, err);
}

int saves_prepare(struct saves_tx *t, struct store *st, struct save *list, size_t count,
		  const struct event *e, struct err *err)
{
	size_t i;
	int r = 0;

	*t = (struct saves_tx){ .list = list, .count = count };
	if (span_is(event_json(e, EVENT_PARTIAL), "true"))
		return err_set(err, -EINVAL, "a partial event cannot save artifacts");
	for (i = 0; r == 0 && i < count; i++) {
		r = check_name(list[i].name, err);
		if (r == 0)
			r = take_numbers(t, st, list[i].name, err);
		t->bad = r < 0 ? i + 1 : 0;
	}
	buf_span_add(&t->delta, event_action(e, ACTION_ARTIFACT_DELTA));
	return r < 0 ? r : buf_check(&t->delta, err);
}

void saves_release(struct saves_tx *t)
{
	buf_release(&t->numbers);
	buf_release(&t->delta);
}

/* The saves of one try of the transaction. */
struct putting {
	struct session_tx *s;
	const struct saves_tx *all;
	size_t taken; /* numbers taken so far */
};

static uint64_t next_number(struct putting *p)
{
	uint64_t number;

	memcpy(&number, p->all->numbers.data + p->taken++ * sizeof number, sizeof number);
	return number;
}

/* Set rq->parent to its directory rq->name, and make that if it is missing. */
static int enter_directory(struct putting *p, struct artifact_request *rq, struct scope_info *scope)
{
	struct store_tx *tx = p->s->tx;
	int r = item_load_name(tx, rq->parent, rq->name, &rq->info);

	rq->new_number = next_number(p);
	if (r == 0 && !rq->info.is_directory && (rq->info.latest || rq->info.tombstone))
		return err_set(tx->err, -ENOTDIR, "'%s' is not a directory", rq->full_name);
	if (r == -ENOENT || (r == 0 && !item_is_visible(&rq->info)))
		r = artifact_put_directory(tx, rq, scope, p->s->stamp);
	if (r == 0)
		rq->parent = rq->info.number;
	return r;
}

/* Set rq->parent to the directory of a full name. *name: the last component. */
static int enter_directories(struct putting *p, struct artifact_request *rq,
			     struct scope_info *scope, const char *full_name, const char **name)
{
	const char *at = full_name;
	const char *slash;
	int r = 0;

	while (r == 0 && (slash = strchr(at, '/'))) {
		CLEANUP(buf_release) struct buf part = { 0 };
		CLEANUP(buf_release) struct buf full = { 0 };

		buf_add(&part, at, (size_t)(slash - at));
		buf_add(&full, full_name, (size_t)(slash - full_name));
		rq->name = buf_cstr(&part);
		rq->full_name = buf_cstr(&full);
		if (!rq->name || !rq->full_name)
			return err_nomem(p->s->tx->err);
		r = enter_directory(p, rq, scope);
		at = slash + 1;
	}
	*name = at;
	return r;
}

/* Load the record of the user, for artifacts of the user. */
static int load_user(struct session_tx *s, struct ref user)
{
	int r = s->has_user ? 0 : scope_load(s->tx, user, &s->user);

	s->has_user |= r == 0;
	s->user.stamp = s->stamp;
	return r;
}

static int put_one(struct putting *p, struct save *save)
{
	struct session_tx *s = p->s;
	struct artifact_request rq = { 0 };
	struct artifact_save as = { .blob = save->blob,
				    .attr = &save->attr,
				    .mime = save->mime ? save->mime : UNKNOWN_MIME };
	struct scope_info *scope = &s->session;
	int r = 0;

	rq.scope = save_scope(s->ref, save->name, &as.full_name);
	if (!rq.scope.session) {
		scope = &s->user;
		r = load_user(s, rq.scope);
	}
	rq.parent = ref_number(rq.scope);
	if (r == 0)
		r = enter_directories(p, &rq, scope, as.full_name, &as.name);
	if (r < 0)
		return r;
	rq.new_number = next_number(p);
	rq.new_version = next_number(p);
	rq.save = &as;
	r = artifact_put_version(s->tx, &rq, scope, s->stamp);
	buf_release(&rq.dead); /* empty for a new version */
	save->version = rq.version.n;
	return r;
}

/* Set the artifactDelta: its own members, then each name with its last version. */
static int tell(const struct saves_tx *t, struct event *e, struct err *err)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	CLEANUP(buf_release) struct buf canonical = { 0 };
	size_t i;
	int r;

	buf_char(&delta, '{');
	if (t->delta.len > 2)
		buf_add(&delta, t->delta.data + 1, t->delta.len - 2);
	for (i = 0; i < t->count; i++) {
		if (delta.len > 1)
			buf_char(&delta, ',');
		json_quote(&delta, span_of(t->list[i].name));
		buf_printf(&delta, ":%llu", (unsigned long long)t->list[i].version);
	}
	buf_char(&delta, '}');
	r = buf_check(&delta, err);
	if (r == 0)
		r = json_canonical_text(buf_span(&delta), JSON_DEPTH_FREE, &canonical, err);
	if (r == 0)
		event_set_action(e, ACTION_ARTIFACT_DELTA, buf_span(&canonical));
	return r < 0 ? r : event_check(e, err);
}

int saves_put(struct saves_tx *t, struct session_tx *s, struct event *e)
{
	struct putting p = { .s = s, .all = t };
	size_t i;
	int r = 0;

	t->bad = 0; /* an earlier try may have set it */
	for (i = 0; r == 0 && i < t->count; i++) {
		r = put_one(&p, &t->list[i]);
		t->bad = r < 0 ? i + 1 : 0;
	}
	return r < 0 ? r : tell(t, e, s->tx->err);
}
