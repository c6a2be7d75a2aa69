/*
 * Content: a message as ADK has it, which is a role and parts.
 *
 * The program has no other type for messages. The runner builds requests to providers from
 * contents and makes events with them; the store has them as JSON.
 */
#ifndef STORE_JSON_CONTENT_H
#define STORE_JSON_CONTENT_H

#include "store/json/shape.h"

#include <stdatomic.h>

enum part_kind {
	PART_TEXT,
	PART_CALL,     /* functionCall */
	PART_RESPONSE, /* functionResponse */
	PART_INLINE,   /* inlineData */
	PART_FILE,     /* fileData */
	PART_OTHER,    /* anything else, whole in `json` */
};

/* The part owns its texts. An absent text is NULL. */
struct part {
	enum part_kind kind;
	bool thought;
	struct buf text; /* TEXT: its bytes; INLINE: base64, URL-safe and padded */
	char *id;        /* CALL, RESPONSE */
	char *name;      /* CALL, RESPONSE; display name of INLINE and FILE */
	char *mime;      /* INLINE, FILE */
	char *uri;       /* FILE */
	char *signature; /* thoughtSignature, base64 */
	char *json;      /* CALL: args; RESPONSE: response; OTHER: the whole part */
	char *more;      /* RESPONSE: the whole part, if it has other members too; else NULL */
};

struct content {
	char *role; /* "user" or "model"; NULL if absent */
	struct part *parts;
	size_t count;
	atomic_uint others; /* number of owners, less one */
};

/* An empty content. role: copied; NULL for none. NULL: out of memory. */
struct content *content_new(const char *role);
void content_free(struct content *content);
DEFINE_CLEANUP(struct content, content_free);

/*
 * Add an owner and return the content. Each owner calls content_free(), and the last call frees
 * the content. A content with more than one owner must not change. Any thread.
 */
struct content *content_ref(struct content *content);

/* Free what a part holds and make it an empty text. */
void part_release(struct part *p);

/* Copy a part to *to, which holds nothing. -ENOMEM: release *to all the same. */
MUST_CHECK int part_copy(struct part *to, const struct part *from);

/* Add an empty part, which the content owns. NULL: out of memory. */
struct part *content_add(struct content *content, enum part_kind kind);

/* Add a text. It joins a text part before it that has the same thought flag. -ENOMEM. */
MUST_CHECK int content_add_text(struct content *content, struct span text, bool thought);

/* Add a call or a response. id: NULL for none; json: an object. All are copied. -ENOMEM. */
MUST_CHECK int content_add_function(struct content *content, enum part_kind kind, const char *id,
				    const char *name, struct span json);

/* A deep copy. NULL: out of memory. */
struct content *content_copy(const struct content *content);

/* Parse a Content in any accepted spelling. -EINVAL; -ENODATA: it ends early; -ENOMEM. */
MUST_CHECK int content_from_json(struct span text, struct content **out, struct err *err);

/* Parse the content of a stored line, which is canonical, without checking it again. -ENOMEM. */
MUST_CHECK int content_from_stored(struct span canonical, struct content **out);

/* Append the canonical JSON. */
void content_to_json(const struct content *content, struct buf *out);

/* Append the text of all text parts that are not thoughts. */
void content_text(const struct content *content, struct buf *out);

/* Whether a content has nothing but empty texts. */
bool content_is_empty(const struct content *content);

/* Whether a content has a part of that kind. */
bool content_has(const struct content *content, enum part_kind kind);

#endif
