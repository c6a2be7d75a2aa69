/*
 * What the files of the providers gemini and vertex_ai share. Nobody else
 * includes this.
 *
 *	gemini.c	      the request as a whole, and its tools
 *	where.c  where it goes, and who asks
 *	parts.c  its contents
 *	config.c what generate_content_config adds to it
 *	reply.c  the answer
 *	take.c   the parts in it
 *	error.c  errors of the service
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

/* What differs; the dialect of the provider. */
struct gemini_service {
	bool vertex;
	const char *base_setting; /* which holds the address, when it is not Google's */
	const char *version;      /* of the API, unless a setting says otherwise */
};

/* A request while it is written. */
struct gemini_encoder {
	const struct question *q;
	const struct model_provider *provider;
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

/* Whether there is what Google wants to know. -EACCES names the setting that is missing. */
MUST_CHECK int gemini_check_key(const struct gemini_encoder *e);

/* Whether a request for the Gemini API goes to Vertex AI, as Google's SDKs decide it. */
bool gemini_wants_vertex(const struct question *q);

/* Append the member "contents". -EINVAL names the part that cannot be sent; -ENOMEM. */
MUST_CHECK int gemini_contents(struct gemini_encoder *e);

/* Append what generate_content_config stands for. -EINVAL names what has no counterpart. */
MUST_CHECK int gemini_config(const struct gemini_encoder *e);

/* An object of the form {"error":{...}}: append its message. False: it says none. */
bool gemini_error_text(struct span object, struct buf *message);

/* One answer on its way. */
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

/* A token whose halves of characters are put together again; good until the next one. */
struct span gemini_mended(struct gemini_decoder *d, struct span token);

/* Take a part. -EPROTO: it is none that may be taken; -E2BIG; -ENOMEM without a text. */
MUST_CHECK int gemini_take_part(struct gemini_decoder *d, struct span object);

/* Another part begins, or none: what waits for half of a character waits no more. -ENOMEM. */
MUST_CHECK int gemini_end_text(struct gemini_decoder *d);

/* As struct model_provider wants them. */
bool gemini_error_message(struct span body, struct buf *message);
double gemini_wait_hint(struct span body);

void *gemini_decoder_new(void);
MUST_CHECK int gemini_decode(void *decoder, struct span event, struct model_reply *reply,
			     struct err *err);
MUST_CHECK int gemini_end(void *decoder, struct model_reply *reply, struct err *err);
void gemini_decoder_free(void *decoder);

#endif
