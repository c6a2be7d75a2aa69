/*
 * artifacts/.versions: every version of every name.
 */
#ifndef FS_NAMES_VERSIONS_H
#define FS_NAMES_VERSIONS_H

#include "fs/tree/node.h"

/* What a member may be: the versions of a name, or a directory of names. */
enum versions_member { VERSIONS_NAME, VERSIONS_DIRECTORY };
extern const struct node_type versions_members[];

int versions_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int versions_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		  struct err *err);

#define VERSIONS_NAME_SIZE 32

/* The file name of version n; about: of what is known about it. */
void versions_file_name(uint64_t n, bool about, char out[VERSIONS_NAME_SIZE]);

#endif
