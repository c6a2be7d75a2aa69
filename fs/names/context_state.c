/*
 * state/ and state.json of a context: see context.h.
 *
 * The files show the context's view of the state (runner/live/state.h): the stored
 * state with the changes of the agent and of this program on top. All keys are
 * files here, with their prefixes, and `temp:` is a prefix like the others. The
 * data below the view changes without news, so the kernel caches nothing.
 */
#include "fs/names/context.h"

#include "base/json_text.h"
#include "fs/draft/scratch.h"
#include "fs/draft/text.h"
#include "fs/names/state.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "store/session/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define COOKIE_STEP  (1ull << 53)
#define SCRATCH_PART (1ull << 54) /* the number itself is the scratch_info.dir of artifacts/ */

/* The scratch_info.dir of state/ of a context. */
static uint64_t view_scratch_dir(const struct place *dir)
{
	return SCRATCH_PART | dir->parent;
}

/* Append a signature of the view: a text that changes with each change of a value. */
static int add_signature(struct fs *fs, const struct context *c, struct buf *out, struct err *err)
{
	struct stateview *v = c->state;
	struct scopes s;
	int r = scope_stat_all(fs->store, c->session, &s, err);

	for (; v; v = v->below) {
		buf_printf(out, "%llu ", (unsigned long long)stateview_count(v));
		if (v->source && r == 0)
			r = v->source->temp(v->source->arg, c->session, out);
	}
	if (r == 0)
		buf_printf(out, " %llu %llu %llu", (unsigned long long)s.session.state_stamp,
			   (unsigned long long)s.user.state_stamp,
			   (unsigned long long)s.app.state_stamp);
	return r < 0 ? r : buf_check(out, err);
}

/* The time of a file or directory that shows the whole view. */
static int view_time(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(buf_release) struct buf signature = { 0 };
	int r = context_of(at, &c, err);

	if (r == 0)
		r = add_signature(at->fs, c, &signature, err);
	if (r < 0)
		return r;
	st->mtime = at->inode ? inode_text_stamp(at->inode, buf_span(&signature)) : c->stamp;
	return 0;
}

int context_map_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	return view_time(at, st, err);
}

int context_state_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	int r = view_time(at, st, err);

	st->mtime = MAX(st->mtime, scratch_dir_stamp(at->fs, view_scratch_dir(at)));
	return r;
}

/* The file of a key. */

static int read_key(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = stateview_get(c->state, span_of(at->name), out, err);
	return r == -ENOENT ? err_set(err, r, "there is no state key '%.100s'", at->name) : r;
}

static bool is_pending(const struct place *at)
{
	return at->inode && atomic_load(&at->inode->pending);
}

static int key_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = read_key(at, out, err);

	if (r == -ENOENT && is_pending(at)) /* the value is being written for the first time */
		return 0;
	buf_char(out, '\n');
	return r < 0 ? r : buf_check(out, err);
}

/* Check that the caller may change a key: keys of the app need the right to change the app. */
static int may_change(const struct place *at, struct span key, uid_t caller, struct err *err)
{
	struct ref app = { .app = at->ref.app };
	struct span bare;

	if (statekey_scope(key, &bare) != SCOPE_APP)
		return 0;
	return owners_may_write(at->fs, app, caller, err);
}

static int set_key(const struct place *at, struct span key, struct span text, uid_t caller,
		   struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(buf_release) struct buf canonical = { 0 };
	int r = context_of(at, &c, err);

	if (r == 0)
		r = may_change(at, key, caller, err);
	if (r == 0)
		r = json_canonical_text(text, JSON_DEPTH_FREE, &canonical, err);
	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	return stateview_set(c->state, key, buf_span(&canonical), err);
}

static int delete_key(const struct place *at, struct span key, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = stateview_delete(c->state, key, err);
	return r == -ENOENT ? err_set(err, r, "there is no such state key") : r;
}

static int check_view_value(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(&h->at, &c, err);

	if (r == 0)
		r = stateview_check(c->state, span_of(h->at.name), text.len, err);
	return r < 0 ? r : state_check_text(text, err);
}

static int set_view_value(struct handle *h, struct span text, struct err *err)
{
	return set_key(&h->at, span_of(h->at.name), text, h->caller, err);
}

static const struct text_rules value_rules = {
	.max = STATE_VALUE_MAX + 1, /* and a newline */
	.what = "a state value",
	.check = check_view_value,
	.set = set_view_value,
};

/* state.json: all values in one object. */

int context_map_show(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(at, &c, err);

	if (r == 0)
		r = stateview_map(c->state, out, err);
	buf_char(out, '\n');
	return r < 0 ? r : buf_check(out, err);
}

static int check_view_map(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	int r = context_of(&h->at, &c, err);

	if (r == 0)
		r = state_check_object(h->at.ref, text, err);
	return r < 0 ? r : owners_may_set(h->at.fs, h->at.ref, text, h->caller, err);
}

struct setting {
	struct context *context;
	struct err *err;
};

static int set_member(void *arg, struct span key, struct span value)
{
	struct setting *s = arg;

	return stateview_set(s->context->state, key, value, s->err);
}

static int set_view_map(struct handle *h, struct span text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(buf_release) struct buf canonical = { 0 };
	struct setting s = { .err = err };
	int r = context_of(&h->at, &c, err);

	if (r == 0)
		r = state_check_object(h->at.ref, text, err);
	if (r == 0)
		r = json_canonical_text(text, JSON_DEPTH_FREE + 1, &canonical, err);
	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	s.context = c;
	return json_each(buf_span(&canonical), set_member, &s);
}

/* The rules of state.json: a write does not start from the old text. */
const struct text_rules context_map_rules = {
	.starts_empty = true,
	.max = STATE_MAP_MAX,
	.what = "state.json",
	.check = check_view_map,
	.set = set_view_map,
};

/* The directory state/. */

const struct node_type context_state_members[] = {
	{ .name = "<key>.json",
	  .id = ID_OBJECT,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_FRESH,
	  .stat = context_text_stat,
	  .show = key_show,
	  .file = &text_ops,
	  .text = &value_rules },
	{ 0 },
};

/* The place of the key in `text`. */
static int view_key_place(const struct place *dir, struct context *c, struct place *child,
			  struct buf *text, struct err *err)
{
	*child = place_child(dir, dir->type->members);
	child->item = context_item(c, buf_span(text));
	return child->item ? place_set_name(child, text, err) : err_nomem(err);
}

static int context_state_find(const struct place *dir, const char *name, struct place *child,
			      struct buf *text, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(buf_release) struct buf value = { 0 };
	struct scratch_info scratch;
	int r = context_of(dir, &c, err);

	if (r < 0)
		return -ENOENT;
	if (scratch_find(dir->fs, view_scratch_dir(dir), name, &scratch))
		return scratch_found(dir, &scratch, child, text, err);
	r = state_key_of_name(name, text, err);
	if (r == 0)
		r = stateview_get(c->state, buf_span(text), &value, err);
	return r < 0 ? r : view_key_place(dir, c, child, text, err);
}

/* Keys, sorted by their numbers, which are the cookies. */
struct entry {
	uint64_t item;
	char *key;
	size_t len;
};

struct entries {
	struct context *context;
	uint64_t after;
	struct buf list; /* of struct entry */
};

static void entries_release(struct entries *e)
{
	size_t n;
	size_t i;
	struct entry *list = BUF_LIST(struct entry, &e->list, &n);

	for (i = 0; i < n; i++)
		free(list[i].key);
	buf_release(&e->list);
}

static int collect_key(void *arg, struct span key, struct span json)
{
	struct entries *e = arg;
	struct entry one = { .item = context_item(e->context, key), .len = key.len };

	(void)json;
	if (one.item <= e->after)
		return one.item ? 0 : -ENOMEM;
	one.key = span_dup(key);
	if (!one.key || !buf_reserve(&e->list, sizeof one)) {
		free(one.key);
		return -ENOMEM;
	}
	buf_add(&e->list, &one, sizeof one);
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	return x->item < y->item ? -1 : x->item > y->item;
}

static int list_view_key(const struct place *dir, struct lister *l, const struct entry *one)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct place child = place_child(dir, dir->type->members);

	if (state_name_of_key("", (struct span){ one->key, one->len }, &name) < 0)
		return 0; /* no file name can spell the key: only state.json shows it */
	child.item = one->item;
	child.name = one->key;
	return lister_emit(l, name.data, &child, one->item, NULL);
}

static int list_keys(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(entries_release) struct entries all = { .after = after };
	struct entry *list;
	size_t n;
	size_t i;
	int r = context_of(dir, &c, err);

	all.context = c;
	if (r == 0)
		r = stateview_each(c->state, collect_key, &all, err);
	list = BUF_LIST(struct entry, &all.list, &n);
	if (n)
		qsort(list, n, sizeof *list, compare_entries);
	for (i = 0; r == 0 && i < n; i++)
		r = list_view_key(dir, l, &list[i]);
	return r;
}

static int context_state_list(const struct place *dir, uint64_t after, struct lister *l,
			      struct err *err)
{
	int r = after < COOKIE_STEP ? list_keys(dir, after, l, err) : 0;

	return r ? r : scratch_emit(l, view_scratch_dir(dir), COOKIE_STEP, after);
}

static struct scratch_info new_view_scratch(const struct place *dir, const char *name)
{
	struct scratch_info info = { .dir = view_scratch_dir(dir), .scope = context_scope(dir) };

	(void)snprintf(info.name, sizeof info.name, "%s", name);
	return info;
}

/* The key of a name that is to be made. */
static int new_view_key(const char *name, struct buf *key, struct err *err)
{
	int r = state_key_of_name(name, key, err);

	return r < 0 ? r : statekey_check(buf_span(key), err);
}

static int context_state_create(const struct place *dir, const char *name,
				const struct node_new *by, struct place *child, struct buf *text,
				struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	struct scratch_info scratch;
	int r = context_of(dir, &c, err);

	if (r < 0)
		return r;
	if (scratch_find(dir->fs, view_scratch_dir(dir), name, &scratch))
		return scratch_found(dir, &scratch, child, text, err);
	if (state_is_scratch_name(name)) { /* tools write such a file before they rename it */
		scratch = new_view_scratch(dir, name);
		r = scratch_create(dir->fs, &scratch, by, err);
		return r < 0 ? r : scratch_found(dir, &scratch, child, text, err);
	}
	r = new_view_key(name, text, err);
	if (r == 0)
		r = may_change(dir, buf_span(text), by->uid, err);
	return r < 0 ? r : view_key_place(dir, c, child, text, err);
}

static int context_state_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	struct scratch_info scratch;
	struct stat owner = { 0 };
	int r;

	if (scratch_find(dir->fs, view_scratch_dir(dir), name, &scratch)) {
		scratch_unlink(dir->fs, scratch.number);
		return 0;
	}
	owners_apply(dir, &owner); /* only the owner of the directory may remove names */
	r = state_key_of_name(name, &key, err);
	if (r == 0)
		r = may_change(dir, buf_span(&key), owner.st_uid, err);
	return r < 0 ? r : delete_key(dir, buf_span(&key), err);
}

/* Append the text of a value or a scratch file. */
static int view_text_of(const struct place *at, struct buf *text, struct err *err)
{
	if (at->type == context_state_members)
		return read_key(at, text, err);
	return scratch_text(at->fs, at->item, STATE_VALUE_MAX + 1, text, err);
}

/* A rename onto the name of a key sets the key's value. */
static int rename_to_view_key(const struct place *from, const struct place *dir,
			      const char *new_name, uid_t caller, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf key = { 0 };
	int r = new_view_key(new_name, &key, err);

	if (r == 0)
		r = view_text_of(from, &text, err);
	if (r == 0)
		r = state_check_moved(buf_span(&text), err);
	return r < 0 ? r : set_key(dir, buf_span(&key), buf_span(&text), caller, err);
}

/* A value that is renamed to a name that is not a key's becomes a scratch file. */
static int rename_view_to_scratch(const struct place *from, const struct place *dir,
				  const char *new_name, const struct node_new *by, struct err *err)
{
	CLEANUP(context_leave_p) struct context *c = NULL;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct scratch_info info = new_view_scratch(dir, new_name);
	int r = view_text_of(from, &text, err);

	buf_char(&text, '\n');
	if (r == 0)
		r = context_of(dir, &c, err);
	return r < 0 ? r : scratch_replace(dir->fs, &info, by, buf_span(&text), err);
}

/* Returns 0; 1: the new name has another object than the old one had; -errno. */
static int rename_in_view(const struct place *from, const struct place *dir, const char *new_name,
			  const struct node_new *by, struct err *err)
{
	bool was_key = from->type == context_state_members;
	struct place at = *from;
	int r;

	if (!was_key && state_is_scratch_name(new_name)) {
		scratch_move(from->fs, from->item, view_scratch_dir(dir), new_name);
		at.name = new_name;
		return inode_move(&from->fs->inodes, &at, inode_number(dir), new_name);
	}
	r = state_is_scratch_name(new_name) ? rename_view_to_scratch(from, dir, new_name, by, err)
					    : rename_to_view_key(from, dir, new_name, by->uid, err);
	if (r == 0 && was_key)
		r = delete_key(from, span_of(from->name), err);
	else if (r == 0)
		scratch_unlink(from->fs, from->item);
	return r < 0 ? r : 1;
}

static int context_state_rename(const struct node_rename *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf other = { 0 };
	struct place from = *rn->dir;
	struct place found = *rn->new_dir;
	int r = context_state_find(rn->dir, rn->name, &from, &text, err);

	if (r < 0)
		return r;
	if (rn->dir->parent != rn->new_dir->parent)
		return err_set(err, -EXDEV, "a state value of another program can only be copied");
	if (rn->must_be_new &&
	    context_state_find(rn->new_dir, rn->new_name, &found, &other, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", rn->new_name);
	if (!strcmp(rn->name, rn->new_name))
		return 0;
	return rename_in_view(&from, rn->new_dir, rn->new_name, &rn->by, err);
}

const struct dir_ops context_state_ops = {
	.list = context_state_list,
	.find = context_state_find,
	.create = context_state_create,
	.remove = context_state_remove,
	.rename = context_state_rename,
};
