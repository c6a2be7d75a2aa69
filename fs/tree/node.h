/*
 * Nodes: what each name in the mount means.
 *
 * A directory is a table of node types. A row is all there is to say about a
 * name: its mode, and the functions behind reading and writing it. The FUSE
 * operations (ops*.c) know the tables and never a name, so that every name is
 * written once and a search for it ends at its code.
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

/* Where in the tree something is. Copied freely; the texts belong to the inode. */
struct place {
	struct fs *fs;
	const struct node_type *type;
	struct ref ref;      /* the scope it is in */
	uint64_t item;       /* number of the object, when it is not the scope itself */
	uint64_t parent;     /* artifacts: number of the directory; calls: place in the turn */
	uint64_t n;          /* of a turn or version */
	const char *name;    /* key, or ADK file name */
	struct inode *inode; /* NULL while it is only looked for */
};

#define NODE_APPEND  UINT64_MAX /* as an offset: where the file ends */
#define NODE_MEASURE UINT64_MAX /* as a size: show the text to learn it */

/* What getattr needs beyond the row. */
struct node_stat {
	uint64_t size;
	uint64_t mtime;            /* ns; differs after every change */
	uint64_t ctime;            /* ns; 0: as mtime */
	struct artifact_attr attr; /* what was set instead, in what keeps such things */
	unsigned nlink;            /* 0: 1 for files, 2 for directories */
	bool is_unlinked;          /* nlink is 0 */
};

/* Who makes or changes a name, and how. */
struct node_new {
	mode_t mode; /* permission bits, as the umask left them */
	uid_t uid;
	gid_t gid;
};

/*
 * What is kept of it: the mode; the owner too, if it is not the daemon's user, whose files
 * belong to whom the map of owners says.
 */
void node_attr_of_new(const struct node_new *by, struct artifact_attr *attr);

enum node_flag {
	NODE_VOLATILE = 1, /* text without a time of its own: rendered when asked, kept shortly */
	NODE_SHOWS_ABOVE = 2, /* its text or list shows something of the scopes above */
	NODE_STREAM = 4,      /* reads may wait; never cached */
	NODE_UNLISTED = 8,    /* there, but not in listings: rm -r and copies pass it by */
	NODE_DIRECT = 16,     /* the kernel keeps none of its bytes */
	NODE_PUBLIC = 32,     /* above the users: others may read it, if they may enter the mount */
	NODE_JOINABLE = 64,   /* others pass it, and make what the map of owners gives them */
	NODE_LAZY = 128,      /* its size costs: listings and lookups do not tell it */
	NODE_LATE = 256,      /* names appear by calls that cannot wait until the kernel was told */
	NODE_SHOWS_MEMORY = 512, /* its text shows what is found in its user's memory */
	NODE_SCRATCH =
		2048,      /* in no store: a close saves nothing, a rename makes something of it */
	NODE_FRESH = 1024, /* changes without news: the kernel keeps nothing, and asks each time */
};

/*
 * What may make a row stale: its attributes, and with them its text or its list. Names
 * that come and go are told one by one (names/changes.c).
 */
enum node_news {
	NEWS_LOG = 1,         /* an event was appended */
	NEWS_STATE = 2,       /* a value was set, made or removed */
	NEWS_STATE_NAMES = 4, /* a key came or went */
	NEWS_ARTIFACTS = 8,   /* an artifact of the user, which its sessions link to */
	NEWS_TURN = 16,       /* a turn was queued, began or ended */
	NEWS_TURN_NAMES = 32, /* a turn was made */
	NEWS_PROGRESS = 64,   /* a running turn said something; told late */
	NEWS_ATTACHMENTS = 128,
	NEWS_MEMBERS = 256, /* an app, a user or a session was made or removed */
	NEWS_MEMORY = 512,  /* a session is remembered or forgotten, or more of it is found */
};

/* A directory being listed: whoever lists it sets emit(), which returns 1 when the reply is full.
 */
struct lister {
	int (*emit)(struct lister *l, const char *name, const struct place *child, uint64_t cookie,
		    const struct node_stat *st);
};

static inline int lister_emit(struct lister *l, const char *name, const struct place *child,
			      uint64_t cookie, const struct node_stat *st)
{
	return l->emit(l, name, child, cookie, st);
}

/* How a file takes what is written to it; one state per open file description. */
struct file_ops {
	/* Checks, and may set h->state. Called for opens that write (streams: all). */
	int (*open)(struct handle *h, struct err *err);
	/* Bytes taken, or an error. offset may be NODE_APPEND. */
	ssize_t (*write)(struct handle *h, uint64_t offset, struct span data, struct err *err);
	/*
	 * A write may make names in other directories, and is answered when they are
	 * everywhere. Not in its own: who unlinks a file holds the directory and waits
	 * for the write.
	 */
	bool makes_names;
	int (*truncate)(struct handle *h, uint64_t size, struct err *err);
	/* Before truncate(2) by name: what earlier closes left to be done. */
	int (*settle)(const struct inode *inode, struct err *err);
	/* mode: of fallocate(2). */
	int (*allocate)(struct handle *h, int mode, uint64_t offset, uint64_t len, struct err *err);
	/* SEEK_DATA, SEEK_HOLE. -ENXIO. */
	int (*seek)(struct handle *h, uint64_t offset, bool data, uint64_t *out, struct err *err);
	/* Bytes copied from another handle with the same function; fewer at its end. */
	ssize_t (*copy)(struct handle *from, uint64_t offset, struct handle *to, uint64_t to_offset,
			uint64_t len, struct err *err);
	/* The size that who writes sees before it is anybody else's. False: there is none. */
	bool (*draft_size)(struct handle *h, uint64_t *size);
	int (*flush)(struct handle *h, struct err *err);
	/* Bytes that lie outside of the engine survive a power cut when this returns 0. */
	int (*sync)(struct handle *h, struct err *err);
	void (*release)(struct handle *h, struct err *err);
	/*
	 * The file was removed while h is open: nothing comes of what h wrote. Set for files
	 * that a close stores as a whole. Called under fs.handles_lock: takes no lock.
	 */
	void (*removed)(struct handle *h);
	/* A stream's read: 0; -EAGAIN: park; 1: the end; other errors end it. */
	int (*follow)(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		      struct err *err);
};

/* A name to change. */
struct node_rename {
	const struct place *dir;
	const char *name;
	const struct place *new_dir;
	const char *new_name;
	bool must_be_new; /* -EEXIST: the new name is taken */
	struct node_new by;
};

struct node_type {
	const char *name; /* NULL ends a table; of a member's type: what manuals call it */
	unsigned id;      /* in the inode number, unique in its object; never changes */
	mode_t mode;
	unsigned flags;   /* of enum node_flag */
	unsigned news;    /* of enum node_news: what makes it stale */
	const char *help; /* its line in README.md; NULL: not listed there */

	/* A fixed directory has rows... */
	const struct node_type *entries;
	/* ...of which one may be missing: 0 it is there, -ENOENT. */
	int (*present)(const struct place *at);

	/*
	 * ...a directory of objects has members: `members` is a table of the types that they
	 * may have, from which list and find choose. `after` is a cookie of theirs; 0: all.
	 */
	const struct node_type *members;
	int (*list)(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
	int (*find)(const struct place *dir, const char *name, struct place *child,
		    struct buf *text, struct err *err);

	/* Size and time. Without it a text is shown to learn its size. */
	int (*stat)(const struct place *at, struct node_stat *st, struct err *err);

	/* Files: the whole text, or a range of it, or a symlink's target. */
	int (*show)(const struct place *at, struct buf *out, struct err *err);
	int (*read)(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		    struct err *err);
	int (*link)(const struct place *at, struct buf *out, struct err *err);
	/* Files that draft/draft.h serves: the bytes that are stored; unset: the artifact's.
	 * -ENOENT. */
	int (*load)(const struct place *at, struct blob *blob, struct err *err);
	/*
	 * Whether the file may well grow while somebody reads it. Then reads go around the
	 * page cache: a page that the old end lies in could be read with zeros behind that
	 * end, between the kernel's learning of the new size and its dropping of the page.
	 */
	bool (*grows)(const struct place *at);
	const struct file_ops *file;
	const struct text_rules *text; /* for a file whose file is &text_ops (draft/text.h) */
	const struct ctl_verb *verbs;  /* for one whose file is &ctl_ops (names/ctl.h) */

	/* Mode, owner, times. Without it nothing happens. */
	int (*set_attr)(const struct place *at, const struct artifact_attr *attr, struct err *err);

	/* Directories: make a file (nothing is there before it is written), ... */
	int (*create)(const struct place *dir, const char *name, const struct node_new *by,
		      struct place *child, struct buf *text, struct err *err);
	/* ...make a link to what target says, ... */
	int (*link_to)(const struct place *dir, const char *name, const char *target,
		       struct err *err);
	/* ...make a directory, remove a member. Unset: EPERM. */
	int (*make)(const struct place *dir, const char *name, const struct node_new *by,
		    struct err *err);
	int (*remove)(const struct place *dir, const char *name, struct err *err);
	int (*remove_dir)(const struct place *dir, const char *name, struct err *err);
	/*
	 * Change a name, to one of a directory with the same function (else EXDEV). 1: what
	 * the new name stands for is another object now, to be looked up.
	 */
	int (*rename)(const struct node_rename *rn, struct err *err);
};

/* The inode number: 8 bits say which row of the object. */
static inline uint64_t node_ino(uint64_t object, unsigned id)
{
	return object << 8 | id;
}

#endif
