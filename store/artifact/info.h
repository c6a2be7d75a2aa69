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
	unsigned has; /* enum attr_bit: the members that are set */
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
	uint64_t history; /* number under which the versions are stored; stays with the name */
	bool is_directory;
	char name[256];          /* the last component */
	char full_name[1024];    /* ADK's file name: components joined by '/' */
	uint64_t stamp;          /* ns; the latest version, or change of a directory's list */
	uint64_t changed;        /* ns; the latest change of anything: ctime */
	int64_t created;         /* microseconds */
	uint64_t latest;         /* latest version; 0: a directory, or a hidden name */
	uint64_t highest;        /* highest version number ever used */
	uint64_t saved;          /* set by artifact_publish(): the version that it made */
	uint64_t saved_number;   /* set by artifact_publish(): number of that version's object */
	uint64_t tombstone;      /* version that hides the name; older ones can be read */
	uint64_t size;           /* size of the latest version */
	uint64_t versions_stamp; /* ns; the latest change of the list of versions */
	bool removed;            /* a deleted directory, whose version numbers stay used */
	struct artifact_attr attr;
};

struct version_info {
	uint64_t n;
	uint64_t number; /* number of the object */
	uint64_t bulk;   /* the bulk with all bytes; 0: no bytes, or they are in `pages` */
	uint64_t size;
	uint64_t stamp;
	int64_t created;
	uint64_t pages;    /* rows with extents, for bytes in several bulks or in parts of bulks */
	bool is_tombstone; /* hides the name, and has no bytes */
	bool is_typed;     /* the MIME type was set by hand, not guessed */
	char mime[128];
};

typedef int version_fn(void *arg, const struct version_info *info);

#endif
