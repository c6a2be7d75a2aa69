/*
 * Providers of models: how a question becomes a request, and how the answer is read.
 *
 * An agent's `model` is "PROVIDER/NAME". A provider of an HTTP service only translates:
 * encode() makes one request, and its decoder reads the events of the answer.
 * model/ask.c owns the connection, retries, time limits and cancellation for all
 * providers. A provider that needs no network answers in generate(), or replays a
 * recorded answer.
 */
#ifndef RUNNER_WIRE_PROVIDER_H
#define RUNNER_WIRE_PROVIDER_H

#include "base/cancel.h"
#include "runner/settings/settings.h"
#include "runner/wire/reply.h"

#include <jansson.h>

struct http_request;

/* A function that the model may call. The texts are borrowed while the question lives. */
struct model_tool {
	const char *name;
	const char *description;
	const json_t *parameters; /* JSON Schema of an object; NULL: the tool takes nothing */
};

/* A question to a model. Everything is borrowed for the call. */
struct question {
	const struct model_provider *provider;
	const char *name;   /* the model, without the provider's prefix */
	const char *folder; /* the agent's folder, absolute; scripts and cassettes lie there */
	const struct settings *settings;
	const char *system; /* the system instruction; "" for none */
	struct content *const *contents;
	size_t count;
	const struct model_tool *tools;
	size_t tool_count;
	const json_t *config; /* generate_content_config in camelCase, or NULL */
};

enum model_framing { MODEL_SSE, MODEL_NDJSON };

/* A setting that a provider reads. */
struct model_setting {
	const char *name; /* NULL ends a table */
	enum {
		MODEL_PLAIN,  /* not a secret */
		MODEL_KEY,    /* a key that is sent; the first key with a value counts */
		MODEL_SECRET, /* another secret */
	} kind;
};

/* Another name of a setting in a provider's section of the settings file. */
struct model_alias {
	const char *member; /* NULL ends a table */
	const char *setting;
};

/* Receives one remark, a sentence for the user. A value other than 0 ends the review. */
typedef int model_review_fn(void *arg, const char *sentence);

/*
 * How the answers of a service are decoded. A decoder of one answer begins with a struct
 * model_decode (decode.h); all its other members start as zero.
 */
struct model_decoder {
	size_t size; /* of the decoder */

	/*
	 * Read an event of the stream. A body that is one JSON document instead of a stream
	 * comes as a single event. -EINVAL: not JSON of the right form; -ENODATA: cut off;
	 * -ENOMEM. The caller words these three; for any other error the decoder has set a
	 * sentence.
	 */
	int (*decode)(void *decoder, struct span event);

	/* The stream has ended; called once. -ENODATA: the end mark has not come; as decode(). */
	int (*end)(void *decoder);

	/* Free what the decoder's own members hold. */
	void (*release)(void *decoder);
};

struct model_provider {
	const char *name;             /* "openai" in "openai/gpt-5-mini" */
	const char *const *spellings; /* other prefixes, NULL at the end; NULL: none */
	const char *const *bare; /* how names without a prefix begin, NULL at the end; NULL: none */
	const char *section;     /* the provider whose settings it shares; NULL: it has its own */
	const void *dialect;     /* how this service differs, for a protocol of several services */
	bool is_file;            /* NAME is a file in the agent's folder */

	/* Answer without a network. Of the members below only review may be set then. */
	int (*generate)(const struct question *q, struct cancel *cancel, struct model_reply *reply,
			struct err *err);

	const struct model_setting *settings; /* all that the provider reads, besides setting.h */
	const struct model_alias *aliases;    /* NULL: none */
	enum model_framing framing;
	bool replays;           /* NAME is a cassette: recorded answers of another provider */
	bool schema_with_tools; /* an output schema and tools can be sent together */

	/* Make the request. -EINVAL names what cannot be sent; -ENOMEM without a text. */
	int (*encode)(const struct question *q, struct http_request *out, struct err *err);

	const struct model_decoder *decoder;

	/* Append the message in the body of an error answer. False: the body has none. */
	bool (*error_message)(struct span body, struct buf *message);

	/* Optional. How long the body of an error asks us to wait, in ms; below 0: unknown. */
	double (*wait_hint)(struct span body);

	/* Optional. The provider to ask instead, which the settings or the name decide. */
	const struct model_provider *(*instead)(const struct question *q);

	/*
	 * Optional. Check the tools and the config of a question (contents are not looked at):
	 * call fn for each part that the service will get in another form. Returns 0; -ENOMEM; what
	 * fn returned.
	 */
	int (*review)(const struct question *q, model_review_fn *fn, void *arg);
};

/*
 * The providers. Most have a folder of their name under provider/; vertex_ai is in
 * gemini/, responses and the services that speak OpenAI's protocol (dialects.c) are
 * in openai/, and replay is model/replay.c. Their table is in model/providers.c.
 */
extern const struct model_provider model_anthropic;
extern const struct model_provider model_azure;
extern const struct model_provider model_deepseek;
extern const struct model_provider model_fireworks_ai;
extern const struct model_provider model_gemini;
extern const struct model_provider model_groq;
extern const struct model_provider model_hosted_vllm;
extern const struct model_provider model_litellm_proxy;
extern const struct model_provider model_lm_studio;
extern const struct model_provider model_mistral;
extern const struct model_provider model_ollama;
extern const struct model_provider model_openai;
extern const struct model_provider model_openrouter;
extern const struct model_provider model_replay;
extern const struct model_provider model_responses;
extern const struct model_provider model_script;
extern const struct model_provider model_together_ai;
extern const struct model_provider model_vertex_ai;
extern const struct model_provider model_xai;

#endif
