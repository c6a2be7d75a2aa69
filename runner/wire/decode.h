/*
 * Decoding: what the decoders of all providers share.
 *
 * An event of a stream is JSON text. Characters that a server cut apart are mended
 * (syntax/surrogate.h). The text is checked once and read by tables (syntax/json_pick.h).
 */
#ifndef RUNNER_WIRE_DECODE_H
#define RUNNER_WIRE_DECODE_H

#include "runner/syntax/json_pick.h"
#include "runner/syntax/surrogate.h"
#include "runner/wire/provider.h"

/* The decoder of one answer. A provider's own decoder begins with one of these. */
struct model_decode {
	const struct model_provider *provider;
	struct model_reply *reply; /* borrowed, and so is err */
	struct err *err;
	struct span event; /* as it came */
	struct buf text;   /* scratch: a decoded string */
	struct buf mended; /* scratch: an event without lone surrogates */
	bool marked;       /* the event had lone surrogates */
};

/* Make a provider's decoder. It puts the answer into a reply. NULL: no memory. */
struct model_decode *model_decode_new(const struct model_provider *provider,
				      struct model_reply *reply, struct err *err);
void model_decode_free(struct model_decode *d); /* NULL is fine */

/*
 * Decode an event. -EPROTO: the event is invalid or cut off; -ENOMEM; -EIO: the service
 * reports an error; another -errno of the provider. err has a sentence.
 */
MUST_CHECK int model_decode_event(struct model_decode *d, struct span event);

/* End the answer. -EPROTO: the end mark has not come, or a call is incomplete; -ENOMEM. */
MUST_CHECK int model_decode_end(struct model_decode *d);

/*
 * Begin to decode an event, in a provider's decode(). *payload is the text of the event,
 * mended and checked: one JSON value that begins with a character of `first`. Without a
 * sentence: -EINVAL: another text; -ENODATA: the text is cut off; -ENOMEM.
 */
MUST_CHECK int model_decode_begin(struct model_decode *d, struct span event, const char *first,
				  struct span *payload);

enum model_voice { MODEL_SPOKEN, MODEL_THOUGHT };

/* Add a string token to the reply as text; other tokens are ignored. -ENOMEM. */
MUST_CHECK int model_decode_text(struct model_decode *d, struct span token,
				 struct surrogate_joint *joint, enum model_voice voice);

/* The text is complete: add half a character that still waits for its other half. -ENOMEM. */
MUST_CHECK int model_decode_text_end(struct model_decode *d, struct surrogate_joint *joint,
				     enum model_voice voice);

/* Thoughts, content and refusals are separate streams of text. */
struct model_texts {
	struct surrogate_joint thought;
	struct surrogate_joint content;
	struct surrogate_joint refusal;
};

/* End all three streams. -ENOMEM. */
MUST_CHECK int model_decode_texts_end(struct model_decode *d, struct model_texts *texts);

/* Keep the first version of the model that is not "". -ENOMEM. */
MUST_CHECK int model_decode_version(struct model_decode *d, struct span token);

/* Append the text of a string token that is not "". False: another token, or no memory. */
bool model_decode_string(struct span token, struct buf *out);

/* Report an error of the service. message NULL: quote the start of the payload. -EIO; -ENOMEM. */
int model_decode_error(struct model_decode *d, struct buf *message, struct span payload);

/*
 * Whether the body of an error answer is one JSON value that begins with a character of
 * `first`; *mended is its text, checked.
 */
bool model_error_json(struct span body, const char *first, struct buf *mended);

/* How a provider says that it is done. */
struct model_finish {
	const char *word;      /* the provider's; NULL: any other word, at the end of the table */
	const char *reason;    /* ADK's */
	const char *why_empty; /* the error when no content came; NULL: this is not an error */
};

/* Set the finish reason, and the error if there is no content. -ENOMEM. */
MUST_CHECK int model_decode_finish(struct model_decode *d, const struct model_finish *table,
				   struct span word);

#endif
