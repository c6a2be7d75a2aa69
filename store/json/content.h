/*
 * Content: what was said, as ADK has it: a role and parts.
 *
 * This is the one message type of the program. The runner builds provider
 * requests from it and makes events with it; the store keeps it as text.
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
	PART_OTHER,    /* anything else; kept in json, not looked at */
};

/* All texts are owned by the part and NULL when absent. */
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
	char *more;      /* RESPONSE: the whole part, when it has more than this; else NULL */
};

struct content {
	char *role; /* "user", "model"; NULL when absent */
	struct part *parts;
	size_t count;
	atomic_uint others; /* owners but one */
};

/* An empty content of that role; NULL when out of memory. */
struct content *content_new(const char *role);
void content_free(struct content *content);
DEFINE_CLEANUP(struct content, content_free);

/*
 * Another owner, who frees it too; the last one does. From then on nobody may change it.
 * Returns it. Any thread.
 */
struct content *content_ref(struct content *content);

/* Free what a part holds and make it an empty text. */
void part_release(struct part *p);

/* A copy of a part in place of an empty one. -ENOMEM: *to is still to be released. */
MUST_CHECK int part_copy(struct part *to, const struct part *from);

/* A new part at the end, owned by the content; NULL when out of memory. */
struct part *content_add(struct content *content, enum part_kind kind);

/* Add a text part; neighbours with the same thought flag are joined. -ENOMEM. */
MUST_CHECK int content_add_text(struct content *content, struct span text, bool thought);

/* Add a call or a response; json is an object. -ENOMEM. */
MUST_CHECK int content_add_function(struct content *content, enum part_kind kind, const char *id,
				    const char *name, struct span json);

/* A deep copy; NULL when out of memory. */
struct content *content_copy(const struct content *content);

/* Parse a Content in any accepted spelling. -EINVAL with a reason. */
MUST_CHECK int content_from_json(struct span text, struct content **out, struct err *err);

/* Parse the content of a stored line, which is canonical and not checked again. */
MUST_CHECK int content_from_stored(struct span canonical, struct content **out);

/* Append the canonical form. */
void content_to_json(const struct content *content, struct buf *out);

/* Append the text of all text parts that are not thoughts. */
void content_text(const struct content *content, struct buf *out);

/* Whether there is nothing in it but empty texts. */
bool content_is_empty(const struct content *content);

/* Whether a part of that kind is there. */
bool content_has(const struct content *content, enum part_kind kind);

#endif
