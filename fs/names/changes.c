/*
 * Changes: see changes.h. The switch over the kinds of changes is at the end.
 */
#include "fs/names/changes.h"

#include "fs/draft/scratch.h"
#include "fs/names/artifacts.h"
#include "fs/names/calls.h"
#include "fs/names/scopes.h"
#include "fs/names/state.h"
#include "fs/names/turns.h"
#include "fs/names/versions.h"
#include "fs/tree/fs.h"

#include <stdio.h>

/* The row of a scope's directory. */
static const struct node_type *scope_row(struct ref ref)
{
	return ref.session ? &session_dir : ref.user ? &user_dir : ref.app ? &app_dir : &root_dir;
}

typedef void row_fn(struct notify *n, uint64_t ino);

/* Call fn for the inodes of an object's rows that the news make stale. */
static void each_stale(struct fs *fs, const struct node_type *rows, uint64_t object, unsigned news,
		       row_fn *fn)
{
	for (; rows && rows->name; rows++) {
		if (rows->news & news)
			fn(&fs->notify, node_ino(object, rows->id));
		each_stale(fs, rows->entries, object, news, fn);
	}
}

static void drop_in_scope(struct fs *fs, struct ref ref, unsigned news)
{
	each_stale(fs, scope_row(ref)->entries, ref_number(ref), news, notify_attributes);
}

/* Drop the attributes of an object and all of its rows. */
static void drop_object(struct fs *fs, const struct node_type *dir, uint64_t object)
{
	const struct node_type *row;

	notify_attributes(&fs->notify, node_ino(object, dir->id));
	for (row = dir->entries; row && row->name; row++)
		notify_attributes(&fs->notify, node_ino(object, row->id));
}

/* Note that the object of an inode was removed. */
static void drop_removed(struct fs *fs, uint64_t ino)
{
	inode_removed(&fs->inodes, ino);
	notify_attributes(&fs->notify, ino);
}

void changes_drop_name(struct fs *fs, uint64_t dir, const char *id, enum name_style style)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	if (name_encode(span_of(id), style, &name, NULL) == 0 && buf_cstr(&name))
		notify_name(&fs->notify, dir, name.data);
}

/*
 * Drop the attributes of inodes in the scopes below that show data of this scope; in those that
 * are directories also the name of `id`, unless `id` is NULL.
 */
static void drop_showing(struct fs *fs, enum node_flag flag, struct ref scope, unsigned news,
			 const char *id)
{
	CLEANUP(buf_release) struct buf held = { 0 };
	const uint64_t *ino;
	size_t n;
	size_t i;

	inodes_showing(&fs->inodes, flag, news, scope, &held);
	ino = BUF_LIST(uint64_t, &held, &n);
	for (i = 0; i < n; i++) {
		notify_attributes(&fs->notify, ino[i]);
		if (id)
			changes_drop_name(fs, ino[i], id, NAME_HIDE_DOT);
	}
}

static void scope_changed(struct fs *fs, const struct change *c)
{
	struct ref up = ref_parent(c->ref);

	drop_in_scope(fs, up, NEWS_MEMBERS);
	notify_attributes(&fs->notify, node_ino(ref_number(up), ID_OBJECT));
	if (c->kind == CHANGE_SCOPE_REMOVED) {
		drop_removed(fs, node_ino(ref_number(c->ref), ID_OBJECT));
		scratch_forget(fs, c->ref);
	}
}

static void log_changed(struct fs *fs, const struct change *c)
{
	drop_in_scope(fs, c->ref, NEWS_LOG);
	notify_soon(&fs->notify, node_ino(c->ref.session, ID_OBJECT));
}

static void state_changed(struct fs *fs, const struct change *c)
{
	unsigned news = c->kind == CHANGE_STATE ? NEWS_STATE : NEWS_STATE | NEWS_STATE_NAMES;
	uint64_t scope = ref_number(c->ref);
	uint64_t file = node_ino(c->item, ID_OBJECT);
	uint64_t link = node_ino(c->item, ID_OBJECT_LINK);
	CLEANUP(buf_release) struct buf name = { 0 };

	drop_in_scope(fs, c->ref, news);
	if (!c->ref.session) { /* a session's time is that of its log */
		notify_soon(&fs->notify, node_ino(scope, ID_OBJECT));
		notify_attributes(&fs->notify, link);
		drop_showing(fs, NODE_SHOWS_ABOVE, c->ref, news, NULL);
	}
	if (c->kind == CHANGE_STATE_REMOVED) {
		inode_removed(&fs->inodes, file);
		drop_removed(fs, link);
	}
	notify_attributes(&fs->notify, file);
	if (c->kind == CHANGE_STATE_ADDED && !inode_is_held(&fs->inodes, file) &&
	    state_name_of_key("", span_of(c->name), &name) == 0)
		notify_name(&fs->notify, node_ino(scope, ID_STATE_DIR), name.data);
}

/* Drop the links in sessions to an artifact of their user. */
static void artifact_links_changed(struct fs *fs, const struct change *c)
{
	CLEANUP(buf_release) struct buf id = { 0 };

	buf_printf(&id, "%s%s", ARTIFACTS_USER_PREFIX, c->name);
	if (c->kind == CHANGE_ARTIFACT_ADDED)
		artifacts_link_moved(fs, c->ref, c->item, c->name);
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_REPLACED)
		drop_removed(fs, node_ino(c->item, ID_OBJECT_LINK));
	drop_showing(fs, NODE_SHOWS_ABOVE, c->ref, NEWS_ARTIFACTS,
		     c->kind == CHANGE_ARTIFACT_MOVED ? buf_cstr(&id) : NULL);
}

static void artifact_changed(struct fs *fs, const struct change *c)
{
	bool top = c->parent == ref_number(c->ref);
	uint64_t file = node_ino(c->item, ID_OBJECT);
	uint64_t dir = node_ino(c->parent, top ? ID_ARTIFACTS : ID_OBJECT);
	uint64_t versions_dir = node_ino(c->parent, top ? ID_VERSIONS : ID_OBJECT_VERSIONS);
	uint64_t versions = node_ino(c->history, ID_OBJECT_VERSIONS);

	notify_attributes(&fs->notify, dir);
	notify_attributes(&fs->notify, versions_dir);
	notify_attributes(&fs->notify, versions);
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_REPLACED)
		inode_removed(&fs->inodes, file);
	notify_attributes(&fs->notify, file);
	if (c->kind == CHANGE_ARTIFACT &&
	    c->keeps_time) /* the time is the same, so the kernel cannot see the change */
		notify_pages(&fs->notify, file);
	if (top && !c->ref.session)
		artifact_links_changed(fs, c);
	if (c->kind == CHANGE_ARTIFACT_ADDED) {
		if (!inode_is_held(&fs->inodes, file))
			changes_drop_name(fs, dir, c->name, NAME_HIDE_DOT);
		changes_drop_name(fs, versions_dir, c->name, NAME_HIDE_DOT);
	}
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_MOVED)
		inode_removed(&fs->inodes, versions);
}

/* A version has two files: N has its bytes, N.json its description. */
static void version_changed(struct fs *fs, const struct change *c)
{
	static const unsigned ids[] = { ID_OBJECT, ID_OBJECT_JSON };
	uint64_t dir = node_ino(c->history, ID_OBJECT_VERSIONS);
	size_t i;

	inode_restored(&fs->inodes, dir); /* if the name of a removed artifact is used again */
	notify_attributes(&fs->notify, dir);
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		uint64_t ino = node_ino(c->version_item, ids[i]);
		char name[VERSIONS_NAME_SIZE];

		if (c->kind == CHANGE_VERSION_REMOVED)
			inode_removed(&fs->inodes, ino);
		notify_attributes(&fs->notify, ino);
		versions_file_name(c->version, ids[i] == ID_OBJECT_JSON, name);
		if (c->kind == CHANGE_VERSION_ADDED)
			notify_name(&fs->notify, dir, name);
	}
}

/* Drop the files of a turn, and the files of the session that show the latest turn. */
static void turn_changed(struct fs *fs, const struct change *c)
{
	bool added = c->kind == CHANGE_TURN_ADDED;
	uint64_t dir = node_ino(c->ref.session, ID_TURNS);
	const struct node_type *row;
	char name[32];

	drop_in_scope(fs, c->ref, added ? NEWS_TURN | NEWS_TURN_NAMES : NEWS_TURN);
	drop_object(fs, &turn_dir, c->item);
	if (added) {
		(void)snprintf(name, sizeof name, "%llu", (unsigned long long)c->turn);
		notify_name(&fs->notify, dir, name);
		for (row = turns_entries; row->name && c->turn == 1; row++)
			notify_name(&fs->notify, dir,
				    row->name); /* present from the first turn on */
	}
	park_wake(&fs->park, c->ref.session);
}

/* A call of a tool began or ended; the store reports the turn's change separately. */
static void call_changed(struct fs *fs, const struct change *c)
{
	drop_object(fs, &call_dir, c->item);
	if (c->kind == CHANGE_CALL_ADDED)
		notify_name(&fs->notify, node_ino(c->parent, ID_TURN_CALLS), c->name);
}

/* Drop a file of attachments/, and the directory, which is as new as its newest file. */
static void attachment_changed(struct fs *fs, const struct change *c)
{
	uint64_t file = node_ino(c->item, ID_OBJECT);

	drop_in_scope(fs, c->ref, NEWS_ATTACHMENTS);
	if (c->kind == CHANGE_ATTACHMENT_REMOVED)
		inode_removed(&fs->inodes, file);
	else if (c->kind == CHANGE_ATTACHMENT_ADDED)
		inode_restored(&fs->inodes, file);
	notify_attributes(&fs->notify, file);
	if (c->kind == CHANGE_ATTACHMENT_ADDED && !inode_is_held(&fs->inodes, file))
		changes_drop_name(fs, node_ino(c->ref.session, ID_ATTACHMENTS), c->name,
				  NAME_HIDE_DOT);
}

/* Drop a link to a remembered session, and the files that show matches in sessions. */
static void link_changed(struct fs *fs, const struct change *c)
{
	struct ref user = ref_parent(c->ref);

	if (c->kind != CHANGE_MEMORY)
		drop_in_scope(fs, user, NEWS_MEMORY);
	/* A link is added by symlink(2), so the kernel knows the name and holds the directory. */
	if (c->kind == CHANGE_MEMORY_REMOVED) {
		drop_removed(fs, node_ino(c->item, ID_OBJECT));
		changes_drop_name(fs, node_ino(c->ref.user, ID_MEMORY_SESSIONS), c->name,
				  NAME_PLAIN);
	}
	drop_showing(fs, NODE_SHOWS_MEMORY, user, NEWS_MEMORY, NULL);
}

void changes_progress(struct fs *fs, struct ref session, uint64_t turn_number)
{
	each_stale(fs, session_dir.entries, session.session, NEWS_PROGRESS, notify_soon);
	each_stale(fs, turn_dir.entries, turn_number, NEWS_PROGRESS, notify_soon);
	park_wake(&fs->park, session.session);
}

void changes_notify(void *arg, const struct change *c)
{
	struct fs *fs = arg;

	switch (c->kind) {
	case CHANGE_SCOPE_ADDED:
	case CHANGE_SCOPE_REMOVED:
		scope_changed(fs, c);
		break;
	case CHANGE_LOG:
		log_changed(fs, c);
		break;
	case CHANGE_STATE_ADDED:
	case CHANGE_STATE:
	case CHANGE_STATE_REMOVED:
		state_changed(fs, c);
		break;
	case CHANGE_ARTIFACT_ADDED:
	case CHANGE_ARTIFACT:
	case CHANGE_ARTIFACT_REMOVED:
	case CHANGE_ARTIFACT_REPLACED:
	case CHANGE_ARTIFACT_MOVED:
		artifact_changed(fs, c);
		break;
	case CHANGE_VERSION_ADDED:
	case CHANGE_VERSION:
	case CHANGE_VERSION_REMOVED:
		version_changed(fs, c);
		break;
	case CHANGE_TURN_ADDED:
	case CHANGE_TURN:
		turn_changed(fs, c);
		break;
	case CHANGE_CALL_ADDED:
	case CHANGE_CALL:
		call_changed(fs, c);
		break;
	case CHANGE_ATTACHMENT_ADDED:
	case CHANGE_ATTACHMENT:
	case CHANGE_ATTACHMENT_REMOVED:
		attachment_changed(fs, c);
		break;
	case CHANGE_MEMORY_ADDED:
	case CHANGE_MEMORY_REMOVED:
	case CHANGE_MEMORY:
		link_changed(fs, c);
		break;
	}
}
