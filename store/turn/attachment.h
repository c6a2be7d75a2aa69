/*
 * Attachments: files that ride along with the next message of a session.
 *
 * They are rows of the session, and the session's record counts them. The
 * transaction that makes a turn of the message takes them: their bytes are in
 * the user's event from then on, and nowhere else.
 */
#ifndef STORE_TURN_ATTACHMENT_H
#define STORE_TURN_ATTACHMENT_H

#include "store/json/message.h"
#include "store/session/session.h"

#define ATTACHMENTS_MAX       (MESSAGE_MAX / 4 * 3) /* bytes of all: base64 makes four of three */
#define ATTACHMENTS_COUNT_MAX 1000

struct attachment_info {
	uint64_t number; /* of the object */
	uint64_t size;
	uint64_t stamp; /* ns; of the last change */
	char name[256]; /* not encoded; what the model is told */
	char mime[128];
};

/* Describe an attachment, found by its name or by its number. -ENOENT. */
MUST_CHECK int attachment_find(struct store *st, struct ref session, const char *name,
			       struct attachment_info *out, struct err *err);
MUST_CHECK int attachment_stat(struct store *st, struct ref session, uint64_t number,
			       struct attachment_info *out, struct err *err);

/* In order of number, numbers above `after` only. Not 0 from fn ends it. */
typedef int attachment_fn(void *arg, const struct attachment_info *info);
MUST_CHECK int attachment_list(struct store *st, struct ref session, uint64_t after,
			       attachment_fn *fn, void *arg, struct err *err);

/* Append the bytes of an attachment. -ENOENT. */
MUST_CHECK int attachment_read(struct store *st, struct ref session, uint64_t number,
			       struct buf *out, struct err *err);

/*
 * Whether one of that name may have so many bytes. -EFBIG: all together would have too many;
 * -ENOSPC: there are too many; -ESTALE: the session is gone.
 */
MUST_CHECK int attachment_check(struct store *st, struct ref session, const char *name,
				uint64_t size, struct err *err);

/*
 * Put one there, or replace its bytes; the type is told from them and the name. number: what
 * a new one gets if nothing has it, of store_new_number(); 0: any. As attachment_check.
 */
MUST_CHECK int attachment_put(struct store *st, struct ref session, const char *name,
			      struct span bytes, uint64_t number, struct err *err);

/* -ENOENT. */
MUST_CHECK int attachment_remove(struct store *st, struct ref session, const char *name,
				 struct err *err);

struct attachment_rename {
	const char *name;
	const char *new_name;
	bool must_be_new; /* -EEXIST if an attachment has the new name; else that one is removed */
};

/* Rename an attachment; *out describes it afterwards. -ENOENT; -EEXIST. */
MUST_CHECK int attachment_rename(struct store *st, struct ref session,
				 const struct attachment_rename *rename,
				 struct attachment_info *out, struct err *err);

/*
 * For turn.c: all of a session as parts of a Content, in order of name, and the
 * transaction that takes them.
 */
struct attachments {
	struct content *parts; /* NULL: there are none */
	uint64_t stamp;
};
void attachments_release(struct attachments *a);
MUST_CHECK int attachments_collect(struct store *st, struct ref session, struct attachments *out,
				   struct err *err);
/* -ECANCELED: they are not what was collected any more. */
MUST_CHECK int attachments_take(struct session_tx *s, const struct attachments *a);

#endif
