/*
 * Attachments: files that go with the next message of a session.
 *
 * Attachments are rows of the session, and the session's record counts them. The transaction that
 * makes a turn from the message moves them into the user's event.
 */
#ifndef STORE_TURN_ATTACHMENT_H
#define STORE_TURN_ATTACHMENT_H

#include "store/json/message.h"
#include "store/session/session.h"

#define ATTACHMENTS_MAX       (MESSAGE_MAX / 4 * 3) /* bytes of all; base64 makes 4 bytes of 3 */
#define ATTACHMENTS_COUNT_MAX 1000

struct attachment_info {
	uint64_t number; /* number of the object */
	uint64_t size;
	uint64_t stamp; /* ns; the last change */
	char name[256]; /* not encoded; the model sees it */
	char mime[128];
};

/* Describe an attachment, found by its name or by its number. -ENOENT. */
MUST_CHECK int attachment_find(struct store *st, struct ref session, const char *name,
			       struct attachment_info *out, struct err *err);
MUST_CHECK int attachment_stat(struct store *st, struct ref session, uint64_t number,
			       struct attachment_info *out, struct err *err);

/* List the attachments in the order of their numbers, with numbers above `after` only. */
typedef int attachment_fn(void *arg, const struct attachment_info *info);
MUST_CHECK int attachment_list(struct store *st, struct ref session, uint64_t after,
			       attachment_fn *fn, void *arg, struct err *err);

/* Append the bytes of an attachment. -ENOENT. */
MUST_CHECK int attachment_read(struct store *st, struct ref session, uint64_t number,
			       struct buf *out, struct err *err);

/*
 * Whether an attachment of this name may have `size` bytes. -EFBIG: all attachments together
 * would be too large; -ENOSPC: there are too many; -ESTALE: the session is gone.
 */
MUST_CHECK int attachment_check(struct store *st, struct ref session, const char *name,
				uint64_t size, struct err *err);

/*
 * Add an attachment or replace its bytes, and guess its type from the bytes and the name. number:
 * the number for a new one, from store_new_number(); 0: any. Errors as for attachment_check().
 */
MUST_CHECK int attachment_put(struct store *st, struct ref session, const char *name,
			      struct span bytes, uint64_t number, struct err *err);

/* Remove an attachment. -ENOENT; -ESTALE. */
MUST_CHECK int attachment_remove(struct store *st, struct ref session, const char *name,
				 struct err *err);

struct attachment_rename {
	const char *name;
	const char *new_name;
	bool must_be_new; /* -EEXIST if an attachment has the new name; else that one is removed */
};

/* Rename an attachment; *out describes it afterwards. -ENOENT; -EEXIST; -ESTALE. */
MUST_CHECK int attachment_rename(struct store *st, struct ref session,
				 const struct attachment_rename *rename,
				 struct attachment_info *out, struct err *err);

/*
 * For turn.c: all attachments of a session as parts of a Content, in the order of their names.
 * attachments_take() removes the collected attachments in the transaction of the turn.
 */
struct attachments {
	struct content *parts; /* NULL: no attachments */
	uint64_t stamp;
};
void attachments_release(struct attachments *a);
MUST_CHECK int attachments_collect(struct store *st, struct ref session, struct attachments *out,
				   struct err *err);
/* -ECANCELED: the attachments have changed since they were collected. */
MUST_CHECK int attachments_take(struct session_tx *s, const struct attachments *a);

#endif
