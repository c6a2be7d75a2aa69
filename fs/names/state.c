/*
 * state/ and state.json of an app, a user or a session.
 *
 * state/<key>.json is one JSON value; state.json has all values in one object. In
 * a session the keys of the app and the user are links, named with their prefix.
 */
#include "fs/names/state.h"

#include "base/name.h"
#include "fs/draft/scratch.h"
#include "fs/draft/text.h"
#include "fs/tree/ids.h"
#include "fs/tree/tree.h"
#include "runner/runner.h"
#include "store/session/state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define ENDING       ".json"
#define SCRATCH_PART 8            /* scratch files have cookies after those of all scopes */
#define COOKIE_STEP  (1ull << 53) /* between the cookies of two scopes */

static struct ref scope_of(struct ref ref, enum scope_kind kind)
{
	if (kind != SCOPE_SESSION)
		ref.session = 0;
	if (kind == SCOPE_APP)
		ref.user = 0;
	return ref;
}

int state_key_of_name(const char *name, struct buf *key, struct err *err)
{
	size_t len = strlen(name);
	size_t end = strlen(ENDING);

	if (len <= end || strcmp(name + len - end, ENDING) != 0)
		return err_set(err, -ENOENT, "the name of a state value must end in " ENDING ": %s",
			       name);
	return name_decode((struct span){ name, len - end }, NAME_PLAIN, key, err);
}

int state_name_of_key(const char *prefix, struct span key, struct buf *name)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r;

	buf_text(&id, prefix);
	buf_span_add(&id, key);
	r = name_encode(buf_span(&id), NAME_PLAIN, name, NULL);
	buf_text(name, ENDING);
	return r < 0 ? r : buf_cstr(name) ? 0 : -ENOMEM;
}

/* The latest stamp of the scopes that a place shows: of their values, or of their names. */
static int merged_stamp(const struct place *at, bool names, uint64_t *stamp, struct err *err)
{
	struct scopes scopes = { 0 };
	const struct scope_info *const shown[] = { &scopes.app, &scopes.user, &scopes.session };
	uint64_t latest = at->fs->mounted;
	size_t i;
	/* Only a session shows the scopes above. */
	int r = at->ref.session ? scope_stat_all(at->fs->store, at->ref, &scopes, err)
				: scope_stat(at->fs->store, at->ref, &scopes.app, err);

	if (r < 0)
		return r;
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		latest = MAX(latest, names ? shown[i]->state_names_stamp : shown[i]->state_stamp);
	*stamp = latest;
	return 0;
}

int state_map_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	return merged_stamp(at, false, &st->mtime, err);
}

static uint64_t scratch_dir(const struct place *dir)
{
	return SCRATCH_OF_STATE | ref_number(dir->ref);
}

int state_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	int r = merged_stamp(at, true, &st->mtime, err);

	st->mtime = MAX(st->mtime, scratch_dir_stamp(at->fs, scratch_dir(at)));
	return r;
}

static int value_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct state_info info;
	int r = state_get(at->fs->store, at->ref, span_of(at->name), NULL, &info, err);

	if (r == 0 && info.item == at->item) {
		st->size = info.size + 1;
		st->mtime = info.stamp;
		return 0;
	}
	if ((r == 0 || r == -ENOENT) && at->inode && atomic_load(&at->inode->pending)) {
		st->size = 0; /* the value is being written for the first time */
		return 0;
	}
	return r < 0 ? r : -ESTALE;
}

static int value_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = state_get(at->fs->store, at->ref, span_of(at->name), out, NULL, err);

	if (r == -ENOENT && atomic_load(&at->inode->pending))
		return 0;
	if (r == 0)
		buf_char(out, '\n');
	return r;
}

static int check_value(struct handle *h, struct span text, struct err *err)
{
	(void)h;
	return state_check_text(text, err);
}

static int check_map(struct handle *h, struct span text, struct err *err)
{
	int r = state_check_object(h->at.ref, text, err);

	return r < 0 ? r : owners_may_set(h->at.fs, h->at.ref, text, h->caller, err);
}

/* Set a value; if it was opened in a session, through the session, so that it gets an event. */
static int set_value(struct handle *h, struct span text, struct err *err)
{
	struct fs *fs = h->at.fs;
	CLEANUP(buf_release) struct buf key = { 0 };
	int r;

	if (!h->via.session)
		return state_set(fs->store, h->at.ref, span_of(h->at.name), text, h->at.item, err);
	r = state_key_of_name(h->via_name, &key, err);
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

static const struct text_rules value_rules = {
	.max = STATE_VALUE_MAX + 1, /* and a newline */
	.what = "a state value",
	.check = check_value,
	.set = set_value,
};

/* The rules of state.json: a write does not start from the old text. */
const struct text_rules state_map_rules = {
	.starts_empty = true,
	.max = STATE_MAP_MAX,
	.what = "state.json",
	.check = check_map,
	.set = set_map,
};

static int state_link_target(const struct place *at, struct buf *out, struct err *err)
{
	struct span bare;
	enum scope_kind kind = statekey_scope(span_of(at->name), &bare);
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = state_name_of_key("", bare, &name);

	if (r < 0)
		return err_set(err, r, "no file name can spell the key");
	buf_printf(out, "%sstate/%s", kind == SCOPE_USER ? "../../../" : "../../../../../",
		   name.data);
	return buf_check(out, err);
}

/* A link is as new as its key; tree_stat() measures the target. */
static int state_link_stat(const struct place *at, struct node_stat *st, struct err *err)
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

enum state_member { STATE_VALUE, STATE_LINK };

const struct node_type state_members[] = {
	[STATE_VALUE] = { .name = "<key>.json",
			  .id = ID_OBJECT,
			  .mode = S_IFREG | 0600,
			  .flags = NODE_PUBLIC,
			  .stat = value_stat,
			  .show = value_show,
			  .file = &text_ops,
			  .text = &value_rules },
	[STATE_LINK] = { .name = "user:<key>.json, app:<key>.json",
			 .id = ID_OBJECT_LINK,
			 .mode = S_IFLNK | 0777,
			 .stat = state_link_stat,
			 .link = state_link_target },
	{ 0 },
};

static bool is_value(const struct place *at)
{
	return at->type == &state_members[STATE_VALUE];
}

/* The place of a key seen from a directory; the caller sets child->name. */
static void key_place(const struct place *dir, enum scope_kind kind, uint64_t item,
		      struct place *child)
{
	*child = place_child(dir, &state_members[kind == SCOPE_SESSION ? STATE_VALUE : STATE_LINK]);
	child->item = item;
}

/* The scope of a key seen from a directory; *bare: the key without the scope's prefix. */
static enum scope_kind key_scope(const struct place *dir, const struct buf *key, struct span *bare)
{
	*bare = buf_span(key);
	return dir->ref.session ? statekey_scope(*bare, bare) : SCOPE_SESSION;
}

static int state_dir_find(const struct place *dir, const char *name, struct place *child,
			  struct buf *text, struct err *err)
{
	struct scratch_info scratch;
	struct state_info info;
	enum scope_kind kind;
	struct span bare;
	int r;

	if (scratch_find(dir->fs, scratch_dir(dir), name, &scratch))
		return scratch_found(dir, &scratch, child, text, err);
	r = state_key_of_name(name, text, err);
	if (r < 0)
		return r;
	kind = key_scope(dir, text, &bare);
	if (kind == SCOPE_TEMP)
		return err_set(err, -ENOENT, "a temp: key has no file");
	r = state_get(dir->fs->store, scope_of(dir->ref, kind), bare, NULL, &info, err);
	if (r < 0)
		return r;
	key_place(dir, kind, info.item, child);
	return place_set_name(child, text, err);
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
	uint64_t cookie = info->item + COOKIE_STEP * ls->kind;

	if (state_name_of_key(prefix, key, &name) < 0)
		return 0; /* no file name can spell the key: only state.json shows it */
	buf_text(&text, prefix);
	buf_span_add(&text, key);
	key_place(ls->dir, ls->kind, info->item, &child);
	child.name = buf_cstr(&text);
	if (!child.name)
		return -ENOMEM;
	return lister_emit(ls->l, name.data, &child, cookie,
			   ls->kind == SCOPE_SESSION ? &st : NULL);
}

/* List the scope's own keys, then links to keys of the app and the user, then scratch files. */
static int state_dir_list(const struct place *dir, uint64_t after, struct lister *l,
			  struct err *err)
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
	return r ? r : scratch_emit(l, scratch_dir(dir), SCRATCH_PART * COOKIE_STEP, after);
}

static struct scratch_info new_scratch(const struct place *dir, const char *name)
{
	struct scratch_info info = { .dir = scratch_dir(dir), .scope = dir->ref };

	(void)snprintf(info.name, sizeof info.name, "%s", name);
	return info;
}

/* The scope and the key of a name that is to be made in a directory. */
static int key_of_new(const struct place *dir, const char *name, struct ref *scope,
		      struct buf *text, struct span *bare, struct err *err)
{
	enum scope_kind kind;
	int r = state_key_of_name(name, text, err);

	if (r == 0)
		r = state_check_key(dir->ref, buf_span(text), err);
	if (r < 0)
		return r;
	kind = key_scope(dir, text, bare);
	if (kind == SCOPE_TEMP)
		return err_set(err, -EINVAL, "a temp: key has no file");
	*scope = scope_of(dir->ref, kind);
	return 0;
}

bool state_is_scratch_name(const char *name)
{
	CLEANUP(buf_release) struct buf key = { 0 };

	return name[0] == '.' || state_key_of_name(name, &key, NULL) == -ENOENT;
}

static int state_dir_create(const struct place *dir, const char *name, const struct node_new *by,
			    struct place *child, struct buf *text, struct err *err)
{
	struct scratch_info scratch;
	struct state_info info;
	struct span bare;
	int r;

	if (scratch_find(dir->fs, scratch_dir(dir), name, &scratch))
		return scratch_found(dir, &scratch, child, text, err);
	if (state_is_scratch_name(name)) { /* tools write such a file before they rename it */
		scratch = new_scratch(dir, name);
		r = scratch_create(dir->fs, &scratch, by, err);
		return r < 0 ? r : scratch_found(dir, &scratch, child, text, err);
	}
	r = key_of_new(dir, name, &child->ref, text, &bare, err);
	if (r < 0)
		return r;
	r = state_get(dir->fs->store, child->ref, bare, NULL, &info, NULL);
	child->item = r == 0 ? info.item : store_new_number(dir->fs->store, err);
	if (!child->item)
		return -EIO;
	child->type = &state_members[STATE_VALUE];
	buf_consume(text, (size_t)(bare.data - text->data));
	return place_set_name(child, text, err);
}

static int state_dir_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	struct scratch_info scratch;
	struct span bare;
	int r;

	if (scratch_find(dir->fs, scratch_dir(dir), name, &scratch)) {
		scratch_unlink(dir->fs, scratch.number);
		return 0;
	}
	r = state_key_of_name(name, &key, err);
	if (r < 0)
		return r;
	if (dir->ref.session && statekey_scope(buf_span(&key), &bare) != SCOPE_SESSION)
		return -EOPNOTSUPP; /* a link: the other scope's key is not deleted through it */
	return state_delete(dir->fs->store, dir->ref, buf_span(&key), err);
}

/* Append the text of a value or a scratch file. */
static int state_text_of(const struct place *at, struct buf *text, struct err *err)
{
	if (is_value(at))
		return state_get(at->fs->store, at->ref, span_of(at->name), text, NULL, err);
	if (at->type != &scratch_node)
		return err_set(err, -EPERM, "the value belongs to another scope");
	return scratch_text(at->fs, at->item, STATE_VALUE_MAX + 1, text, err);
}

int state_check_moved(struct span text, struct err *err)
{
	int r = state_check_text(text, err);

	if (r == -ENODATA || r == -EINVAL)
		r = err->code = -EBADMSG; /* mv(1) reports EINVAL as another error */
	return r;
}

/* A rename onto the name of a key sets the key's value; the key keeps its inode. */
static int rename_to_key(const struct place *from, const struct place *dir, const char *new_name,
			 uid_t caller, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf key = { 0 };
	struct ref scope;
	struct span bare;
	int r = key_of_new(dir, new_name, &scope, &key, &bare, err);

	if (r == 0)
		r = owners_may_write(dir->fs, scope, caller, err);
	if (r == 0)
		r = state_text_of(from, &text, err);
	if (r == 0)
		r = state_check_moved(buf_span(&text), err);
	/* A value of another scope is set through the session, which gets the event. */
	return r < 0 ? r
		     : state_set(dir->fs->store, dir->ref, buf_span(&key), buf_span(&text), 0, err);
}

/* A value that is renamed to a name that is not a key's becomes a scratch file. */
static int rename_to_scratch(const struct place *from, const struct place *dir,
			     const char *new_name, struct err *err)
{
	const struct node_new by = { .uid = getuid(), .gid = getgid() };
	struct scratch_info info = new_scratch(dir, new_name);
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = state_text_of(from, &text, err);

	buf_char(&text, '\n');
	return r < 0 ? r : scratch_replace(dir->fs, &info, &by, buf_span(&text), err);
}

/* Returns 0; 1: the new name has another object than the old one had; -errno. */
static int rename_found(const struct place *from, const struct place *new_dir, const char *new_name,
			uid_t caller, struct err *err)
{
	struct fs *fs = from->fs;
	bool was_key = is_value(from);
	struct place at = place_child(new_dir, &scratch_node);
	int r;

	if (!was_key && state_is_scratch_name(new_name)) {
		scratch_move(fs, from->item, scratch_dir(new_dir), new_name);
		at.item = from->item;
		at.parent = scratch_dir(new_dir);
		at.name = new_name;
		return inode_move(&fs->inodes, &at, inode_number(new_dir), new_name);
	}
	r = state_is_scratch_name(new_name) ? rename_to_scratch(from, new_dir, new_name, err)
					    : rename_to_key(from, new_dir, new_name, caller, err);
	if (r == 0 && was_key)
		r = state_delete(fs->store, from->ref, span_of(from->name), err);
	else if (r == 0)
		scratch_unlink(fs, from->item);
	return r < 0 ? r : 1;
}

static int state_dir_rename(const struct node_rename *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf other = { 0 };
	struct place from = *rn->dir;
	struct place found = *rn->new_dir;
	int r = state_dir_find(rn->dir, rn->name, &from, &text, err);

	if (r < 0)
		return r;
	if (ref_number(rn->dir->ref) != ref_number(rn->new_dir->ref))
		return err_set(err, -EXDEV, "a state value of another scope can only be copied");
	if (from.type == &state_members[STATE_LINK])
		return err_set(err, -EPERM, "%s belongs to another scope", rn->name);
	if (rn->must_be_new && state_dir_find(rn->new_dir, rn->new_name, &found, &other, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", rn->new_name);
	return rename_found(&from, rn->new_dir, rn->new_name, rn->by.uid, err);
}

const struct dir_ops state_dir_ops = {
	.list = state_dir_list,
	.find = state_dir_find,
	.create = state_dir_create,
	.remove = state_dir_remove,
	.rename = state_dir_rename,
};

int state_map_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = state_map(at->fs->store, at->ref, out, err);

	buf_char(out, '\n');
	return r;
}
