/*
 * The answer of a model, while it is built.
 *
 * Decoders of providers and generate() call these functions as pieces arrive.
 * Each function that returns an int returns 0 or -ENOMEM, unless its comment
 * says more.
 */
#ifndef RUNNER_WIRE_REPLY_H
#define RUNNER_WIRE_REPLY_H

#include "store/json/content.h"

/* Members of the event that a few providers fill. */
enum model_extra {
	MODEL_GROUNDING,    /* groundingMetadata */
	MODEL_CITATIONS,    /* citationMetadata */
	MODEL_AVG_LOGPROBS, /* avgLogprobs */
	MODEL_LOGPROBS,     /* logprobsResult */
	MODEL_EXTRAS,
};

typedef void model_text_fn(void *arg, struct span text, bool thought);

/* The reply owns everything in it. The caller sets the callbacks; all else starts as zero. */
struct model_reply {
	model_text_fn *on_text;     /* called for every piece of text as it arrives */
	void (*on_lull)(void *arg); /* called when all arrived pieces are handled; may wait;
				     * may be NULL */
	void *arg;

	struct content *content; /* role "model": texts joined, calls in order; NULL: nothing yet */
	char *finish_reason;     /* ADK's word: STOP, MAX_TOKENS, ... */
	char *finish_word;       /* the provider's own word */
	char *model_version;
	const char *provider; /* the name of the service that answered; static; NULL: none */
	struct buf usage;     /* usageMetadata, canonical JSON; empty: the provider gave none */
	struct buf extras[MODEL_EXTRAS]; /* JSON; empty: absent */
	char *error_code;                /* why the provider ended without content */
	char *error_message;
};

void model_reply_release(struct model_reply *reply);

/* Add a piece of text to the last part of the same kind, and call on_text. */
MUST_CHECK int model_reply_text(struct model_reply *reply, struct span text, bool thought);

/*
 * Whether the call at part `at` of a content may keep an id: the id is not "",
 * not longer than the log takes (255 bytes), and no call before it has the same.
 * Servers and programs give one id to several calls, but a result finds its call
 * by the id. id may be NULL.
 */
bool model_call_keeps_id(const struct content *content, size_t at, const char *id);

/* Add a call. An id that the call cannot keep is left out. */
MUST_CHECK int model_reply_call(struct model_reply *reply, const char *id, const char *name,
				struct span args);

/* Add an empty text as a part of its own, which can hold a signature. */
MUST_CHECK int model_reply_empty(struct model_reply *reply);

/* Add inlineData of the model; base64 in any alphabet. -EINVAL: invalid base64. */
MUST_CHECK int model_reply_inline(struct model_reply *reply, const char *mime, struct span base64);

/* Add a part of another kind (executableCode, ...), JSON. -EINVAL: the JSON is not a part. */
MUST_CHECK int model_reply_part(struct model_reply *reply, struct span json);

/*
 * Sign the last part; without a part, add an empty text and sign that. Gemini
 * sends the base64 of a signature. Other providers send a text, whose bytes are
 * the signature.
 */
MUST_CHECK int model_reply_sign(struct model_reply *reply, struct span base64);
MUST_CHECK int model_reply_sign_text(struct model_reply *reply, struct span text);

/* Set a member of the event, JSON text; a later value wins. */
MUST_CHECK int model_reply_extra(struct model_reply *reply, enum model_extra which,
				 struct span json);

/* Set the finish reason, a copy of ADK's word, and the provider's word; a later value wins. */
MUST_CHECK int model_reply_finish(struct model_reply *reply, const char *reason);
MUST_CHECK int model_reply_finish_word(struct model_reply *reply, struct span word);

/* Set the error of an answer that ended without content; message may be NULL. */
MUST_CHECK int model_reply_error(struct model_reply *reply, const char *code, const char *message);

/* Tokens, as ADK counts them: the prompt with cached tokens, candidates without thoughts. */
enum model_count {
	MODEL_COUNT_CACHED,
	MODEL_COUNT_CANDIDATES,
	MODEL_COUNT_PROMPT,
	MODEL_COUNT_THOUGHTS,
	MODEL_COUNT_TOTAL,
	MODEL_COUNTS,
};

/* Set the usage from counts by enum model_count. A count below 0 is absent and not written. */
MUST_CHECK int model_reply_usage(struct model_reply *reply, const long long counts[MODEL_COUNTS]);

/* Set the usage from Gemini's usageMetadata, checked JSON. Members that ADK lacks are left out. */
MUST_CHECK int model_reply_usage_json(struct model_reply *reply, struct span json);

#endif
