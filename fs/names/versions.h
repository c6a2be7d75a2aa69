/*
 * artifacts/.versions: all versions of all artifacts. For the contracts of the
 * functions see struct node_type.
 */
#ifndef FS_NAMES_VERSIONS_H
#define FS_NAMES_VERSIONS_H

#include "fs/tree/node.h"

/* The types of members: the versions of an artifact, or a directory of artifacts. */
enum versions_member { VERSIONS_NAME, VERSIONS_DIRECTORY };
extern const struct node_type versions_members[];

#define VERSIONS_NAME_SIZE 32

/* The file name of version n, or of its description if `about` is set. */
void versions_file_name(uint64_t n, bool about, char out[VERSIONS_NAME_SIZE]);

extern const struct dir_ops versions_ops;

#endif
