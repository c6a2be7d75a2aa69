/*
 * Nodes: what each name in the mount means.
 *
 * A directory is a table of node types. The row of a name has its mode, the
 * functions that read and write it, and the news that make it stale. The FUSE
 * operations (fs/kernel) know the tables and never a name, so a search for a
 * name in quotes finds its rows, and each row names its functions.
 */
#ifndef FS_TREE_NODE_H
#define FS_TREE_NODE_H

#include "base/buf.h"
#include "store/artifact/artifact.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct fs;
struct handle;
struct ctl_verb;
struct inode;
struct node_type;
struct text_rules;

/*
 * A place: one file or directory of the tree. Places are copied freely; `name` is
 * borrowed, from the inode or from the buf that tree_find() filled.
 */
struct place {
	struct fs *fs;
	const struct node_type *type;
	struct ref ref;      /* the scope that contains the place */
	uint64_t item;       /* number of the object; 0: the scope itself */
	uint64_t parent;     /* artifacts: number of the directory; calls: index in the turn */
	uint64_t n;          /* number of a turn or version */
	const char *name;    /* key, or ADK file name */
	struct inode *inode; /* NULL during a lookup */
};

/* A place in the directory dir, with its object and scope but another type. */
static inline struct place place_child(const struct place *dir, const struct node_type *type)
{
	struct place child = *dir;

	child.type = type;
	child.inode = NULL;
	return child;
}

/* Let child->name point at the content of `text`, which gets a NUL. Returns 0; -ENOMEM. */
MUST_CHECK int place_set_name(struct place *child, struct buf *text, struct err *err);

/* Copy a name to `text`, and let child->name point there. Returns 0; -ENOMEM. */
MUST_CHECK int place_copy_name(struct place *child, const char *name, struct buf *text,
			       struct err *err);

#define NODE_APPEND  UINT64_MAX /* as an offset: the end of the file */
#define NODE_MEASURE UINT64_MAX /* as a size: unknown until the text is rendered */

/* The attributes of a place that differ from object to object. */
struct node_stat {
	uint64_t size;
	uint64_t mtime;            /* ns; differs after every change */
	uint64_t ctime;            /* ns; 0: equal to mtime */
	struct artifact_attr attr; /* attributes that a user set, where the store keeps them */
	unsigned nlink;            /* 0: 1 for files, 2 for directories */
	bool is_unlinked;          /* nlink is 0 */
};

/* The caller that makes or changes a name, and the mode that the caller asks for. */
struct node_new {
	mode_t mode; /* permission bits after the umask */
	uid_t uid;
	gid_t gid;
};

/*
 * Set *attr to what the store keeps about a new file: its mode, and its owner unless the
 * caller is the daemon's user. (The map of owners decides who owns the daemon's files.)
 */
void node_attr_of_new(const struct node_new *by, struct artifact_attr *attr);

enum node_flag {
	/* The text has no time: it is rendered on request and cached for a moment. */
	NODE_VOLATILE = 1,
	NODE_SHOWS_ABOVE = 2, /* the text or list shows data of the scopes above */
	NODE_STREAM = 4,      /* reads may wait; the kernel caches nothing */
	NODE_UNLISTED = 8,    /* not in listings, so that rm -r and copies skip the name */
	NODE_DIRECT = 16,     /* the kernel caches no bytes of the file */
	NODE_PUBLIC = 32,     /* above the users: whoever may enter the mount may read the file */
	/* Others may pass, and may make the names that the map of owners gives them. */
	NODE_JOINABLE = 64,
	NODE_LAZY = 128, /* the size is expensive: listings and lookups leave it out */
	/* Names appear through calls that cannot wait for the kernel to drop them. */
	NODE_LATE = 256,
	NODE_SHOWS_MEMORY = 512, /* the text shows what is found in the user's memory */
	NODE_FRESH = 1024,       /* changes without news: the kernel caches nothing */
	NODE_SCRATCH = 2048,     /* not in the store: a rename saves the file, a close does not */
};

/*
 * News: the changes of the store that make the attributes of a row stale, and with them its
 * text or its list. Names that come and go are dropped one by one (names/changes.c).
 */
enum node_news {
	NEWS_LOG = 1,         /* an event was appended */
	NEWS_STATE = 2,       /* a value was set, made or removed */
	NEWS_STATE_NAMES = 4, /* a key was made or removed */
	NEWS_ARTIFACTS = 8,   /* an artifact of the user changed; the user's sessions link to it */
	NEWS_TURN = 16,       /* a turn was queued, began or ended */
	NEWS_TURN_NAMES = 32, /* a turn was made */
	NEWS_PROGRESS = 64,   /* a running turn made progress; reported late */
	NEWS_ATTACHMENTS = 128, /* an attachment was added, changed or removed */
	NEWS_MEMBERS = 256,     /* an app, a user or a session was made or removed */
	/* A session was remembered or forgotten, or more of its text can be found. */
	NEWS_MEMORY = 512,
};

/*
 * Receives the names of a directory. emit() gets each name with its cookie (readdir's d_off: the
 * next listing continues after it); st may be NULL. emit() returns 0, or 1 when the reply is full.
 */
struct lister {
	const struct place *dir; /* set by tree_list() */
	int (*emit)(struct lister *l, const char *name, const struct place *child, uint64_t cookie,
		    const struct node_stat *st);
};

/*
 * Emit a member of l->dir unless its name is hidden. cookie: above 0, and larger than those of the
 * members before; a later list() gets it as `after`. Returns 0; 1: the reply is full.
 */
int lister_emit(struct lister *l, const char *name, const struct place *child, uint64_t cookie,
		const struct node_stat *st);

/* The operations on an open file. Each open file description has its own h->state. */
struct file_ops {
	/* Check the open; may set h->state. Called for every open. */
	int (*open)(struct handle *h, struct err *err);
	/* Returns the number of bytes accepted, or -errno. offset may be NODE_APPEND. */
	ssize_t (*write)(struct handle *h, uint64_t offset, struct span data, struct err *err);
	/*
	 * A write may make names in other directories. The write is answered when the kernel
	 * has dropped these names. A write makes no names in the file's own directory: an
	 * unlink of the file holds that directory and waits for the write.
	 */
	bool makes_names;
	int (*truncate)(struct handle *h, uint64_t size, struct err *err);
	/* Called before truncate(2) by name: finish what earlier closes left to do. */
	int (*settle)(const struct inode *inode, struct err *err);
	/* fallocate(2); mode has the FALLOC_FL_ bits. */
	int (*allocate)(struct handle *h, int mode, uint64_t offset, uint64_t len, struct err *err);
	/* SEEK_DATA (data is true) or SEEK_HOLE. -ENXIO: nothing from the offset on. */
	int (*seek)(struct handle *h, uint64_t offset, bool data, uint64_t *out, struct err *err);
	/*
	 * Copy bytes between two handles whose files both have this function. Returns the number
	 * of bytes, fewer than len at the end of the source; or -errno.
	 */
	ssize_t (*copy)(struct handle *from, uint64_t offset, struct handle *to, uint64_t to_offset,
			uint64_t len, struct err *err);
	/* The size that the writer alone sees until its close. False: h has no private size. */
	bool (*draft_size)(struct handle *h, uint64_t *size);
	int (*flush)(struct handle *h, struct err *err);
	/* When this returns 0, bytes stored outside of the engine survive a power cut. */
	int (*sync)(struct handle *h, struct err *err);
	void (*release)(struct handle *h, struct err *err);
	/*
	 * The file was removed while h is open: the bytes that h wrote are discarded. Set for
	 * files that a close stores as a whole. Called with fs.handles_lock held; must not
	 * lock anything.
	 */
	void (*removed)(struct handle *h);
	/* Read of a stream: 0; -EAGAIN: park the read; 1: the end; another error ends the read. */
	int (*follow)(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		      struct err *err);
};

/* A rename: `name` of dir becomes `new_name` of new_dir. */
struct node_rename {
	const struct place *dir;
	const char *name;
	const struct place *new_dir;
	const char *new_name;
	bool must_be_new; /* -EEXIST: the new name is taken */
	struct node_new by;
};

/* The operations of a directory of objects. An operation that is not set gives EPERM. */
struct dir_ops {
	int (*list)(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
	int (*find)(const struct place *dir, const char *name, struct place *child,
		    struct buf *text, struct err *err);

	/* Make a file. The store gets it when it is written. */
	int (*create)(const struct place *dir, const char *name, const struct node_new *by,
		      struct place *child, struct buf *text, struct err *err);
	/* Make a symbolic link to target. */
	int (*link_to)(const struct place *dir, const char *name, const char *target,
		       struct err *err);
	/* Make a directory. */
	int (*make)(const struct place *dir, const char *name, const struct node_new *by,
		    struct err *err);
	int (*remove)(const struct place *dir, const char *name, struct err *err);
	int (*remove_dir)(const struct place *dir, const char *name, struct err *err);
	/*
	 * Rename. Both directories must have the same function (else EXDEV). Returns 0; 1: the
	 * new name now stands for another object, which must be looked up; -errno.
	 */
	int (*rename)(const struct node_rename *rn, struct err *err);
};

struct node_type {
	const char *name; /* NULL ends a table; for a type of members: the name in manuals */
	unsigned id;      /* part of the inode number, unique in its object; never changes */
	mode_t mode;
	unsigned flags;   /* of enum node_flag */
	unsigned news;    /* of enum node_news: the news that make the row stale */
	const char *help; /* the line in README.md; NULL: not listed there */

	/* A fixed directory has rows... */
	const struct node_type *entries;
	/* ...and a row may be missing for a while: 0: the row is there; -ENOENT. */
	int (*present)(const struct place *at);

	/*
	 * ...a directory of objects has members: `members` is a table of their types, from
	 * which list and find choose. list emits the members after the cookie `after`; 0: all.
	 */
	const struct node_type *members;
	const struct dir_ops *dir;

	/*
	 * Size and time. Directories need no size. If stat is unset or leaves the size
	 * NODE_MEASURE, the text is shown to learn its size.
	 */
	int (*stat)(const struct place *at, struct node_stat *st, struct err *err);

	/* Files: the whole text (show) or a range of it (read); symlinks: the target (link). */
	int (*show)(const struct place *at, struct buf *out, struct err *err);
	int (*read)(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		    struct err *err);
	int (*link)(const struct place *at, struct buf *out, struct err *err);
	/*
	 * Files that draft/draft.h serves: load the stored bytes. -ENOENT. If load is unset,
	 * the bytes are those of the artifact.
	 */
	int (*load)(const struct place *at, struct blob *blob, struct err *err);
	/*
	 * Whether the file is likely to grow while somebody reads it. Reads of such a file go
	 * around the page cache: between the moment when the kernel learns the new size and
	 * the moment when it drops the last page, a read would find zeros after the old end.
	 */
	bool (*grows)(const struct place *at);
	const struct file_ops *file;
	int (*open)(struct handle *h, struct err *err); /* instead of file->open */
	const struct text_rules *text; /* set where file is &text_ops (draft/text.h) */
	const struct ctl_verb *verbs;  /* set where file is &ctl_ops (names/ctl.h) */

	/* Set mode, owner or times. If set_attr is unset, such a call has no effect. */
	int (*set_attr)(const struct place *at, const struct artifact_attr *attr, struct err *err);
};

/* The operations of a directory; without any, all are unset. */
static inline const struct dir_ops *node_dir(const struct node_type *type)
{
	static const struct dir_ops no_ops;

	return type->dir ? type->dir : &no_ops;
}

/* The inode number of a row of an object: the low 8 bits are the row's id. */
static inline uint64_t node_ino(uint64_t object, unsigned id)
{
	return object << 8 | id;
}

#endif
