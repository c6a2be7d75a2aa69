/*
 * Shared by the files of the providers gemini and vertex_ai. No other file includes this.
 *
 *	gemini.c  the request as a whole, and its tools
 *	where.c   its address and headers
 *	parts.c   its contents
 *	config.c  generate_content_config
 *	reply.c   the answer
 *	take.c    the parts of an answer
 *	error.c   errors of the service
 *
 * Both speak the same protocol. The Gemini API has a key and a flat list of models.
 * Vertex AI has projects, locations and access tokens, and a few other members.
 */
#ifndef RUNNER_PROVIDER_GEMINI_GEMINI_H
#define RUNNER_PROVIDER_GEMINI_GEMINI_H

#include "runner/wire/decode.h"
#include "runner/wire/name.h"
#include "runner/wire/provider.h"

/* The dialect of the provider: how the two services differ. */
struct gemini_service {
	bool vertex;
	const char *base_setting; /* holds an address other than Google's */
	const char *version;      /* of the API, unless a setting has another one */
};

/* A request while it is written. */
struct gemini_encoder {
	const struct question *q;
	const struct gemini_service *service;
	struct buf *out;
	struct err *err;
	size_t message; /* index of the content that is written, for errors */
	bool signs;     /* the model requires a signature on calls */
};

extern const struct model_name_rule gemini_names;

extern const struct model_setting gemini_settings[];
extern const struct model_setting vertex_settings[];
extern const struct model_alias gemini_aliases[];
extern const struct model_alias vertex_aliases[];

/*
 * Write the address and the headers. -EINVAL names the setting or the model name that is invalid;
 * -ENOMEM.
 */
MUST_CHECK int gemini_where(const struct gemini_encoder *e, struct http_request *out);

/* Check that the key, or the token and the project, are set. -EACCES names what is missing. */
MUST_CHECK int gemini_check_key(const struct gemini_encoder *e);

/* Whether a request for the Gemini API goes to Vertex AI, by the rules of Google's SDKs. */
bool gemini_wants_vertex(const struct question *q);

/* Append the member "contents". -EINVAL names the part that cannot be sent; -ENOMEM. */
MUST_CHECK int gemini_contents(struct gemini_encoder *e);

/* Append the members that follow from generate_content_config. -EINVAL; -ENOMEM. */
MUST_CHECK int gemini_config(const struct gemini_encoder *e);

/* Append the message of an object {"error":{...}}. False: it has no message. */
bool gemini_error_text(struct span object, struct buf *message);

/* The decoder of one answer. */
struct gemini_decoder {
	struct model_decode base;
	struct model_reply whole; /* with calls, media and signatures, all in order */
	struct surrogate_joint joint;
	enum model_voice voice; /* of the text that the joint belongs to */
	size_t calls;
	struct buf finish;  /* the finish reason, or why the prompt was blocked */
	struct buf message; /* the service's words about that */
	struct buf scratch;
	bool finished;
	bool blocked;   /* the service refused the prompt */
	bool no_memory; /* memory ran out, so the answer fails */
};

/* A token with the halves of its characters joined; valid until the next call. */
struct span gemini_mended(struct gemini_decoder *d, struct span token);

/* Add a part to the answer. -EPROTO: a part that is not allowed; -E2BIG; -ENOMEM without a text. */
MUST_CHECK int gemini_take_part(struct gemini_decoder *d, struct span object);

/* End the text: add half a character that still waits for its other half. -ENOMEM. */
MUST_CHECK int gemini_end_text(struct gemini_decoder *d);

/* For struct model_provider. */
bool gemini_error_message(struct span body, struct buf *message);
double gemini_wait_hint(struct span body);

extern const struct model_decoder gemini_decoder;

#endif
