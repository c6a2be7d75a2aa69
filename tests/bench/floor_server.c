/*
 * The floor: a FUSE server that does nothing.
 *
 * It serves the tree of tree.h from static memory with the kernel settings of
 * adkfs: names and attributes cached for ever, absent names too, READDIRPLUS
 * always, no OPENDIR, pages kept. What is written is thrown away and its size
 * remembered. What a row costs here is the price of FUSE itself; what it costs
 * in adkfs beyond that is ours.
 *
 *	floor_server [-m MEMBERS] [-l LOG_BYTES] [-a ARTIFACT_BYTES] MOUNTPOINT
 *
 * Runs in the foreground until SIGTERM, then unmounts.
 */
#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include "base/cc.h"
#include "tests/bench/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	NODES_MAX = 128,
	NAME_LEN = 32,
	THREADS = 10,
	MEMBER_INO = 1 << 20, /* the inode of member 0 */
	PATTERN = 2 << 20,    /* twice the largest READ */
};

static const double FOR_EVER = 1e9;

/* How the kernel treats the pages of a file, told at each open. */
enum cache {
	CACHE_ALWAYS,  /* pages are kept */
	CACHE_READERS, /* writers have direct_io */
	CACHE_NEVER,   /* direct_io for all */
};

struct node {
	char name[NAME_LEN];
	fuse_ino_t parent;
	mode_t mode;
	enum cache cache;
	_Atomic off_t size;
	atomic_bool removed; /* by rmdir, until mkdir */
};

/* Fixed before the first request but for what is atomic. Node i is inode i + 1. */
static struct node nodes[NODES_MAX];
static unsigned node_count;
static fuse_ino_t many_ino;
static unsigned members = 100000;
static off_t log_bytes = 100000000;
static off_t artifact_bytes = 1 << 30;
static struct timespec started;

static char pattern[PATTERN];

/* Bits that libfuse before 3.17 forgets in the reply to INIT (see device_writev). */
static uint32_t init_extra;
static atomic_bool init_sent;

static struct node *node_at(fuse_ino_t ino)
{
	return ino && ino <= node_count ? &nodes[ino - 1] : NULL;
}

static void node_stat(fuse_ino_t ino, struct stat *st)
{
	struct node *n = node_at(ino);

	*st = (struct stat){
		.st_ino = ino,
		.st_mode = n ? n->mode : S_IFDIR | 0700,
		.st_nlink = 1,
		.st_uid = getuid(),
		.st_gid = getgid(),
		.st_size = n ? n->size : 0,
		.st_blocks = n ? (n->size + 511) / 512 : 0,
		.st_mtim = started,
		.st_ctim = started,
		.st_atim = started,
	};
}

/* An entry for the kernel to keep; ino 0 is the absence of the name. */
static void entry_fill(struct fuse_entry_param *e, fuse_ino_t ino)
{
	*e = (struct fuse_entry_param){
		.ino = ino,
		.attr_timeout = FOR_EVER,
		.entry_timeout = FOR_EVER,
	};
	if (ino)
		node_stat(ino, &e->attr);
}

static fuse_ino_t member_find(const char *name)
{
	char again[NAME_LEN];
	unsigned i;

	if (sscanf(name, TREE_MEMBER, &i) != 1 || i >= members)
		return 0;
	snprintf(again, sizeof(again), TREE_MEMBER, i);
	return strcmp(name, again) ? 0 : (fuse_ino_t)MEMBER_INO + i;
}

static fuse_ino_t node_find(fuse_ino_t parent, const char *name)
{
	if (parent == many_ino)
		return member_find(name);
	for (unsigned i = 1; i < node_count; i++)
		if (nodes[i].parent == parent && !strcmp(nodes[i].name, name))
			return i + 1;
	return 0;
}

static void floor_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	conn->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
	conn->max_background = 64;
	conn->congestion_threshold = 48;
	if (fuse_version() < 317 && (conn->capable & FUSE_CAP_PARALLEL_DIROPS))
		init_extra |= 1u << 18;
}

static void floor_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_ino_t ino = node_find(parent, name);
	struct node *n = node_at(ino);
	struct fuse_entry_param e;

	entry_fill(&e, n && n->removed ? 0 : ino);
	fuse_reply_entry(req, &e);
}

static void floor_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	(void)ino;
	(void)count;
	fuse_reply_none(req);
}

static void floor_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	(void)count;
	(void)forgets;
	fuse_reply_none(req);
}

static void floor_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	node_stat(ino, &st);
	fuse_reply_attr(req, &st, FOR_EVER);
}

static void floor_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
			  struct fuse_file_info *fi)
{
	struct node *n = node_at(ino);

	if (n && (set & FUSE_SET_ATTR_SIZE))
		n->size = st->st_size;
	floor_getattr(req, ino, fi);
}

/* A session can be removed and made again; it is the same one, and keeps what it holds. */
static int removed_set(fuse_ino_t parent, const char *name, bool removed)
{
	struct node *n = node_at(node_find(parent, name));

	if (!n)
		return EPERM;
	n->removed = removed;
	return 0;
}

static void floor_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	int error = removed_set(parent, name, false);

	(void)mode;
	if (error)
		fuse_reply_err(req, error);
	else
		floor_lookup(req, parent, name);
}

static void floor_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, removed_set(parent, name, true));
}

/* ENOSYS, once: the kernel opens directories alone from then on. */
static void floor_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

/* Add one entry; false when it does not fit. */
static bool listing_add(fuse_req_t req, char *buf, size_t size, size_t *used, const char *name,
			fuse_ino_t ino, off_t cookie)
{
	struct fuse_entry_param e;
	size_t need;

	entry_fill(&e, ino);
	need = fuse_add_direntry_plus(req, buf + *used, size - *used, name, &e, cookie);
	if (need > size - *used)
		return false;
	*used += need;
	return true;
}

static size_t members_list(fuse_req_t req, char *buf, size_t size, off_t cookie)
{
	char name[NAME_LEN];
	size_t used = 0;

	for (unsigned i = (unsigned)cookie; i < members; i++) {
		snprintf(name, sizeof(name), TREE_MEMBER, i);
		if (!listing_add(req, buf, size, &used, name, MEMBER_INO + i, i + 1))
			break;
	}
	return used;
}

static size_t nodes_list(fuse_req_t req, fuse_ino_t ino, char *buf, size_t size, off_t cookie)
{
	size_t used = 0;

	for (unsigned i = MAX((unsigned)cookie, 1); i < node_count; i++) {
		if (nodes[i].parent != ino)
			continue;
		if (!listing_add(req, buf, size, &used, nodes[i].name, i + 1, i + 1))
			break;
	}
	return used;
}

static void floor_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
			      struct fuse_file_info *fi)
{
	char *buf = malloc(size);
	size_t used;

	(void)fi;
	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (ino == many_ino)
		used = members_list(req, buf, size, cookie);
	else
		used = nodes_list(req, ino, buf, size, cookie);
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void floor_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *n = node_at(ino);
	bool writer = (fi->flags & O_ACCMODE) != O_RDONLY;

	if (!n) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	if (fi->flags & O_TRUNC)
		n->size = 0;
	fi->keep_cache = 1;
	fi->noflush = !writer;
	fi->direct_io = n->cache == CACHE_NEVER || (n->cache == CACHE_READERS && writer);
	fuse_reply_open(req, fi);
}

static void floor_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	off_t left = node_at(ino)->size - offset;

	(void)fi;
	size = MIN(size, PATTERN / 2);
	if (left <= 0)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, pattern + offset % (PATTERN / 2), MIN(size, (size_t)left));
}

static void floor_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
			struct fuse_file_info *fi)
{
	struct node *n = node_at(ino);
	off_t end = offset + (off_t)size;

	(void)data;
	if (fi->flags & O_APPEND)
		n->size += (off_t)size;
	else if (end > n->size)
		n->size = end;
	fuse_reply_write(req, size);
}

static void floor_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, 0);
}

static const struct fuse_lowlevel_ops ops = {
	.init = floor_init,
	.lookup = floor_lookup,
	.forget = floor_forget,
	.forget_multi = floor_forget_multi,
	.getattr = floor_getattr,
	.setattr = floor_setattr,
	.mkdir = floor_mkdir,
	.rmdir = floor_rmdir,
	.opendir = floor_opendir,
	.readdirplus = floor_readdirplus,
	.open = floor_open,
	.read = floor_read,
	.write = floor_write,
	.flush = floor_flush,
	.release = floor_flush,
};

/*
 * libfuse before 3.17 wants PARALLEL_DIROPS and never tells the kernel. The
 * reply to INIT is the first that is written, so the bit is put in here.
 */
struct init_reply {
	uint32_t major, minor, max_readahead, flags; /* the rest is not touched */
};

static ssize_t device_writev(int fd, struct iovec *iov, int count, void *data)
{
	(void)data;
	if (!init_sent && count == 2 && iov[1].iov_len >= 24) {
		struct init_reply *reply = iov[1].iov_base;

		if (reply->major == 7) {
			reply->flags |= init_extra;
			init_sent = true;
		}
	}
	return writev(fd, iov, count);
}

static ssize_t device_read(int fd, void *buf, size_t len, void *data)
{
	(void)data;
	return read(fd, buf, len);
}

static const struct fuse_custom_io device_io = { .writev = device_writev, .read = device_read };

/* The node of one name, made when it is new. Returns its inode. */
static fuse_ino_t node_make(fuse_ino_t parent, const char *name, size_t len)
{
	struct node *n = &nodes[node_count];
	fuse_ino_t ino;

	if (len >= NAME_LEN || node_count == NODES_MAX)
		abort();
	memcpy(n->name, name, len);
	n->name[len] = 0;
	ino = node_find(parent, n->name);
	if (ino)
		return ino;
	n->parent = parent;
	n->mode = S_IFDIR | 0700;
	return ++node_count;
}

static fuse_ino_t path_make(const char *path)
{
	fuse_ino_t ino = FUSE_ROOT_ID;

	while (*path) {
		size_t len = strcspn(path, "/");

		ino = node_make(ino, path, len);
		path += len + (path[len] == '/');
	}
	return ino;
}

static void file_make(const char *path, off_t size, enum cache cache)
{
	struct node *n = node_at(path_make(path));

	n->mode = S_IFREG | 0600;
	n->size = size;
	n->cache = cache;
}

/* The caches are those of adkfs, name by name. */
static void tree_make(void)
{
	char path[PATH_MAX];

	clock_gettime(CLOCK_REALTIME, &started);
	memset(pattern, 'x', sizeof(pattern));
	nodes[0].mode = S_IFDIR | 0700;
	node_count = 1;

	many_ino = path_make(TREE_MANY);
	file_make(TREE_STATE, VALUE_SIZE, CACHE_READERS);
	file_make(TREE_ARTIFACT, artifact_bytes, CACHE_ALWAYS);
	file_make(TREE_EVENTS, 0, CACHE_READERS);
	for (unsigned i = 0; i < CROWD; i++) {
		snprintf(path, sizeof(path), TREE_CROWD_EVENTS, i);
		file_make(path, 0, CACHE_READERS);
	}
	file_make(TREE_LOG, log_bytes, CACHE_READERS);
	file_make(TREE_INPUT, 0, CACHE_NEVER);
	file_make(TREE_OUTPUT, 16, CACHE_NEVER);
}

static int options_read(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "m:l:a:")) != -1) {
		if (c == 'm')
			members = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'l')
			log_bytes = strtoll(optarg, NULL, 10);
		else if (c == 'a')
			artifact_bytes = strtoll(optarg, NULL, 10);
		else
			return -EINVAL;
	}
	return optind == argc - 1 ? 0 : -EINVAL;
}

static int serve(struct fuse_session *se)
{
	struct fuse_loop_config *cfg = fuse_loop_cfg_create();
	int r;

	if (!cfg)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(cfg, THREADS);
	fuse_loop_cfg_set_clone_fd(cfg, 0);
	r = fuse_session_loop_mt(se, cfg);
	fuse_loop_cfg_destroy(cfg);
	return r;
}

static int mount_and_serve(struct fuse_session *se, const char *path)
{
	int r;

	if (fuse_set_signal_handlers(se))
		return -1;
	r = fuse_session_mount(se, path);
	if (r == 0) {
		r = fuse_session_custom_io(se, &device_io, fuse_session_fd(se));
		if (r == 0)
			r = serve(se);
		fuse_session_unmount(se);
	}
	fuse_remove_signal_handlers(se);
	return r;
}

int main(int argc, char **argv)
{
	char *words[] = { argv[0], (char *)"-ofsname=floor,subtype=floor,default_permissions" };
	struct fuse_args args = FUSE_ARGS_INIT(ARRAY_SIZE(words), words);
	struct fuse_session *se;
	char path[PATH_MAX];
	int r;

	if (options_read(argc, argv) < 0 || !realpath(argv[optind], path)) {
		fprintf(stderr, "usage: floor_server [-m MEMBERS] [-l LOG_BYTES] "
				"[-a ARTIFACT_BYTES] MOUNTPOINT\n");
		return 2;
	}
	tree_make();
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se)
		return 1;
	r = mount_and_serve(se, path);
	fuse_session_destroy(se);
	fuse_opt_free_args(&args);
	return r < 0;
}
