/*
 * The tree: see tree.h.
 */
#include "fs/tree/tree.h"

#include "base/clock.h"
#include "base/name.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define VOLATILE_NS (200 * (uint64_t)NSEC_PER_MSEC)
#define HIDE_NS     (10 * (uint64_t)NSEC_PER_SEC)
#define HIDDEN_MAX  4096
#define MOVING_NS   (2 * (uint64_t)NSEC_PER_SEC)
#define BLOCK_BYTES 4096

/* The kernel's cookies of members are above this one; lower ones are rows. */
#define MEMBER_COOKIE 4096

/* Names that tree_hide() hides. A full table forgets the oldest. */
static struct {
	struct mutex lock;
	struct hidden {
		uint64_t dir;
		uint64_t until;
		uint64_t name;  /* hash */
		uint64_t stamp; /* when it was hidden */
	} names[HIDDEN_MAX];
	size_t next;
	size_t used;
} hidden = { .lock = MUTEX_INIT };

void tree_hide(const struct place *dir, const char *name)
{
	struct hidden row = { inode_number(dir), clock_monotonic() + HIDE_NS,
			      span_hash(span_of(name)), clock_stamp() };

	mutex_lock(&hidden.lock);
	hidden.names[hidden.next] = row;
	hidden.next = (hidden.next + 1) % HIDDEN_MAX;
	hidden.used = MIN(hidden.used + 1, HIDDEN_MAX);
	mutex_unlock(&hidden.lock);
}

bool tree_is_hidden(const struct place *dir, const char *name)
{
	uint64_t ino = inode_number(dir);
	uint64_t h = span_hash(span_of(name));
	bool found = false;
	uint64_t now;
	size_t i;

	mutex_lock(&hidden.lock);
	now = hidden.used ? clock_monotonic() : 0;
	for (i = 0; i < hidden.used && !found; i++)
		found = hidden.names[i].dir == ino && hidden.names[i].name == h &&
			hidden.names[i].until > now;
	if (!found && hidden.used &&
	    hidden.names[(hidden.next + HIDDEN_MAX - 1) % HIDDEN_MAX].until <= now)
		hidden.used = hidden.next = 0; /* the youngest has expired, so all have */
	mutex_unlock(&hidden.lock);
	return found;
}

/* The latest time at which a name of the directory was hidden or came back. */
static uint64_t hidden_stamp(uint64_t ino, bool *any)
{
	uint64_t latest = 0;
	uint64_t now;
	size_t i;

	*any = false;
	mutex_lock(&hidden.lock);
	now = hidden.used ? clock_monotonic() : 0;
	for (i = 0; i < hidden.used; i++) {
		bool over = hidden.names[i].until <= now;

		if (hidden.names[i].dir != ino)
			continue;
		*any |= !over;
		latest = MAX(latest, hidden.names[i].stamp + (over ? HIDE_NS : 0));
	}
	mutex_unlock(&hidden.lock);
	return latest;
}

bool tree_hides_names(uint64_t ino)
{
	bool any;

	(void)hidden_stamp(ino, &any);
	return any;
}

int place_set_name(struct place *child, struct buf *text, struct err *err)
{
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

int place_copy_name(struct place *child, const char *name, struct buf *text, struct err *err)
{
	buf_clear(text);
	buf_text(text, name);
	return place_set_name(child, text, err);
}

int tree_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
	      struct err *err)
{
	const struct node_type *row;

	if (strlen(name) > NAME_LEN_MAX) /* the kernel passes longer names on */
		return err_set(err, -ENAMETOOLONG, "the name is longer than %d bytes",
			       NAME_LEN_MAX);
	if (tree_is_hidden(dir, name))
		return err_set(err, -ENOENT, "%s was removed a moment ago", name);
	for (row = dir->type->entries; row && row->name; row++) {
		if (strcmp(row->name, name) != 0)
			continue;
		*child = place_child(dir, row);
		return row->present ? row->present(child) : 0;
	}
	if (!node_dir(dir->type)->find)
		return err_set(err, -ENOENT, "there is no %s here", name);
	*child = place_child(dir, NULL);
	return dir->type->dir->find(dir, name, child, text, err);
}

bool tree_is_moving(const struct place *at)
{
	struct node_stat st = { 0 };
	uint64_t now = (uint64_t)clock_now() * 1000;

	if (at->type->grows)
		return at->type->grows(at);
	if (!at->type->show || !at->type->stat || at->type->stat(at, &st, NULL) < 0)
		return false;
	return st.mtime + MOVING_NS > now;
}

bool tree_is_fleeting(const struct place *at)
{
	return at->type->present != NULL;
}

/* Show the text of a volatile file, and cache it for a moment. */
static int show_volatile_locked(struct inode *inode, struct err *err) REQUIRES(inode->shown_lock)
{
	uint64_t now = clock_monotonic();
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (inode->shown_at && now - inode->shown_at < VOLATILE_NS)
		return 0;
	r = inode_place(inode)->type->show(inode_place(inode), &text, err);
	if (r == 0)
		r = buf_check(&text, err);
	if (r < 0)
		return r;
	if (!inode->shown_at || !span_equal(buf_span(&text), buf_span(&inode->shown)))
		inode->shown_stamp = clock_stamp();
	buf_release(&inode->shown);
	inode->shown = text;
	text = (struct buf){ 0 };
	inode->shown_at = now;
	return 0;
}

static int stat_volatile(struct inode *inode, struct node_stat *st, struct err *err)
{
	int r;

	mutex_lock(&inode->shown_lock);
	r = show_volatile_locked(inode, err);
	st->size = inode->shown.len;
	st->mtime = inode->shown_stamp;
	mutex_unlock(&inode->shown_lock);
	return r;
}

int tree_read_volatile(struct inode *inode, uint64_t offset, size_t size, struct buf *out,
		       struct err *err)
{
	int r = 0;

	mutex_lock(&inode->shown_lock);
	if (!inode->shown_at)
		r = show_volatile_locked(inode, err);
	if (r == 0 && offset < inode->shown.len)
		buf_add(out, inode->shown.data + offset, MIN(size, inode->shown.len - offset));
	mutex_unlock(&inode->shown_lock);
	return r < 0 ? r : buf_check(out, err);
}

static int measure_text(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = 0;

	if (at->type->link)
		r = at->type->link(at, &text, err);
	else if (at->type->show)
		r = at->type->show(at, &text, err);
	st->size = text.len;
	return r;
}

static int describe_place(const struct place *at, struct node_stat *st, struct err *err)
{
	int r = 0;

	*st = (struct node_stat){ .size = NODE_MEASURE, .mtime = at->fs->mounted };
	if ((at->type->flags & NODE_VOLATILE) && at->inode)
		return stat_volatile(at->inode, st, err);
	if (at->type->stat)
		r = at->type->stat(at, st, err);
	if (r == 0 && st->size == NODE_MEASURE)
		r = measure_text(at, st, err);
	return r == -ENOENT ? -ESTALE : r;
}

static void put_time(struct timespec *ts, int64_t ns)
{
	int64_t sec = ns / NSEC_PER_SEC;
	int64_t rest = ns % NSEC_PER_SEC;

	ts->tv_sec = (time_t)(rest < 0 ? sec - 1 : sec);
	ts->tv_nsec = (long)(rest < 0 ? rest + NSEC_PER_SEC : rest);
}

static void put_times(const struct node_stat *st, struct stat *out)
{
	int64_t mtime = st->attr.has & ATTR_MTIME ? st->attr.mtime : (int64_t)st->mtime;

	put_time(&out->st_mtim, mtime);
	put_time(&out->st_atim, st->attr.has & ATTR_ATIME ? st->attr.atime : mtime);
	put_time(&out->st_ctim, (int64_t)MAX(st->ctime, st->mtime));
}

void node_attr_of_new(const struct node_new *by, struct artifact_attr *attr)
{
	*attr = (struct artifact_attr){ .has = ATTR_MODE, .mode = by->mode & 07777 };
	if (by->uid == getuid())
		return;
	attr->has |= ATTR_UID | ATTR_GID;
	attr->uid = by->uid;
	attr->gid = by->gid;
}

static void put_owner(const struct place *at, const struct node_stat *st, struct stat *out)
{
	if (st->attr.has & ATTR_MODE)
		out->st_mode = (at->type->mode & S_IFMT) | st->attr.mode;
	owners_apply(at, out);
	if (st->attr.has & ATTR_UID)
		out->st_uid = st->attr.uid;
	if (st->attr.has & ATTR_GID)
		out->st_gid = st->attr.gid;
}

bool tree_is_unlinked(const struct place *at)
{
	return at->inode && atomic_load(&at->inode->unlinked);
}

int tree_stat(const struct place *at, const struct node_stat *known, struct stat *out,
	      struct err *err)
{
	struct node_stat st;
	bool is_dir = S_ISDIR(at->type->mode);
	bool hides;
	int r = 0;

	if (at->inode)
		atomic_store(&at->inode->asked, true);
	if (known)
		st = *known;
	else
		r = describe_place(at, &st, err);
	if (r == -ESTALE && is_dir &&
	    tree_is_unlinked(at)) { /* the kernel still holds the directory */
		st = (struct node_stat){ .is_unlinked = true };
		r = 0;
	}
	if (r < 0)
		return r;
	if (is_dir)
		st.mtime = MAX(st.mtime, hidden_stamp(inode_number(at), &hides));
	*out = (struct stat){
		.st_ino = inode_number(at),
		.st_mode = at->type->mode,
		.st_nlink = st.is_unlinked ? 0
			    : st.nlink     ? st.nlink
			    : is_dir       ? 2
					   : 1,
		.st_size = is_dir ? 0 : (off_t)st.size,
		.st_blksize = BLOCK_BYTES,
	};
	put_owner(at, &st, out);
	out->st_blocks = (out->st_size + 511) / 512;
	put_times(&st, out);
	if (at->inode) /* a change may have cleared it, and the kernel is about to get these
			  attributes */
		atomic_store(&at->inode->asked, true);
	return 0;
}

int lister_emit(struct lister *l, const char *name, const struct place *child, uint64_t cookie,
		const struct node_stat *st)
{
	return tree_is_hidden(l->dir, name) ? 0
					    : l->emit(l, name, child, MEMBER_COOKIE + cookie, st);
}

int tree_list(const struct place *dir, uint64_t cookie, struct lister *l, struct err *err)
{
	const struct node_type *row;
	uint64_t i = 0;
	int r = 0;

	l->dir = dir;
	for (row = dir->type->entries; row && row->name && r == 0; row++, i++) {
		struct place child = place_child(dir, row);

		if (i < cookie || (row->flags & NODE_UNLISTED) || tree_is_hidden(dir, row->name) ||
		    (row->present && row->present(&child) < 0))
			continue;
		r = l->emit(l, row->name, &child, i + 1, NULL);
	}
	if (r == 0 && node_dir(dir->type)->list)
		r = dir->type->dir->list(dir, cookie > MEMBER_COOKIE ? cookie - MEMBER_COOKIE : 0,
					 l, err);
	return r < 0 ? r : 0;
}

const char *tree_row_name(const struct node_type *dir, unsigned id)
{
	const struct node_type *row = dir->entries;

	while (row->id != id)
		row++;
	return row->name;
}
