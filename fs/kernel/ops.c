/*
 * The connection to the kernel, and the table of FUSE operations: see ops.h.
 *
 * The operations know the node tables and never a name. Each operation finds the
 * place, calls a function of its row, and converts the result to a reply. An error
 * with a text is reported in the .errors of the place too. A request that cannot
 * be answered yet is parked.
 */
#include "fs/kernel/ops.h"

#include "fs/kernel/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define PARALLEL_DIROPS (1u << 18)
#define INIT_EXT        (1u << 30) /* flags2 is valid */
#define ALLOW_MMAP      (1u << 4)  /* in flags2: direct_io files may be mapped (since Linux 6.6) */
#define ALLOW_MMAP_FROM 39         /* minor version of the protocol that has ALLOW_MMAP */
#define MAX_BACKGROUND  64
#define CONGESTION      48
#define WRITE_MAX       (1u << 20)

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = { 0 };

	(void)ino;
	if (statvfs(store_folder(request_fs(req)->store), &st) < 0)
		(void)fuse_reply_err(req, errno);
	else
		(void)fuse_reply_statfs(req, &st);
}

/* The mount option max_read must be repeated in the INIT reply, or libfuse gives up. */
static unsigned max_read;
static const struct fuse_opt options_of_init[] = { { "max_read=%u", 0, 0 },
						   FUSE_OPT_KEY("max_read=", FUSE_OPT_KEY_KEEP),
						   FUSE_OPT_END };

static uint32_t init_extra; /* set by op_init(), before the reply goes out */
static atomic_bool init_sent;

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->max_write = WRITE_MAX;
	conn->max_read = max_read;
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = CONGESTION;
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_SPLICE_READ |
				  FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
				  FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_EXPLICIT_INVAL_DATA);
	/* libfuse before 3.17 accepts this flag, but does not send it to the kernel. */
	if (fuse_version() < 317 && (conn->capable & FUSE_CAP_PARALLEL_DIROPS))
		init_extra |= PARALLEL_DIROPS;
	request_maps_direct = conn->proto_minor >= ALLOW_MMAP_FROM;
}

/* The INIT reply: the first message that is written to the device. */
struct init_reply {
	uint32_t major, minor, max_readahead, flags;
	uint16_t max_background, congestion_threshold;
	uint32_t max_write, time_gran;
	uint16_t max_pages, map_alignment;
	uint32_t flags2; /* the later fields stay as they are */
};

static ssize_t device_writev(int fd, struct iovec *iov, int count, void *data)
{
	(void)data;
	if (!atomic_load(&init_sent) && count == 2 && iov[1].iov_len >= sizeof(struct init_reply)) {
		struct init_reply *reply = iov[1].iov_base;

		if (reply->major == 7) {
			reply->flags |= init_extra;
			if (request_maps_direct) {
				reply->flags |= INIT_EXT;
				reply->flags2 |= ALLOW_MMAP;
			}
			atomic_store(&init_sent, true);
		}
	}
	return writev(fd, iov, count);
}

static ssize_t device_read(int fd, void *data, size_t len, void *userdata)
{
	(void)userdata;
	return read(fd, data, len);
}

static const struct fuse_custom_io device_io = { .writev = device_writev, .read = device_read };

static const struct fuse_lowlevel_ops operations = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.statfs = op_statfs,
	.create = op_create,
	.poll = op_poll,
	.fallocate = op_fallocate,
	.lseek = op_lseek,
	.copy_file_range = op_copy_file_range,
};

static int add_arguments(struct fuse_args *args, const char *options)
{
	int r = fuse_opt_add_arg(args, "adkfs");

	r |= fuse_opt_add_arg(args, "-o");
	r |= fuse_opt_add_arg(args, "fsname=adkfs");
	if (options) {
		r |= fuse_opt_add_arg(args, "-o");
		r |= fuse_opt_add_arg(args, options);
	}
	r |= fuse_opt_add_arg(args, "-o"); /* last, so that these options win */
	r |= fuse_opt_add_arg(args, "subtype=adkfs,default_permissions,nosuid,nodev");
	return r < 0 ? -ENOMEM : 0;
}

/* The kernel holds the root without a lookup. */
static int enter_root(struct fs *fs, const struct node_type *row, struct err *err)
{
	struct place root = { .fs = fs, .type = row };

	return inode_enter(&fs->inodes, &root, 0, NULL) ? 0 : err_nomem(err);
}

int ops_mount(struct fs *fs, const struct node_type *root, struct err *err)
{
	const char *options = fs->fuse_options;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int r = add_arguments(&args, options);

	if (r == 0)
		r = enter_root(fs, root, err);
	if (r == 0) {
		if (fuse_opt_parse(&args, &max_read, options_of_init, NULL) == 0)
			fs->se = fuse_session_new(&args, &operations, sizeof operations, fs);
		if (!fs->se)
			r = err_set(err, -EINVAL, "invalid mount options: %s",
				    options ? options : "");
	}
	fuse_opt_free_args(&args);
	if (r < 0)
		return r;
	if (fuse_session_mount(fs->se, fs->mountpoint) != 0) {
		r = err_set(err, -EIO, "cannot mount at %s (see the lines above)", fs->mountpoint);
	} else {
		fs->is_mounted = true;
		r = fuse_session_custom_io(fs->se, &device_io, fuse_session_fd(fs->se));
		if (r < 0)
			(void)err_errno(err, r, "mounting %s", fs->mountpoint);
	}
	return r;
}

int ops_serve(struct fs *fs, struct err *err)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r;

	if (!config)
		return err_nomem(err);
	fuse_loop_cfg_set_max_threads(config, fs->threads);
	fuse_loop_cfg_set_clone_fd(config, 0);
	r = fuse_session_loop_mt(fs->se, config);
	fuse_loop_cfg_destroy(config);
	return r < 0 ? err_errno(err, r, "serving %s", fs->mountpoint) : 0;
}

void ops_exit(struct fs *fs)
{
	fuse_session_exit(fs->se);
}

void ops_unmount(struct fs *fs)
{
	if (!fs->se)
		return;
	if (fs->is_mounted)
		fuse_session_unmount(fs->se);
	fuse_session_destroy(fs->se);
	fs->se = NULL;
}

/* -ENOENT: the kernel does not hold the inode, or has not read the reply to its lookup yet. */
static int drop_attributes(void *arg, uint64_t ino)
{
	struct fs *fs = arg;

	return fuse_lowlevel_notify_inval_inode(fs->se, ino, -1, 0);
}

static void drop_pages(void *arg, uint64_t ino)
{
	struct fs *fs = arg;

	(void)fuse_lowlevel_notify_inval_inode(fs->se, ino, 0, 0);
}

static void drop_name(void *arg, uint64_t parent, const char *name)
{
	struct fs *fs = arg;

	(void)fuse_lowlevel_notify_inval_entry(fs->se, parent, name, strlen(name));
}

const struct notify_kernel ops_kernel = {
	.drop_attributes = drop_attributes,
	.drop_name = drop_name,
	.drop_pages = drop_pages,
};
