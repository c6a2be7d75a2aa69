/*
 * Decoding: what the decoders of all providers share.
 *
 * An event of a stream is JSON text. It is mended where a server cut characters
 * apart (syntax/surrogate.h), checked once, and read by tables (syntax/json_pick.h).
 */
#ifndef RUNNER_WIRE_DECODE_H
#define RUNNER_WIRE_DECODE_H

#include "runner/syntax/json_pick.h"
#include "runner/syntax/surrogate.h"
#include "runner/wire/reply.h"

/* Begins each decoder. All zero is the start. */
struct model_decode {
	struct model_reply *reply;
	struct err *err;
	struct buf text;   /* scratch: a decoded string */
	struct buf mended; /* scratch: an event without lone surrogates */
	bool marked;       /* the event at hand had lone surrogates */
};

void model_decode_release(struct model_decode *d);

/*
 * Begin with an event. *payload is its text, mended and checked: one JSON
 * object. Without a text: -EINVAL: not a JSON object; -ENODATA: cut off; -ENOMEM.
 */
MUST_CHECK int model_decode_begin(struct model_decode *d, struct span event,
				  struct model_reply *reply, struct err *err, struct span *payload);

/* Begin with an event that is a JSON object or a list. */
MUST_CHECK int model_decode_begin_any(struct model_decode *d, struct span event,
				      struct model_reply *reply, struct err *err,
				      struct span *payload);

/* Give an error of reading an event a sentence, unless it has one. Returns the error. */
int model_decode_failed(struct model_decode *d, int r, struct span event);

/* The stream ended before its end marker. -EPROTO. */
int model_decode_broke(struct err *err);

enum model_voice { MODEL_SPOKEN, MODEL_THOUGHT };

/* Hand on a string token as text; other tokens are passed over. -ENOMEM. */
MUST_CHECK int model_decode_text(struct model_decode *d, struct span token,
				 struct surrogate_joint *joint, enum model_voice voice);

/* The text is complete: hand on half a character that still waits. -ENOMEM. */
MUST_CHECK int model_decode_text_end(struct model_decode *d, struct surrogate_joint *joint,
				     enum model_voice voice);

/* Texts of a model: thoughts, content and refusals are separate streams. */
struct model_texts {
	struct surrogate_joint thought;
	struct surrogate_joint content;
	struct surrogate_joint refusal;
};

/* End all three streams. -ENOMEM. */
MUST_CHECK int model_decode_texts_end(struct model_decode *d, struct model_texts *texts);

/* Keep the model's version, the first that is not "". -ENOMEM. */
MUST_CHECK int model_decode_version(struct model_decode *d, struct span token);

/* Append the text of a string token that is not "". False: another token. */
bool model_decode_string(struct span token, struct buf *out);

/* The service reports an error; message NULL: the start of the payload is quoted. -EIO; -ENOMEM. */
int model_decode_error(struct model_decode *d, struct buf *message, struct span payload);

/* Whether the body of an error answer is a JSON object; *mended is its text, checked. */
bool model_error_object(struct span body, struct buf *mended);

/* Whether the body of an error answer is a JSON object or a list. */
bool model_error_json(struct span body, struct buf *mended);

/* How a provider says that it is done. */
struct model_finish {
	const char *word;      /* the provider's; NULL ends the table and fits any other word */
	const char *reason;    /* ADK's */
	const char *why_empty; /* said when no content came; NULL: that is no error */
};

/* Set the finish reason, and the error when there is no content. -ENOMEM. */
MUST_CHECK int model_decode_finish(struct model_decode *d, const struct model_finish *table,
				   struct span word);

#endif
