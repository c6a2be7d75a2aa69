/*
 * Owners: see owners.h.
 */
#include "fs/tree/owners.h"

#include "base/clock.h"
#include "base/name.h"
#include "fs/tree/fs.h"
#include "store/json/state_key.h"
#include "store/session/scope.h"
#include "store/tx/record.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define CACHED_USERS 4096
#define RECORD_SIZE  16384 /* bytes of a line of the password or group database */

struct owner {
	uid_t uid;
	gid_t gid;
};

struct mapped {
	char *name; /* user id of ADK */
	struct owner owner;
};

/* The cached owner of a user, by the user's number. */
struct cached {
	uint64_t user; /* 0: free */
	uint64_t until;
	struct owner owner;
};

struct owners {
	/* fixed after the options are read */
	bool shared;
	bool system;
	struct owner daemon;
	struct mapped *list;
	size_t count;

	struct mutex lock;
	struct cached cache[CACHED_USERS] GUARDED_BY(lock);
};

int owners_new(struct owners **out, struct err *err)
{
	struct owners *o = calloc(1, sizeof *o);

	if (!o)
		return err_nomem(err);
	o->daemon = (struct owner){ getuid(), getgid() };
	mutex_init(&o->lock);
	*out = o;
	return 0;
}

void owners_free(struct owners *o)
{
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->count; i++)
		free(o->list[i].name);
	free(o->list);
	mutex_release(&o->lock);
	free(o);
}

void owners_share(struct owners *o)
{
	o->shared = true;
}

void owners_map_system(struct owners *o)
{
	o->system = true;
}

bool owners_shared(const struct owners *o)
{
	return o->shared;
}

bool owners_system(const struct owners *o)
{
	return o->system;
}

size_t owners_count(const struct owners *o)
{
	return o->count;
}

static bool has_map(const struct owners *o)
{
	return o->system || o->count;
}

int owners_check(const struct owners *o, struct err *err)
{
	if (has_map(o) && !o->shared)
		return err_set(err, -EINVAL, "--map-user and --map-users need -o allow_other");
	return 0;
}

/* Parse a number that can be an id. UINT32_MAX means "no id" to the system. */
static bool parse_id(const char *text, uint32_t *id)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end || errno || value >= UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

/* A login by name, or by number if by_name is NULL. 0; -ENOENT; -errno of the database. */
static int find_login(const char *by_name, uid_t by_uid, struct owner *out)
{
	char text[RECORD_SIZE];
	struct passwd record;
	struct passwd *found = NULL;
	int r = by_name ? getpwnam_r(by_name, &record, text, sizeof text, &found)
			: getpwuid_r(by_uid, &record, text, sizeof text, &found);

	if (found)
		*out = (struct owner){ found->pw_uid, found->pw_gid };
	else if (r == 0 || r == ENOENT || r == ESRCH || r == EBADF || r == EPERM)
		return -ENOENT;
	return -r;
}

static int parse_group(const char *text, gid_t *gid, struct err *err)
{
	char record_text[RECORD_SIZE];
	struct group record;
	struct group *found = NULL;

	if (parse_id(text, gid))
		return 0;
	(void)getgrnam_r(text, &record, record_text, sizeof record_text, &found);
	if (!found)
		return err_set(err, -EINVAL, "there is no group '%s'", text);
	*gid = found->gr_gid;
	return 0;
}

/* Parse "UID" or "UID:GID"; a login name may contain anything but a colon. */
static int parse_owner(char *text, struct owner *out, struct err *err)
{
	char *group = strchr(text, ':');
	bool is_number;
	int r;

	if (group)
		*group++ = 0;
	is_number = parse_id(text, &out->uid);
	r = find_login(is_number ? NULL : text, out->uid, out);
	if (r < 0 && !is_number)
		return err_set(err, -EINVAL, "there is no login '%s'", text);
	if (r < 0 && !group)
		return err_set(err, -EINVAL,
			       "user id %s is not in the user database: give its group id too",
			       text);
	return group ? parse_group(group, &out->gid, err) : 0;
}

static const struct mapped *find_mapped(const struct owners *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->count; i++) {
		if (!strcmp(o->list[i].name, name))
			return &o->list[i];
	}
	return NULL;
}

/* On success the map owns the name. */
static int add_mapped(struct owners *o, char *name, struct owner owner, struct err *err)
{
	struct mapped *list;

	if (find_mapped(o, name))
		return err_set(err, -EINVAL, "user '%s' is mapped twice", name);
	list = reallocarray(o->list, o->count + 1, sizeof *list);
	if (!list)
		return err_nomem(err);
	list[o->count++] = (struct mapped){ name, owner };
	o->list = list;
	return 0;
}

int owners_map(struct owners *o, const char *text, struct err *err)
{
	CLEANUP(buf_release) struct buf file_name = { 0 };
	const char *equals = strrchr(text, '='); /* an id may contain '=', a login cannot */
	char *copy = strdup(text);
	struct owner owner = { 0 };
	int r;

	if (!copy)
		return err_nomem(err);
	if (equals) {
		copy[equals - text] = 0;
		r = name_encode(span_of(copy), NAME_PLAIN, &file_name, err);
		if (r == 0)
			r = parse_owner(copy + (equals - text) + 1, &owner, err);
	} else {
		r = err_set(err, -EINVAL, "expected NAME=UID or NAME=UID:GID");
	}
	if (r == 0)
		r = add_mapped(o, copy, owner, err);
	if (r < 0)
		free(copy);
	return r == -ENOMEM || r == 0 ? r : -EINVAL;
}

/*
 * Whether an id may be looked up as a login. Names such as "+x", or names with a colon,
 * have a special meaning in databases of logins.
 */
static bool is_login_name(const char *id)
{
	const char *p;

	for (p = id; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || c == 0x7f || strchr(":/,\\\"'", c) || (p == id && strchr("+-~", c)))
			return false;
	}
	return true;
}

/* The owner by the map. 0; -ENOENT: not mapped; -errno of the database. May block. */
static int find_owner(const struct owners *o, const char *id, struct owner *out)
{
	const struct mapped *m = find_mapped(o, id);

	if (m) {
		*out = m->owner;
		return 0;
	}
	return o->system && is_login_name(id) ? find_login(id, 0, out) : -ENOENT;
}

static struct cached *slot_locked(struct owners *o, uint64_t user) REQUIRES(o->lock)
{
	return &o->cache[user % CACHED_USERS];
}

/* The cached owner. False: look the owner up again; *out has the old one, if there was one. */
static bool find_cached(struct owners *o, uint64_t user, struct owner *out)
{
	struct cached *k;
	bool fresh = false;

	mutex_lock(&o->lock);
	k = slot_locked(o, user);
	if (k->user == user) {
		*out = k->owner;
		fresh = clock_monotonic() < k->until;
	}
	mutex_unlock(&o->lock);
	return fresh;
}

static void cache_owner(struct owners *o, uint64_t user, struct owner owner)
{
	uint64_t until = UINT64_MAX;

	if (o->system)
		until = clock_monotonic() + OWNERS_SECONDS * (uint64_t)NSEC_PER_SEC;
	mutex_lock(&o->lock);
	*slot_locked(o, user) = (struct cached){ user, until, owner };
	mutex_unlock(&o->lock);
}

/* The owner of a scope's files. If the database of logins fails, the last answer counts. */
static struct owner owner_of(struct fs *fs, struct ref ref)
{
	struct owners *o = fs->owners;
	struct owner owner = o->daemon;
	struct scope_info info;
	int r;

	if (!ref.user || !has_map(o) || find_cached(o, ref.user, &owner))
		return owner;
	ref.session = 0;
	if (scope_stat(fs->store, ref, &info, NULL) < 0)
		return owner;
	r = find_owner(o, info.id, &owner);
	if (r == -ENOENT)
		owner = o->daemon;
	cache_owner(o, ref.user, owner);
	return owner;
}

bool owners_shut_out(struct fs *fs, struct ref ref)
{
	const struct owners *o = fs->owners;

	return o->daemon.uid && o->shared && owner_of(fs, ref).uid != o->daemon.uid;
}

bool owners_may_shut_out(const struct owners *o)
{
	size_t i;

	if (!o->daemon.uid || !o->shared)
		return false;
	for (i = 0; i < o->count; i++) {
		if (o->list[i].owner.uid != o->daemon.uid)
			return true;
	}
	return o->system;
}

void owners_apply(const struct place *at, struct stat *out)
{
	const struct owners *o = at->fs->owners;
	struct owner owner = owner_of(at->fs, at->ref);
	unsigned flags = at->type->flags;
	mode_t mode = out->st_mode;

	out->st_uid = owner.uid;
	out->st_gid = owner.gid;
	if (!o->shared || at->ref.user)
		return;
	if (flags & NODE_PUBLIC)
		mode |= (mode & 0500) >> 3 | (mode & 0500) >> 6;
	if (flags & NODE_JOINABLE)
		mode |= has_map(o) ? S_ISVTX | 0033 : 0011;
	out->st_mode = mode;
}

unsigned owners_timeout(const struct place *at)
{
	return at->ref.user && at->fs->owners->system ? OWNERS_SECONDS : 0;
}

static bool may_do_everything(const struct owners *o, uid_t caller)
{
	return !o->shared || caller == 0 || caller == o->daemon.uid;
}

int owners_may_join(const struct place *dir, const char *name, uid_t caller, struct err *err)
{
	struct owners *o = dir->fs->owners;
	CLEANUP(buf_release) struct buf id = { 0 };
	struct owner owner;

	if (!(dir->type->flags & NODE_JOINABLE) || may_do_everything(o, caller))
		return 0;
	if (name_decode(span_of(name), NAME_PLAIN, &id, NULL) == 0 && buf_cstr(&id) &&
	    !memchr(id.data, 0, id.len) && find_owner(o, id.data, &owner) == 0 &&
	    owner.uid == caller)
		return 0;
	return err_set(err, -EACCES, "the name %s does not belong to user %u", name,
		       (unsigned)caller);
}

int owners_may_write(struct fs *fs, struct ref ref, uid_t caller, struct err *err)
{
	if (may_do_everything(fs->owners, caller) || owner_of(fs, ref).uid == caller)
		return 0;
	return err_set(err, -EACCES, "user %u may not change data of the %s", (unsigned)caller,
		       ref.user ? "other user" : "app");
}

static int refuse_app(void *arg, struct span key, struct span value)
{
	struct span bare;

	(void)arg;
	(void)value;
	return statekey_scope(key, &bare) == SCOPE_APP;
}

int owners_may_set(struct fs *fs, struct ref session, struct span delta, uid_t caller,
		   struct err *err)
{
	struct ref app = { .app = session.app };
	int r;

	if (!delta.len || !session.session || may_do_everything(fs->owners, caller))
		return 0;
	r = json_each(delta, refuse_app, NULL);
	return r > 0 ? owners_may_write(fs, app, caller, err) : r;
}
