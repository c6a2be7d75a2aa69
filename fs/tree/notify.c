/*
 * Notifying the kernel: see notify.h.
 */
#include "fs/tree/notify.h"

#include "base/clock.h"
#include "base/name.h"
#include "fs/kernel/ops.h"
#include "fs/names/artifacts.h"
#include "fs/names/memory.h"
#include "fs/tree/fs.h"
#include "fs/tree/ids.h"
#include "store/json/state_key.h"

#include <errno.h>
#include <stdlib.h>

#define SOON_NS (10 * (uint64_t)NSEC_PER_MSEC)

struct notify_item {
	struct notify_item *next;
	uint64_t parent;
	char name[256];  /* empty: the pages of the file `parent` */
	fence_fn *fence; /* set: no name, but somebody to tell */
	void *arg;
};

/* Attributes whose time is over: their attributes are dropped once more. */
static void drop_late(struct fs *fs)
{
	struct notify *n = &fs->notify;
	uint64_t due[NOTIFY_LATE_MAX];
	size_t count;
	size_t i;

	mutex_lock(&n->lock);
	count = n->late_count;
	memcpy(due, n->late, count * sizeof *due);
	n->late_count = 0;
	n->late_at = 0;
	mutex_unlock(&n->lock);
	for (i = 0; i < count; i++)
		notify_attributes(fs, due[i]);
}

static bool late_is_due_locked(const struct notify *n) REQUIRES(n->lock)
{
	return n->late_at && clock_monotonic() >= n->late_at;
}

/* What to do next; NULL: the end. What is late is seen to on the way. */
static struct notify_item *next_item(struct fs *fs)
{
	struct notify *n = &fs->notify;
	struct notify_item *item = NULL;
	bool due = true;

	while (due) {
		mutex_lock(&n->lock);
		while (!n->first && !n->stopping && !late_is_due_locked(n)) {
			if (n->late_at)
				(void)cond_wait_until(&n->wake, &n->lock, n->late_at);
			else
				cond_wait(&n->wake, &n->lock);
		}
		due = late_is_due_locked(n);
		item = n->first;
		mutex_unlock(&n->lock);
		if (due)
			drop_late(fs);
	}
	return item;
}

/* Have the attributes dropped some milliseconds from now. False: too much is waiting. */
static bool drop_later(struct fs *fs, uint64_t ino)
{
	struct notify *n = &fs->notify;
	bool is_first = false;
	bool taken = true;
	size_t i;

	mutex_lock(&n->lock);
	for (i = 0; i < n->late_count && n->late[i] != ino; i++)
		;
	if (i == NOTIFY_LATE_MAX) {
		taken = false;
	} else if (i == n->late_count) {
		n->late[n->late_count++] = ino;
		is_first = !n->late_at;
		if (is_first)
			n->late_at = clock_monotonic() + SOON_NS;
	}
	mutex_unlock(&n->lock);
	if (is_first)
		cond_wake_one(&n->wake);
	return taken;
}

/*
 * A lookup may have told attributes that the kernel has not taken in yet: it
 * knows nothing of the inode then, and will believe the old ones in a moment.
 */
static void drop_now(struct fs *fs, uint64_t ino)
{
	if (ops_drop_attributes(fs, ino) == -ENOENT && inode_asked(&fs->inodes, ino))
		(void)drop_later(fs, ino);
}

void notify_soon(struct fs *fs, uint64_t ino)
{
	bool at_once;

	if (!inode_may_notify(&fs->inodes, ino, clock_monotonic(), SOON_NS, &at_once))
		return; /* the kernel has none of its attributes */
	if (at_once || !drop_later(fs, ino))
		drop_now(fs, ino);
}

void notify_attributes(struct fs *fs, uint64_t ino)
{
	if (inode_changed(&fs->inodes, ino))
		drop_now(fs, ino);
}

/* Taken out only when it is through, so that a fence sees an empty queue rightly. */
static void remove_item(struct notify *n, struct notify_item *item)
{
	mutex_lock(&n->lock);
	n->first = item->next;
	if (!n->first)
		n->last = NULL;
	mutex_unlock(&n->lock);
	free(item);
}

static void *notify_thread(void *arg)
{
	struct fs *fs = arg;
	struct notify_item *item;

	while ((item = next_item(fs))) {
		if (item->fence)
			item->fence(item->arg);
		else if (!item->name[0])
			ops_drop_pages(fs, item->parent);
		else
			ops_drop_name(fs, item->parent, item->name);
		remove_item(&fs->notify, item);
	}
	return NULL;
}

int notify_start(struct fs *fs, struct err *err)
{
	struct notify *n = &fs->notify;
	int r;

	mutex_init(&n->lock);
	cond_init(&n->wake);
	r = -pthread_create(&n->thread, NULL, notify_thread, fs);
	n->started = r == 0;
	return r < 0 ? err_errno(err, r, "thread") : 0;
}

void notify_stop(struct fs *fs)
{
	struct notify *n = &fs->notify;

	if (!n->started)
		return;
	mutex_lock(&n->lock);
	n->stopping = true;
	mutex_unlock(&n->lock);
	cond_wake_all(&n->wake);
	(void)pthread_join(n->thread, NULL);
	cond_release(&n->wake);
	mutex_release(&n->lock);
	n->started = false;
}

static bool enqueue(struct notify *n, struct notify_item *item, bool only_behind_others)
{
	bool queued = false;

	mutex_lock(&n->lock);
	if (!n->stopping && (n->first || !only_behind_others)) {
		if (n->last)
			n->last->next = item;
		else
			n->first = item;
		n->last = item;
		queued = true;
	}
	mutex_unlock(&n->lock);
	if (queued)
		cond_wake_one(&n->wake);
	return queued;
}

void notify_name(struct fs *fs, uint64_t parent, const char *name)
{
	struct notify_item *item;

	if (!inode_is_held(&fs->inodes, parent))
		return;
	item = calloc(1, sizeof *item);
	if (!item)
		return; /* the name shows up when the kernel forgets by itself */
	item->parent = parent;
	(void)snprintf(item->name, sizeof item->name, "%s", name);
	if (!enqueue(&fs->notify, item, false))
		free(item);
}

void notify_pages(struct fs *fs, uint64_t ino)
{
	notify_name(fs, ino, "");
}

void notify_fence(struct fs *fs, fence_fn *fn, void *arg)
{
	struct notify_item *item = calloc(1, sizeof *item);

	if (item) {
		item->fence = fn;
		item->arg = arg;
		if (enqueue(&fs->notify, item, true))
			return;
		free(item);
	}
	fn(arg);
}

/* The file name of a state key in its own scope. */
static bool state_file_name(const char *key, char *out, size_t size)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	if (name_encode(span_of(key), NAME_PLAIN, &name, NULL) < 0)
		return false;
	return snprintf(out, size, "%.*s.json", (int)name.len, name.data) < (int)size;
}

/* What is rendered from the log and the turns. */
static void views_changed(struct fs *fs, uint64_t session)
{
	static const unsigned ids[] = { ID_TRANSCRIPT_MD, ID_TRANSCRIPT_HTML, ID_TRACE, ID_USAGE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		notify_attributes(fs, node_ino(session, ids[i]));
}

/* Of what shows something of the scopes above: whether that is artifacts, not state. */
static bool shows_artifacts(uint64_t ino)
{
	unsigned id = ino & 0xff;

	return id == ID_ARTIFACTS || id == ID_VERSIONS;
}

/* Everything of other sessions that shows a key of an app or a user. */
static void notify_showing(struct fs *fs, const struct change *c)
{
	CLEANUP(buf_release) struct buf held = { 0 };
	size_t i;

	inodes_showing(&fs->inodes, NODE_SHOWS_STATE, c->ref, &held);
	for (i = 0; i < held.len; i += sizeof(uint64_t)) {
		uint64_t ino;

		memcpy(&ino, held.data + i, sizeof ino);
		if (!shows_artifacts(ino))
			notify_attributes(fs, ino);
	}
}

static void state_changed(struct fs *fs, const struct change *c)
{
	uint64_t scope = ref_number(c->ref);
	uint64_t file = node_ino(c->item, ID_OBJECT);
	char name[300];

	/* The list of keys is as old as its names: permission checks of every open look at it. */
	if (c->kind != CHANGE_STATE)
		notify_attributes(fs, node_ino(scope, ID_STATE_DIR));
	notify_attributes(fs, node_ino(scope, ID_STATE_JSON));
	notify_attributes(fs, node_ino(scope, ID_SESSION_JSON));
	if (!c->ref.session) /* a session's own time moves with its log */
		notify_soon(fs, node_ino(scope, ID_OBJECT));
	if (c->kind == CHANGE_STATE_REMOVED) {
		inode_removed(&fs->inodes, file);
		inode_removed(&fs->inodes, node_ino(c->item, ID_OBJECT_LINK));
		notify_attributes(fs, node_ino(c->item, ID_OBJECT_LINK));
	}
	notify_attributes(fs, file);
	/* A name may be cached as missing, or stand for an inode that came to nothing. */
	if (c->kind == CHANGE_STATE_ADDED && !inode_is_held(&fs->inodes, file) &&
	    state_file_name(c->name, name, sizeof name))
		notify_name(fs, node_ino(scope, ID_STATE_DIR), name);
	if (!c->ref.session)
		notify_showing(fs, c);
}

/* The links that sessions have to an artifact of their user. */
static void notify_links(struct fs *fs, const struct change *c)
{
	CLEANUP(buf_release) struct buf held = { 0 };
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	bool has_left;
	size_t i;

	buf_printf(&id, "%s%s", statekey_prefix(SCOPE_USER), c->name);
	has_left = c->kind == CHANGE_ARTIFACT_MOVED &&
		   name_encode(buf_span(&id), NAME_HIDE_DOT, &name, NULL) == 0 && buf_cstr(&name);
	if (c->kind == CHANGE_ARTIFACT_ADDED)
		artifacts_link_moved(fs, c->ref, c->item, c->name);
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_REPLACED) {
		inode_removed(&fs->inodes, node_ino(c->item, ID_OBJECT_LINK));
		notify_attributes(fs, node_ino(c->item, ID_OBJECT_LINK));
	}
	inodes_showing(&fs->inodes, NODE_SHOWS_STATE, c->ref, &held);
	for (i = 0; i < held.len; i += sizeof(uint64_t)) {
		uint64_t ino;

		memcpy(&ino, held.data + i, sizeof ino);
		if (!shows_artifacts(ino))
			continue;
		notify_attributes(fs, ino);
		if (has_left)
			notify_name(fs, ino, name.data);
	}
}

static void artifact_changed(struct fs *fs, const struct change *c)
{
	bool top = c->parent == ref_number(c->ref);
	uint64_t file = node_ino(c->item, ID_OBJECT);
	uint64_t dir = node_ino(c->parent, top ? ID_ARTIFACTS : ID_OBJECT);
	uint64_t versions_dir = node_ino(c->parent, top ? ID_VERSIONS : ID_OBJECT_VERSIONS);
	uint64_t versions = node_ino(c->history, ID_OBJECT_VERSIONS);
	CLEANUP(buf_release) struct buf name = { 0 };

	notify_attributes(fs, dir);
	notify_attributes(fs, versions_dir);
	notify_attributes(fs, versions);
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_REPLACED)
		inode_removed(&fs->inodes, file);
	notify_attributes(fs, file);
	/* Where the time does not tell of a change, the kernel's pages go by a call. */
	if (c->kind == CHANGE_ARTIFACT && c->keeps_time)
		notify_pages(fs, file);
	if (top && !c->ref.session)
		notify_links(fs, c);
	if (name_encode(span_of(c->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return;
	if (c->kind == CHANGE_ARTIFACT_ADDED) {
		if (!inode_is_held(&fs->inodes, file))
			notify_name(fs, dir, name.data);
		notify_name(fs, versions_dir, name.data);
	}
	if (c->kind == CHANGE_ARTIFACT_REMOVED || c->kind == CHANGE_ARTIFACT_MOVED)
		inode_removed(&fs->inodes, versions);
}

static void version_changed(struct fs *fs, const struct change *c)
{
	uint64_t dir = node_ino(c->history, ID_OBJECT_VERSIONS);
	char name[32];

	inode_restored(&fs->inodes, dir); /* of a name that comes back */
	notify_attributes(fs, dir);
	notify_attributes(fs, node_ino(c->version_item, ID_OBJECT));
	notify_attributes(fs, node_ino(c->version_item, ID_OBJECT_JSON));
	if (c->kind == CHANGE_VERSION_REMOVED) {
		inode_removed(&fs->inodes, node_ino(c->version_item, ID_OBJECT));
		inode_removed(&fs->inodes, node_ino(c->version_item, ID_OBJECT_JSON));
	}
	if (c->kind != CHANGE_VERSION_ADDED)
		return;
	(void)snprintf(name, sizeof name, "%llu", (unsigned long long)c->turn_or_version);
	notify_name(fs, dir, name);
	(void)snprintf(name, sizeof name, "%llu.json", (unsigned long long)c->turn_or_version);
	notify_name(fs, dir, name);
}

/* The files of a turn, and those of the session that show the latest one. */
static void turn_changed(struct fs *fs, const struct change *c)
{
	static const unsigned of_session[] = { ID_OUTPUT, ID_STATUS, ID_WAIT };
	uint64_t session = c->ref.session;
	uint64_t dir = node_ino(session, ID_TURNS);
	char name[32];
	unsigned id;
	size_t i;

	views_changed(fs, session);
	for (i = 0; i < ARRAY_SIZE(of_session); i++)
		notify_attributes(fs, node_ino(session, of_session[i]));
	for (id = ID_OBJECT; id <= ID_TURN_LAST; id++)
		notify_attributes(fs, node_ino(c->item, id));
	if (c->kind != CHANGE_TURN_ADDED)
		return;
	notify_attributes(fs, dir);
	(void)snprintf(name, sizeof name, "%llu", (unsigned long long)c->turn_or_version);
	notify_name(fs, dir, name);
	if (c->turn_or_version == 1)
		notify_name(fs, dir, "latest");
}

/* A call began or ended; the turn's own change goes with it. */
static void call_changed(struct fs *fs, const struct change *c)
{
	unsigned id;

	for (id = ID_OBJECT; id <= ID_CALL_LAST; id++)
		notify_attributes(fs, node_ino(c->item, id));
	if (c->kind == CHANGE_CALL_ADDED)
		notify_name(fs, node_ino(c->parent, ID_TURN_CALLS), c->name);
}

/* A file that rides along with the next message; their list is as new as any of them. */
static void attachment_changed(struct fs *fs, const struct change *c)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	uint64_t dir = node_ino(c->ref.session, ID_ATTACHMENTS);
	uint64_t file = node_ino(c->item, ID_OBJECT);

	notify_attributes(fs, dir);
	if (c->kind == CHANGE_ATTACHMENT_REMOVED)
		inode_removed(&fs->inodes, file);
	else if (c->kind == CHANGE_ATTACHMENT_ADDED)
		inode_restored(&fs->inodes, file);
	notify_attributes(fs, file);
	if (c->kind == CHANGE_ATTACHMENT_ADDED && !inode_is_held(&fs->inodes, file) &&
	    name_encode(span_of(c->name), NAME_HIDE_DOT, &name, NULL) == 0 && buf_cstr(&name))
		notify_name(fs, dir, name.data);
}

static void scope_changed(struct fs *fs, const struct change *c)
{
	struct ref up = ref_parent(c->ref);
	uint64_t removed = node_ino(ref_number(c->ref), ID_OBJECT);

	notify_attributes(fs, node_ino(ref_number(up), ID_MEMBERS));
	notify_attributes(fs, node_ino(ref_number(up), ID_OBJECT));
	if (c->kind == CHANGE_SCOPE_REMOVED) {
		inode_removed(&fs->inodes, removed);
		notify_attributes(fs, removed);
		scratch_forget(fs, c->ref);
	}
}

static void log_changed(struct fs *fs, const struct change *c)
{
	uint64_t session = c->ref.session;

	notify_attributes(fs, node_ino(session, ID_EVENTS));
	notify_attributes(fs, node_ino(session, ID_SESSION_JSON));
	views_changed(fs, session);
	notify_soon(fs, node_ino(session, ID_OBJECT));
}

void notify_change(void *arg, const struct change *c)
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
		park_wake(&fs->park, c->ref.session);
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
		memory_notify(fs, c);
		break;
	}
}
