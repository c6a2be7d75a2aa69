/*
 * References to artifacts: see artifacts.h.
 */
#include "runner/turn/artifacts.h"

#include "base/name.h"
#include "base/percent.h"
#include "runner/turn/run.h"

#include <errno.h>
#include <stdlib.h>

#define SCHEME "artifact://"

struct reference {
	struct buf app, user, session, name; /* session: empty for an artifact of the user */
	uint64_t n;
};

static void reference_release(struct reference *ref)
{
	buf_release(&ref->app);
	buf_release(&ref->user);
	buf_release(&ref->session);
	buf_release(&ref->name);
}

/* Decode %XX. */
static bool decode(struct span text, struct buf *out)
{
	return percent_decode(text, out) == 0 && out->len && buf_cstr(out);
}

/* Parse WORD/VALUE/ at the start of the rest of a URI. */
static bool take_id(const char **rest, const char *word, struct buf *out)
{
	size_t n = strlen(word);
	const char *end;

	if (strncmp(*rest, word, n) != 0)
		return false;
	end = strchr(*rest + n, '/');
	if (!end || !decode((struct span){ *rest + n, (size_t)(end - *rest) - n }, out))
		return false;
	*rest = end + 1;
	return true;
}

static bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno;
}

static bool reference_parse(const char *uri, struct reference *ref)
{
	static const char artifacts[] = "artifacts/", versions[] = "/versions/";
	const char *rest = uri + strlen(SCHEME);
	const char *last = NULL;
	const char *at;

	if (!take_id(&rest, "apps/", &ref->app) || !take_id(&rest, "users/", &ref->user))
		return false;
	if (!strncmp(rest, "sessions/", 9) && !take_id(&rest, "sessions/", &ref->session))
		return false;
	if (strncmp(rest, artifacts, strlen(artifacts)) != 0)
		return false;
	rest += strlen(artifacts);
	for (at = rest; (at = strstr(at, versions)); at++)
		last = at;
	return last && decode((struct span){ rest, (size_t)(last - rest) }, &ref->name) &&
	       parse_number(last + strlen(versions), &ref->n);
}

/* Find the scope of a reference. -ENOENT: another app or user, or there is no such session. */
static int find_scope(struct agent_run *run, const struct reference *ref, struct ref *out)
{
	struct store *store = run->sink->in->host->store;
	struct ref own = run->sink->in->live->ref;
	struct ref user = { .app = own.app, .user = own.user };
	struct scopes scopes;
	int r = scope_stat_all(store, user, &scopes, NULL);

	if (r == 0 && (!span_is(buf_span(&ref->app), scopes.app.id) ||
		       !span_is(buf_span(&ref->user), scopes.user.id)))
		r = -ENOENT;
	*out = user;
	if (r < 0 || !ref->session.len)
		return r;
	return scope_find(store, user, ref->session.data, out, NULL, NULL);
}

/* Load the artifact as a content with one part. -ENOENT: there is none. */
static int load(struct agent_run *run, const struct part *part, struct content *out,
		struct err *err)
{
	CLEANUP(reference_release) struct reference ref = { 0 };
	struct ref scope;
	int r = reference_parse(part->uri, &ref) ? find_scope(run, &ref, &scope) : -ENOENT;

	return r < 0 ? r : run_artifact_version(run, scope, ref.name.data, ref.n, out, err);
}

static bool is_reference(const struct part *part)
{
	return part->kind == PART_FILE && part->uri && !strncmp(part->uri, SCHEME, strlen(SCHEME));
}

/* Replace a part by the artifact that it names. */
static int follow(struct agent_run *run, struct part *part, struct err *err)
{
	CLEANUP(content_free_p) struct content *loaded = content_new("user");
	CLEANUP(buf_release) struct buf note = { 0 };
	int r = loaded ? load(run, part, loaded, err) : -ENOMEM;

	if (r == -ENOENT) {
		buf_printf(&note, "There is no artifact %.1000s.", part->uri);
		r = content_add_text(loaded, buf_span(&note), false);
	}
	if (r < 0)
		return r;
	if (loaded->parts->kind == PART_INLINE)
		loaded->parts->name = STEAL(&part->name);
	part_release(part);
	*part = *loaded->parts;
	loaded->count = 0;
	return 0;
}

static int follow_all(struct agent_run *run, struct content *content, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < content->count; i++) {
		if (is_reference(&content->parts[i]))
			r = follow(run, &content->parts[i], err);
	}
	return r;
}

static bool has_reference(const struct content *content)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (is_reference(&content->parts[i]))
			return true;
	}
	return false;
}

int references_load(struct agent_run *run, struct history *history)
{
	struct err err = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < history->count; i++) {
		struct content **content = &history->contents[i];
		struct content *copy;

		if (!has_reference(*content))
			continue;
		copy = content_copy(*content);
		if (!copy)
			return run_nomem(run);
		content_free(*content);
		*content = copy;
		r = follow_all(run, copy, &err);
	}
	if (r == -ENOMEM)
		return run_nomem(run);
	return r < 0 ? run_fail(run, NULL, &err) : 0;
}
