/*
 * Owners: which user of the host owns the files of an ADK user.
 *
 * On a mount that others may enter (-o allow_other) a map leads from user ids of
 * ADK to users of the host. Files of a user who is not mapped belong to the
 * daemon's user. The kernel checks owners and modes. The functions here check
 * what the kernel cannot see, because one file writes to several scopes. Root and
 * the daemon's user may do everything. All functions after owners_check() may be
 * called on any thread.
 */
#ifndef FS_TREE_OWNERS_H
#define FS_TREE_OWNERS_H

#include "fs/tree/node.h"

#define OWNERS_SECONDS 60 /* how long an answer about a login name is cached */

struct owners;

/* A new map: nobody else may enter and no user is mapped. Returns 0; -ENOMEM. */
MUST_CHECK int owners_new(struct owners **out, struct err *err);
void owners_free(struct owners *o);

/* Let others enter the mount. */
void owners_share(struct owners *o);

/*
 * Map a user: "NAME=UID" or "NAME=UID:GID". Login and group names may replace the
 * numbers; without a group, the login's own group counts. Returns 0; -EINVAL: another
 * form, an unknown login or group, or a name that is mapped already; -ENOMEM.
 */
MUST_CHECK int owners_map(struct owners *o, const char *text, struct err *err);

/* Map each other user id to the login of this name, if there is one. */
void owners_map_system(struct owners *o);

/*
 * Whether the daemon's user, and so the programs of agents, cannot enter the files of a scope's
 * user through the mount: the map gave them to another login, and the daemon is not root.
 */
bool owners_shut_out(struct fs *fs, struct ref ref);
/* Whether owners_shut_out() may be true for some user. */
bool owners_may_shut_out(const struct owners *o);

/* Check the options together. -EINVAL: a map needs a mount that others may enter. */
MUST_CHECK int owners_check(const struct owners *o, struct err *err);

/* For config.json: whether others may enter, whether login names count, how many are mapped. */
bool owners_shared(const struct owners *o);
bool owners_system(const struct owners *o);
size_t owners_count(const struct owners *o);

/* Set the owner of a place, and the mode bits that NODE_PUBLIC and NODE_JOINABLE give others. */
void owners_apply(const struct place *at, struct stat *out);

/* Seconds for which the kernel may cache the owner of a place; 0: for ever. */
unsigned owners_timeout(const struct place *at);

/*
 * Check that the caller may make the member `name` of a directory. In a NODE_JOINABLE
 * directory the map must give this name to the caller. Returns 0; -EACCES.
 */
MUST_CHECK int owners_may_join(const struct place *dir, const char *name, uid_t caller,
			       struct err *err);

/* Check that the caller may change a scope, where the kernel cannot. Returns 0; -EACCES. */
MUST_CHECK int owners_may_write(struct fs *fs, struct ref ref, uid_t caller, struct err *err);

/*
 * Check that the caller may set the keys of delta through a session: keys of the app need the
 * right to change the app. delta: a valid JSON object, or empty. Returns 0; -EACCES.
 */
MUST_CHECK int owners_may_set(struct fs *fs, struct ref session, struct span delta, uid_t caller,
			      struct err *err);

#endif
