/*
 * Descriptions of artifacts, of directories of artifacts, and of versions.
 */
#ifndef STORE_ARTIFACT_INFO_H
#define STORE_ARTIFACT_INFO_H

#include "base/cc.h"

#include <stdbool.h>
#include <stdint.h>

/* Attributes of an artifact or a directory, as chmod, chown and utimensat set them. */
struct artifact_attr {
	unsigned has; /* enum attr_bit: which of them are set */
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	int64_t mtime; /* ns */
	int64_t atime;
};

enum attr_bit { ATTR_MODE = 1, ATTR_UID = 2, ATTR_GID = 4, ATTR_MTIME = 8, ATTR_ATIME = 16 };

/* Copy the attributes that `from` has. */
void attr_merge(struct artifact_attr *to, const struct artifact_attr *from);

/* An artifact or a directory of artifacts. */
struct artifact_info {
	uint64_t number;
	uint64_t history; /* the number that its versions are kept under; stays with the name */
	bool is_directory;
	char name[256];          /* the last component */
	char full_name[1024];    /* ADK's file name: components joined by '/' */
	uint64_t stamp;          /* ns; of the latest version, or of a directory's list */
	uint64_t changed;        /* ns; of the latest change of anything: ctime */
	int64_t created;         /* microseconds */
	uint64_t latest;         /* version; 0 for a directory, or when there is none to be seen */
	uint64_t highest;        /* ever given */
	uint64_t saved;          /* version that artifact_publish() made */
	uint64_t saved_number;   /* of its object */
	uint64_t tombstone;      /* version that hides the name; its older ones can be read */
	uint64_t size;           /* of the latest version */
	uint64_t versions_stamp; /* ns; of the list of versions */
	bool removed;            /* a directory that is kept for the numbers below it */
	struct artifact_attr attr;
};

struct version_info {
	uint64_t n;
	uint64_t number; /* of the object */
	uint64_t bulk;   /* all its bytes; 0: none, or it is mapped */
	uint64_t size;
	uint64_t stamp;
	int64_t created;
	bool is_mapped;    /* its bytes are in several bulks, or parts of them */
	bool is_tombstone; /* no bytes: it hides the name */
	bool is_typed;     /* mime was given, not guessed */
	char mime[128];
};

typedef int version_fn(void *arg, const struct version_info *info);

#endif
