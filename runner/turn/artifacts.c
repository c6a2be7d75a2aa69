/*
 * Artifacts as agents see them: see artifacts.h.
 */
#include "runner/turn/artifacts.h"

#include "base/name.h"
#include "base/utf8.h"
#include "store/json/base64.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX   (4u << 20)  /* bytes of an artifact that an instruction includes */
#define MEDIA_MAX  (20u << 20) /* bytes of an artifact that a model is shown */
#define USER_SCOPE "user:"

/* An artifact as it is now: saved in a log in memory, or stored. */
struct found {
	struct save save; /* name NULL: the artifact is stored */
	struct artifact_info info;
	struct version_info version;
	uint64_t size;
	char mime[128];
};

/*
 * Find the latest save of a name. The list grows while agents work side by side; its names and
 * blobs stay.
 */
static void find_save(struct event_sink *sink, const char *name, struct save *out)
{
	const struct save *list;
	size_t n;

	mutex_lock(&sink->lock);
	list = BUF_LIST(const struct save, &sink->saves, &n);
	for (; n > 0; n--, list++) {
		if (!strcmp(list->name, name))
			*out = *list;
	}
	mutex_unlock(&sink->lock);
}

static int find_stored(struct agent_run *run, const char *name, struct found *out, struct err *err)
{
	struct invocation *in = run->sink->in;
	struct ref scope = in->live->ref;
	bool of_user = !strncmp(name, USER_SCOPE, strlen(USER_SCOPE));
	int r;

	if (of_user)
		scope.session = 0;
	r = artifact_resolve(in->host->store, scope, of_user ? name + strlen(USER_SCOPE) : name,
			     NULL, &out->info, NULL);
	if (r == 0 && (!out->info.latest || out->info.is_directory))
		r = -ENOENT;
	if (r == 0)
		r = artifact_version(in->host->store, out->info.history, out->info.latest,
				     &out->version, err);
	if (r < 0)
		return r;
	out->size = out->info.size;
	memcpy(out->mime, out->version.mime, sizeof out->mime);
	return 0;
}

static int find(struct agent_run *run, const char *name, struct found *out, struct err *err)
{
	*out = (struct found){ 0 };
	if (run->sink->nested)
		find_save(run->sink, name, &out->save);
	if (!out->save.name)
		return find_stored(run, name, out, err);
	out->size = out->save.blob->size;
	(void)snprintf(out->mime, sizeof out->mime, "%s", out->save.mime ? out->save.mime : "");
	return 0;
}

static int read_all(struct agent_run *run, const struct found *f, struct buf *bytes,
		    struct err *err)
{
	CLEANUP(blob_close) struct blob blob;
	int r;

	if (f->save.name)
		return blob_read(f->save.blob, 0, f->size, bytes, err);
	blob_init(&blob, run->sink->in->host->store);
	r = artifact_blob(run->sink->in->host->store, f->info.history, f->info.latest, &blob, NULL,
			  err);
	return r < 0 ? r : blob_read(&blob, 0, f->size, bytes, err);
}

static bool is_text(struct span bytes)
{
	return utf8_is_valid(bytes) && !(bytes.len && memchr(bytes.data, 0, bytes.len));
}

int run_artifact_text(struct agent_run *run, struct span name, struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf full = { 0 };
	struct found f;
	int r;

	buf_span_add(&full, name);
	if (!buf_cstr(&full))
		return err_nomem(err);
	r = find(run, full.data, &f, err);
	if (r < 0)
		return r;
	if (f.size > TEXT_MAX)
		return -EILSEQ;
	r = read_all(run, &f, text, err);
	return r < 0 || is_text(buf_span(text)) ? r : -EILSEQ;
}

/* Content */

static bool is_shown(const char *mime)
{
	return !strncmp(mime, "image/", 6) || !strncmp(mime, "audio/", 6) ||
	       !strncmp(mime, "video/", 6) || !strcmp(mime, "application/pdf");
}

static int add_note(struct content *content, const char *fmt, ...) PRINTF(2, 3);

static int add_note(struct content *content, const char *fmt, ...)
{
	struct part *p = content_add(content, PART_TEXT);
	char text[1400];
	va_list args;

	if (!p)
		return -ENOMEM;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	buf_text(&p->text, text);
	return buf_check(&p->text, NULL);
}

static int add_media(struct content *content, const char *mime, struct span bytes)
{
	struct part *p = content_add(content, PART_INLINE);

	if (!p)
		return -ENOMEM;
	p->mime = strdup(mime);
	base64_encode(&p->text, bytes, BASE64_URL_SAFE);
	return p->mime ? buf_check(&p->text, NULL) : -ENOMEM;
}

static int add_artifact(struct agent_run *run, struct content *content, const struct found *f,
			struct err *err)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct part *p;
	int r = 0;

	if (f->size <= MEDIA_MAX)
		r = read_all(run, f, &bytes, err);
	if (r < 0)
		return r;
	if (f->size <= MEDIA_MAX && is_shown(f->mime))
		return add_media(content, f->mime, buf_span(&bytes));
	if (f->size > TEXT_MAX || !is_text(buf_span(&bytes)))
		return add_note(content, "[binary data, %s, %llu bytes]",
				*f->mime ? f->mime : "application/octet-stream",
				(unsigned long long)f->size);
	p = content_add(content, PART_TEXT);
	if (!p)
		return -ENOMEM;
	buf_span_add(&p->text, buf_span(&bytes));
	return buf_check(&p->text, NULL);
}

int run_artifact_content(struct agent_run *run, const char *name, struct content **out,
			 struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(buf_release) struct buf of_user = { 0 };
	struct found f;
	int r = content ? find(run, name, &f, err) : -ENOMEM;

	if (r == -ENOENT) {
		buf_printf(&of_user, USER_SCOPE "%s", name);
		r = buf_cstr(&of_user) ? find(run, of_user.data, &f, err) : -ENOMEM;
	}
	if (r == -ENOENT) {
		r = add_note(content, "There is no artifact %.1000s.", name);
	} else if (r == 0) {
		r = add_note(content, "Artifact %.1000s is:", name);
		if (r == 0)
			r = add_artifact(run, content, &f, err);
	}
	if (r < 0)
		return r == -ENOMEM ? err_nomem(err) : r;
	*out = STEAL(&content);
	return 0;
}

int run_artifact_version(struct agent_run *run, struct ref scope, const char *name, uint64_t n,
			 struct content *out, struct err *err)
{
	struct store *store = run->sink->in->host->store;
	struct found f = { 0 };
	int r = artifact_resolve(store, scope, name, NULL, &f.info, NULL);

	if (r == 0 && f.info.is_directory)
		r = -ENOENT;
	if (r == 0)
		r = artifact_version(store, f.info.history, n, &f.version, NULL);
	if (r == 0 && f.version.is_tombstone)
		r = -ENOENT;
	if (r < 0)
		return r == -ENOENT ? r : err_errno(err, r, "artifact %s", name);
	f.info.latest = n;
	f.size = f.version.size;
	memcpy(f.mime, f.version.mime, sizeof f.mime);
	return add_artifact(run, out, &f, err);
}

/* Names */

struct naming {
	struct store *store;
	const char *prefix;
	json_t *names;
	struct err *err;
};

static int add_name(void *arg, const struct artifact_info *info)
{
	struct naming *n = arg;

	if (info->is_directory)
		return artifact_list(n->store, info->number, 0, add_name, n, n->err);
	return json_array_append_new(n->names, json_sprintf("%s%s", n->prefix, info->full_name))
		       ? -ENOMEM
		       : 0;
}

static int by_bytes(const void *a, const void *b)
{
	json_t *const *x = a;
	json_t *const *y = b;

	return strcmp(json_string_value(*x), json_string_value(*y));
}

static int write_sorted(const json_t *names, struct buf *list)
{
	size_t n = json_array_size(names);
	json_t **sorted = calloc(n + 1, sizeof(json_t *));
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sorted[i] = json_array_get(names, i);
	qsort(sorted, n, sizeof(json_t *), by_bytes);
	buf_char(list, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_char(list, ',');
		json_quote(list, span_of(json_string_value(sorted[i])));
	}
	buf_char(list, ']');
	free(sorted);
	return buf_check(list, NULL);
}

int run_artifact_names(struct agent_run *run, struct buf *list, struct err *err)
{
	struct invocation *in = run->sink->in;
	json_auto_t *names = json_array();
	struct naming own = { in->host->store, "", names, err };
	struct naming of_user = { in->host->store, USER_SCOPE, names, err };
	int r = names ? artifact_list(in->host->store, in->live->ref.session, 0, add_name, &own,
				      err)
		      : -ENOMEM;

	if (r == 0)
		r = artifact_list(in->host->store, in->live->ref.user, 0, add_name, &of_user, err);
	if (r == 0)
		r = write_sorted(names, list);
	return r == -ENOMEM ? err_nomem(err) : r;
}
