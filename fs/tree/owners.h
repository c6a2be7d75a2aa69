/*
 * Owners: whose the files of a user of an app are, among the users of the host.
 *
 * On a mount that others may enter (-o allow_other) a map leads from user ids of
 * ADK to users of the host. What is not mapped belongs to the daemon's user. The
 * kernel checks owners and modes; what it cannot see, because one file writes to
 * several scopes, is asked here. Root and the daemon's user may do everything.
 */
#ifndef FS_TREE_OWNERS_H
#define FS_TREE_OWNERS_H

#include "fs/tree/node.h"

#define OWNERS_SECONDS 60 /* how long the answer about a login name is believed */

struct owners;

/* Nobody else may enter and nothing is mapped, until the calls below say so. */
MUST_CHECK int owners_new(struct owners **out, struct err *err);
void owners_free(struct owners *o);

/* Others may enter the mount. */
void owners_share(struct owners *o);

/*
 * Map a user: "NAME=UID" or "NAME=UID:GID"; login and group names may stand for
 * the numbers, and without a group it is the login's own. -EINVAL: another form,
 * an unknown login or group, or a name that is mapped already; -ENOMEM.
 */
MUST_CHECK int owners_map(struct owners *o, const char *text, struct err *err);

/* User ids that are not mapped are login names, if there is such a login. */
void owners_map_system(struct owners *o);

/*
 * Whether the daemon's user cannot enter by way of the mount what belongs to a scope's user, and
 * so neither can the programs of agents: the map gave it to another login, and the daemon is not
 * root. Any thread.
 */
bool owners_shut_out(struct fs *fs, struct ref ref);
/* Whether that may be so of anybody. */
bool owners_may_shut_out(const struct owners *o);

/* Whether it makes sense as a whole: a map needs a mount that others may enter. -EINVAL. */
MUST_CHECK int owners_check(const struct owners *o, struct err *err);

/* Members of config.json: how many are mapped, and whether login names count. */
bool owners_shared(const struct owners *o);
bool owners_system(const struct owners *o);
size_t owners_count(const struct owners *o);

/* Set the owner of a place, and give others what NODE_PUBLIC and NODE_JOINABLE say. Any thread. */
void owners_apply(const struct place *at, struct stat *out);

/* Seconds that the kernel may keep the owner of a place for; 0: for ever. */
unsigned owners_keep(const struct place *at);

/*
 * Whether the caller may make the member `name` of a directory. With NODE_JOINABLE it has
 * to be the user that the map gives this name to: 0; -EACCES.
 */
MUST_CHECK int owners_may_join(const struct place *dir, const char *name, uid_t caller,
			       struct err *err);

/* Whether the caller may change what belongs to a scope, beyond what the kernel saw. -EACCES. */
MUST_CHECK int owners_may_write(struct fs *fs, struct ref ref, uid_t caller, struct err *err);

/*
 * Whether the caller may set these keys, a checked JSON object (empty: none), through a
 * session: those of the app are for who may write there. -EACCES.
 */
MUST_CHECK int owners_may_set(struct fs *fs, struct ref session, struct span delta, uid_t caller,
			      struct err *err);

#endif
