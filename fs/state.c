/*
 * state/ and state.json of an app, a user or a session.
 *
 * state/<key>.json is one JSON value; state.json is all of them. In a session
 * the keys of its app and user are links named with their prefix.
 */
#include "fs/state.h"

#include "base/name.h"
#include "fs/handle.h"
#include "fs/ids.h"
#include "fs/tree.h"
#include "runner/runner.h"
#include "store/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ENDING      ".json"
#define COOKIE_STEP (1ull << 53) /* between the members of one scope and the next */

static struct ref scope_of(struct ref ref, enum scope_kind kind)
{
	if (kind != SCOPE_SESSION)
		ref.session = 0;
	if (kind == SCOPE_APP)
		ref.user = 0;
	return ref;
}

/* "topic.json" to "topic". -ENOENT: not a name of a key. */
static int key_of_name(const char *name, struct buf *key, struct err *err)
{
	size_t len = strlen(name);
	size_t end = strlen(ENDING);

	if (len <= end || strcmp(name + len - end, ENDING) != 0)
		return err_set(err, -ENOENT, "names here end in " ENDING ", not %s", name);
	return name_decode((struct span){ name, len - end }, NAME_PLAIN, key, err);
}

static int name_of_key(const char *prefix, struct span key, struct buf *name)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r;

	buf_text(&id, prefix);
	buf_span_add(&id, key);
	r = name_encode(buf_span(&id), NAME_PLAIN, name, NULL);
	buf_text(name, ENDING);
	return r < 0 ? r : buf_cstr(name) ? 0 : -ENOMEM;
}

/* Stamps of the scopes that a session shows: the latest of a kind. */
static int merged_stamp(const struct place *at, size_t offset, uint64_t *stamp, struct err *err)
{
	struct ref ref = at->ref;
	uint64_t latest = 0;

	while (ref.app) {
		struct scope_info info;
		uint64_t own;
		int r = scope_stat(at->fs->store, ref, &info, err);

		if (r < 0)
			return r;
		memcpy(&own, (const char *)&info + offset, sizeof own);
		latest = MAX(latest, own);
		if (!at->ref.session)
			break; /* only a session shows what is above it */
		ref = ref_parent(ref);
	}
	*stamp = MAX(latest, at->fs->mounted);
	return 0;
}

int state_map_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	return merged_stamp(at, offsetof(struct scope_info, state_stamp), &st->mtime, err);
}

int state_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	st->size = 0;
	return merged_stamp(at, offsetof(struct scope_info, state_names_stamp), &st->mtime, err);
}

static int file_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct state_info info;
	int r = state_get(at->fs->store, at->ref, span_of(at->name), NULL, &info, err);

	if (r == 0 && info.item == at->item) {
		st->size = info.size + 1;
		st->mtime = info.stamp;
		return 0;
	}
	if ((r == 0 || r == -ENOENT) && at->inode && atomic_load(&at->inode->pending)) {
		st->size = 0; /* being written for the first time */
		return 0;
	}
	return r < 0 ? r : -ESTALE;
}

static int file_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = state_get(at->fs->store, at->ref, span_of(at->name), out, NULL, err);

	if (r == -ENOENT && atomic_load(&at->inode->pending))
		return 0;
	if (r == 0)
		buf_char(out, '\n');
	return r;
}

/* What was written to a value and is not yet the value. */
struct draft {
	struct buf text;
	bool loaded;  /* text starts from the old value, or from nothing by truncation */
	bool changed; /* since the last flush */
	/* 0; -ENODATA: not yet a value; other errors: never */
	int (*check)(struct handle *h, struct span text, struct err *err);
	bool refused; /* a write failed: the rest of the open is not to be taken as a value */
};

static int check_value(struct handle *h, struct span text, struct err *err)
{
	(void)h;
	return state_check_text(text, err);
}

static int check_map(struct handle *h, struct span text, struct err *err)
{
	return state_check_object(h->at.ref, text, err);
}

static int draft_open(struct handle *h, struct err *err)
{
	struct draft *d;

	if (!handle_writes(h))
		return 0;
	d = calloc(1, sizeof *d);
	if (!d)
		return err_nomem(err);
	d->loaded = (h->flags & O_TRUNC) != 0;
	d->check = check_value;
	h->state = d;
	return 0;
}

/* Writes in the middle of a value, or behind it, start from the old text. */
static int load_draft(struct handle *h, struct draft *d, struct err *err)
{
	int r;

	if (d->loaded)
		return 0;
	r = h->at.type->show(&h->at, &d->text, err);
	if (r == -ENOENT)
		r = 0;
	d->loaded = r == 0;
	return r;
}

static int put_bytes(struct draft *d, uint64_t offset, struct span data, struct err *err)
{
	if (offset + data.len > STATE_VALUE_MAX + 1)
		return err_set(err, -EFBIG, "a state value may have %u bytes", STATE_VALUE_MAX);
	if (offset + data.len > d->text.len) {
		size_t gap = offset + data.len - d->text.len;

		if (!buf_reserve(&d->text, gap))
			return err_nomem(err);
		memset(d->text.data + d->text.len, 0, gap);
		d->text.len += gap;
	}
	memcpy(d->text.data + offset, data.data, data.len);
	return 0;
}

static ssize_t draft_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct draft *d = h->state;
	int r;

	mutex_lock(&h->lock);
	r = load_draft(h, d, err);
	if (r == 0 && (h->flags & O_APPEND))
		offset = d->text.len;
	if (r == 0)
		r = put_bytes(d, offset, data, err);
	if (r == 0) {
		r = d->check(h, buf_span(&d->text), err);
		if (r == -ENODATA)
			r = 0; /* not yet a value: more may come, and the close will tell */
	}
	d->changed |= r == 0;
	d->refused |= r < 0;
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

static int draft_truncate(struct handle *h, uint64_t size, struct err *err)
{
	struct draft *d = h->state;
	int r = 0;

	mutex_lock(&h->lock);
	if (size > STATE_VALUE_MAX)
		r = err_set(err, -EFBIG, "a state value may have %u bytes", STATE_VALUE_MAX);
	else if (size == 0)
		d->loaded = true;
	else
		r = load_draft(h, d, err);
	if (r == 0 && size < d->text.len) {
		d->text.len = size;
		d->changed |= size > 0;
	}
	mutex_unlock(&h->lock);
	return r;
}

/* Where the value goes, and under which key. */
static int set_value(struct handle *h, struct span text, struct err *err)
{
	struct fs *fs = h->at.fs;
	CLEANUP(buf_release) struct buf key = { 0 };
	int r;

	if (!h->via.session)
		return state_set(fs->store, h->at.ref, span_of(h->at.name), text, h->at.item, err);
	r = key_of_name(h->via_name, &key, err);
	return r < 0 ? r : state_set(fs->store, h->via, buf_span(&key), text, 0, err);
}

static int set_map(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(buf_release) struct buf temp = { 0 };
	int r = state_set_all(h->at.fs->store, h->at.ref, text, &temp, err);

	if (r == 0 && temp.len)
		r = runner_set_temp(h->at.fs->runner, h->at.ref, buf_span(&temp), err);
	return r;
}

/* A complete draft becomes the value; an incomplete one is an error and stays. */
static int flush_draft(struct handle *h, int (*set)(struct handle *, struct span, struct err *),
		       struct err *err)
{
	struct draft *d = h->state;
	int r = 0;

	if (!d)
		return 0;
	mutex_lock(&h->lock);
	if (d->changed && !d->refused) {
		r = set(h, buf_span(&d->text), err);
		d->changed = r < 0;
	}
	mutex_unlock(&h->lock);
	return r;
}

static int value_flush(struct handle *h, struct err *err)
{
	return flush_draft(h, set_value, err);
}

static int map_flush(struct handle *h, struct err *err)
{
	return flush_draft(h, set_map, err);
}

static void draft_release(struct handle *h, struct err *err)
{
	struct draft *d = h->state;

	(void)err;
	if (!d)
		return;
	buf_release(&d->text);
	free(d);
}

static const struct file_ops value_ops = {
	.open = draft_open,
	.write = draft_write,
	.truncate = draft_truncate,
	.flush = value_flush,
	.release = draft_release,
};

/* state.json is written as a whole: its old text is no part of the new one. */
static int map_open(struct handle *h, struct err *err)
{
	int r = draft_open(h, err);
	struct draft *d = h->state;

	if (r == 0 && d) {
		d->loaded = true;
		d->check = check_map;
	}
	return r;
}

const struct file_ops state_map_ops = {
	.open = map_open,
	.write = draft_write,
	.truncate = draft_truncate,
	.flush = map_flush,
	.release = draft_release,
};

static const struct node_type state_file = {
	.name = "<key>.json",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0600,
	.stat = file_stat,
	.show = file_show,
	.file = &value_ops,
};

static int link_target(const struct place *at, struct buf *out, struct err *err)
{
	struct span bare;
	enum scope_kind kind = statekey_scope(span_of(at->name), &bare);
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = name_of_key("", bare, &name);

	if (r < 0)
		return err_set(err, r, "the key has no name");
	buf_printf(out, "%sstate/%s", kind == SCOPE_USER ? "../../../" : "../../../../../",
		   name.data);
	return buf_check(out, err);
}

/* A link is as long as its target, and as new as the key is. */
static int link_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct span bare;
	enum scope_kind kind = statekey_scope(span_of(at->name), &bare);
	struct state_info info;
	int r = state_get(at->fs->store, scope_of(at->ref, kind), bare, NULL, &info, err);

	if (r == 0 && info.item != at->item)
		r = -ESTALE;
	if (r == 0)
		st->mtime = info.stamp;
	return r;
}

static const struct node_type state_link = {
	.name = "user:<key>.json, app:<key>.json",
	.id = ID_OBJECT_LINK,
	.mode = S_IFLNK | 0777,
	.stat = link_stat,
	.link = link_target,
};

/* The place of a key seen from a directory. text: the key, with its prefix for a link. */
static void key_place(const struct place *dir, enum scope_kind kind, uint64_t item,
		      struct place *child)
{
	*child = *dir;
	child->inode = NULL;
	child->type = kind == SCOPE_SESSION ? &state_file : &state_link;
	child->item = item;
}

int state_dir_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err)
{
	enum scope_kind kind = SCOPE_SESSION;
	struct state_info info;
	struct span bare;
	int r = key_of_name(name, text, err);

	if (r < 0)
		return r;
	bare = buf_span(text);
	if (dir->ref.session)
		kind = statekey_scope(buf_span(text), &bare);
	if (kind == SCOPE_TEMP)
		return err_set(err, -ENOENT, "temp: keys have no file");
	r = state_get(dir->fs->store, scope_of(dir->ref, kind), bare, NULL, &info, err);
	if (r < 0)
		return r;
	key_place(dir, kind, info.item, child);
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

struct listing {
	const struct place *dir;
	struct lister *l;
	enum scope_kind kind;
};

static int list_key(void *arg, struct span key, const struct state_info *info)
{
	struct listing *ls = arg;
	const char *prefix = ls->dir->ref.session ? statekey_prefix(ls->kind) : "";
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct node_stat st = { .size = info->size + 1, .mtime = info->stamp };
	struct place child;
	uint64_t cookie = TREE_MEMBER_COOKIE + info->item + COOKIE_STEP * ls->kind;

	if (name_of_key(prefix, key, &name) < 0)
		return 0; /* no file name can hold it: only state.json shows it */
	if (tree_is_hidden(ls->dir, name.data))
		return 0;
	buf_text(&text, prefix);
	buf_span_add(&text, key);
	key_place(ls->dir, ls->kind, info->item, &child);
	child.name = buf_cstr(&text);
	if (!child.name)
		return -ENOMEM;
	return lister_emit(ls->l, name.data, &child, cookie,
			   ls->kind == SCOPE_SESSION ? &st : NULL);
}

/* Own keys, then the app's and the user's as links. */
int state_dir_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	enum scope_kind last = dir->ref.session ? SCOPE_USER : SCOPE_SESSION;
	struct listing ls = { dir, l, (enum scope_kind)(after / COOKIE_STEP) };
	uint64_t item = after % COOKIE_STEP;
	int r = 0;

	for (; r == 0 && ls.kind <= last; ls.kind++) {
		r = state_list(dir->fs->store, scope_of(dir->ref, ls.kind), item, list_key, &ls,
			       err);
		item = 0;
	}
	return r;
}

int state_dir_create(const struct place *dir, const char *name, struct place *child,
		     struct buf *text, struct err *err)
{
	enum scope_kind kind = SCOPE_SESSION;
	struct state_info info;
	struct span bare;
	int r = key_of_name(name, text, err);

	if (r == -ENOENT)
		return err_set(err, -EINVAL, "state is files that end in " ENDING ", not %s", name);
	if (r == 0)
		r = statekey_check(buf_span(text), err);
	if (r < 0)
		return r;
	bare = buf_span(text);
	if (dir->ref.session)
		kind = statekey_scope(buf_span(text), &bare);
	if (kind == SCOPE_TEMP)
		return err_set(err, -EINVAL, "temp: keys have no file");
	child->ref = scope_of(dir->ref, kind);
	r = state_get(dir->fs->store, child->ref, bare, NULL, &info, NULL);
	child->item = r == 0 ? info.item : store_new_number(dir->fs->store, err);
	if (!child->item)
		return -EIO;
	child->type = &state_file;
	buf_consume(text, (size_t)(bare.data - text->data));
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

int state_dir_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	struct span bare;
	int r = key_of_name(name, &key, err);

	if (r < 0)
		return r;
	if (dir->ref.session && statekey_scope(buf_span(&key), &bare) != SCOPE_SESSION)
		return -EOPNOTSUPP; /* a link: what others use is not deleted through it */
	return state_delete(dir->fs->store, dir->ref, buf_span(&key), err);
}

int state_map_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = state_map(at->fs->store, at->ref, out, err);

	buf_char(out, '\n');
	return r;
}
