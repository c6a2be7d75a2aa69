/*
 * Shared by the files of the providers gemini and vertex_ai, which alone include
 * this.
 *
 *	gemini.c  a request as a whole, and its tools
 *	where.c   its address, and the headers that say who asks
 *	parts.c   its contents
 *	config.c  what generate_content_config adds
 *	reply.c   the answer
 *	take.c    the parts of an answer
 *	error.c   errors of the service
 *
 * Both speak the same protocol. The Gemini API has a key and a flat list of
 * models; Vertex AI has projects, places, access tokens, and a few members
 * more or less.
 */
#ifndef RUNNER_PROVIDER_GEMINI_GEMINI_H
#define RUNNER_PROVIDER_GEMINI_GEMINI_H

#include "runner/wire/decode.h"
#include "runner/wire/name.h"
#include "runner/wire/provider.h"

/* The dialect of the provider: how the two services differ. */
struct gemini_service {
	bool vertex;
	const char *base_setting; /* which holds the address, when it is not Google's */
	const char *version;      /* of the API, unless a setting says otherwise */
};

/* A request while it is written. */
struct gemini_encoder {
	const struct question *q;
	const struct gemini_service *service;
	struct buf *out;
	struct err *err;
	size_t message; /* index of the content at hand, for errors */
	bool signs;     /* the model wants a signature on calls */
};

extern const struct model_name_rule gemini_names;

extern const struct model_setting gemini_settings[];
extern const struct model_setting vertex_settings[];
extern const struct model_alias gemini_aliases[];
extern const struct model_alias vertex_aliases[];

/*
 * Write the address and the headers. -EINVAL names the setting, or the name of
 * the model, that is wrong; -ENOMEM.
 */
MUST_CHECK int gemini_where(const struct gemini_encoder *e, struct http_request *out);

/* Check that the settings for Google are there. -EACCES names the setting that is missing. */
MUST_CHECK int gemini_check_key(const struct gemini_encoder *e);

/* Whether a request for the Gemini API goes to Vertex AI, as Google's SDKs decide it. */
bool gemini_wants_vertex(const struct question *q);

/* Append the member "contents". -EINVAL names the part that cannot be sent; -ENOMEM. */
MUST_CHECK int gemini_contents(struct gemini_encoder *e);

/* Append what generate_content_config stands for. -EINVAL names what has no counterpart. */
MUST_CHECK int gemini_config(const struct gemini_encoder *e);

/* Append the message of an object {"error":{...}}. False: it has no message. */
bool gemini_error_text(struct span object, struct buf *message);

/* An answer on its way. */
struct gemini_decoder {
	struct model_decode base;
	struct model_reply whole; /* with calls, media and signatures, all in order */
	struct surrogate_joint joint;
	enum model_voice voice; /* of the text that the joint is for */
	size_t calls;
	struct buf finish;  /* the reason, also why a prompt was blocked */
	struct buf message; /* and what was said about it */
	struct buf scratch;
	bool finished;
	bool blocked;   /* the prompt was */
	bool no_memory; /* for a token: the answer fails */
};

/* A token with the halves of its characters joined; good until the next call. */
struct span gemini_mended(struct gemini_decoder *d, struct span token);

/* Add a part to the answer. -EPROTO: a part that is not allowed; -E2BIG; -ENOMEM without a text. */
MUST_CHECK int gemini_take_part(struct gemini_decoder *d, struct span object);

/* The text is complete: hand on half a character that still waits. -ENOMEM. */
MUST_CHECK int gemini_end_text(struct gemini_decoder *d);

/* For struct model_provider. */
bool gemini_error_message(struct span body, struct buf *message);
double gemini_wait_hint(struct span body);

extern const struct model_decoder gemini_decoder;

#endif
