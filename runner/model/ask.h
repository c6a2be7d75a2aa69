/*
 * Models: who answers, and how an answer arrives.
 *
 * An agent's `model` is "PROVIDER/NAME". A provider that is reached over HTTP
 * is a pure translator: encode() makes one request, decode() takes one stream
 * event at a time. ask.c owns the connection, retries, time limits and
 * cancellation, once for all of them. A provider that needs no network answers
 * by itself in generate().
 */
#ifndef RUNNER_MODEL_ASK_H
#define RUNNER_MODEL_ASK_H

#include "base/cancel.h"
#include "runner/settings/secrets.h"
#include "runner/settings/settings.h"
#include "store/json/content.h"

#include <jansson.h>

struct http_request;

/* A function that the model may call. Texts are borrowed for the request. */
struct model_tool {
	const char *name;
	const char *description;
	const json_t *parameters; /* JSON Schema of an object; NULL: takes nothing */
};

/* One question to a model. Everything is borrowed for the call. */
struct model_request {
	const struct model_provider *provider;
	const char *name;   /* of the model, behind the provider's prefix */
	const char *folder; /* the agent's folder, absolute; where script/<file> lies */
	const struct settings *settings;
	const char *system; /* the system instruction; "" for none */
	struct content *const *contents;
	size_t count;
	const struct model_tool *tools;
	size_t tool_count;
	const json_t *config; /* generate_content_config in camelCase, or NULL */
};

/* Members of the event that a few providers fill. */
enum model_extra {
	MODEL_GROUNDING,    /* groundingMetadata */
	MODEL_CITATIONS,    /* citationMetadata */
	MODEL_AVG_LOGPROBS, /* avgLogprobs */
	MODEL_LOGPROBS,     /* logprobsResult */
	MODEL_EXTRAS,
};

typedef void model_text_fn(void *arg, struct span text, bool thought);

/* The answer, as far as it has come. All owned; all zero but the callbacks at the start. */
struct model_reply {
	/* Called for every piece of text as it arrives; fixed by the caller. */
	model_text_fn *on_text;
	void (*on_lull)(void *arg); /* after the pieces that came together; may wait. NULL: none */
	void *arg;

	struct content *content; /* role "model": texts joined, calls in order; NULL: nothing yet */
	char *finish_reason;     /* ADK's word: STOP, MAX_TOKENS, ... */
	char *finish_word;       /* the provider's own */
	char *model_version;
	const char *provider; /* who answered over a network; static. NULL: nobody */
	struct buf usage;     /* usageMetadata, canonical JSON; empty: the provider gave none */
	struct buf extras[MODEL_EXTRAS]; /* JSON; empty: absent */
	char *error_code;                /* the provider ended with a reason in place of content */
	char *error_message;
};

void model_reply_release(struct model_reply *reply);

/* What decoders and generate() build the answer with. 0 or -ENOMEM. */
MUST_CHECK int model_reply_text(struct model_reply *reply, struct span text, bool thought);

/*
 * Whether a call that is the part `at` of a content may have that id: not "", nor longer than the
 * log takes (255 bytes), nor that of a call before it. Servers and programs give one id to several
 * calls, and results are told apart by it. id may be NULL.
 */
bool model_call_keeps_id(const struct content *content, size_t at, const char *id);

/* An id that it cannot keep is left out. */
MUST_CHECK int model_reply_call(struct model_reply *reply, const char *id, const char *name,
				struct span args);

/* An empty text of its own, for a signature that came on one. */
MUST_CHECK int model_reply_empty(struct model_reply *reply);

/* inlineData of the model; base64 in any alphabet. -EINVAL: it is none. */
MUST_CHECK int model_reply_inline(struct model_reply *reply, const char *mime, struct span base64);

/* A part of another kind (executableCode, ...), JSON. -EINVAL: it is no part. */
MUST_CHECK int model_reply_part(struct model_reply *reply, struct span json);

/*
 * Sign the last part; without one, an empty text. base64: of the signature's
 * bytes; what providers other than Gemini send is a text, whose bytes they are.
 */
MUST_CHECK int model_reply_sign(struct model_reply *reply, struct span base64);
MUST_CHECK int model_reply_sign_text(struct model_reply *reply, struct span text);

/* A member of the event, JSON text; a later one wins. */
MUST_CHECK int model_reply_extra(struct model_reply *reply, enum model_extra which,
				 struct span json);

/* Set the finish reason, a copy of an ADK word; a later one wins. And the provider's word. */
MUST_CHECK int model_reply_finish(struct model_reply *reply, const char *reason);
MUST_CHECK int model_reply_finish_word(struct model_reply *reply, struct span word);

/* The provider ended with a reason in place of content; message may be NULL. */
MUST_CHECK int model_reply_error(struct model_reply *reply, const char *code, const char *message);

/* Tokens, as ADK counts them: prompt with cached ones, candidates without thoughts. */
enum model_count {
	MODEL_COUNT_CACHED,
	MODEL_COUNT_CANDIDATES,
	MODEL_COUNT_PROMPT,
	MODEL_COUNT_THOUGHTS,
	MODEL_COUNT_TOTAL,
	MODEL_COUNTS,
};

/* Set the usage from counts by enum model_count; below 0 means absent and is not written. */
MUST_CHECK int model_reply_usage(struct model_reply *reply, const long long counts[MODEL_COUNTS]);

/* The same from a usageMetadata of Gemini, checked JSON; what ADK's form lacks is left out. */
MUST_CHECK int model_reply_usage_json(struct model_reply *reply, struct span json);

/* Let time pass for what is asked in generate(). 0, or -ECANCELED at once when cancelled. */
MUST_CHECK int model_wait(struct cancel *cancel, unsigned ms, struct err *err);

enum model_framing { MODEL_SSE, MODEL_NDJSON };

/* A setting that a provider reads. */
struct model_setting {
	const char *name; /* NULL ends a table */
	enum {
		MODEL_PLAIN,  /* decides what is asked, and where */
		MODEL_KEY,    /* the secret that is sent; of several the first that has a value */
		MODEL_SECRET, /* another one */
	} kind;
};

/* Another name of a setting in a provider's section of the settings file. */
struct model_alias {
	const char *member; /* NULL ends a table */
	const char *setting;
};

/* A sentence about what a provider cannot take as it is. Not 0 ends the review. */
typedef int model_review_fn(void *arg, const char *sentence);

struct model_provider {
	const char *name;             /* "openai" in "openai/gpt-5-mini" */
	const char *const *spellings; /* other prefixes, NULL at the end; NULL: none */
	const char *const *bare;      /* how names begin that need no prefix; the same */
	const char *section;          /* whose settings it shares; NULL: it has its own */
	const void *dialect;          /* of the translator's own: what differs */
	bool is_file;                 /* the name is that of a file in the agent's folder */

	/* Answer without a network; those below are unset then. */
	int (*generate)(const struct model_request *rq, struct cancel *cancel,
			struct model_reply *reply, struct err *err);

	const struct model_setting *settings; /* all that it reads; see also settings.h */
	const struct model_alias *aliases;    /* NULL: none */
	enum model_framing framing;
	bool replays;           /* what others were asked: the name is that of a cassette */
	bool schema_with_tools; /* it takes an output schema beside tools; see model_takes_schema()
				 */
	int (*encode)(const struct model_request *rq, struct http_request *out, struct err *err);

	/*
	 * Decoder of one answer: new, then decode() for each event of the
	 * stream, then end() once when the stream closed (-EPROTO: its end
	 * marker had not come), then free. A body that is one JSON document
	 * where a stream was asked for comes as a single event.
	 */
	void *(*decoder_new)(void);
	int (*decode)(void *decoder, struct span event, struct model_reply *reply, struct err *err);
	int (*end)(void *decoder, struct model_reply *reply, struct err *err);
	void (*decoder_free)(void *decoder);

	/* The message in the body of an error answer; false: it has no such form. */
	bool (*error_message)(struct span body, struct buf *message);

	/* Optional. How long an error's body wants us to wait, in ms; below 0: it says nothing. */
	double (*wait_hint)(struct span body);

	/* Optional. The one that is asked in its place: the settings or the name may want that. */
	const struct model_provider *(*instead)(const struct model_request *rq);

	/*
	 * Optional. Look at the tools and the config of a request without contents: fn gets a
	 * sentence for each thing that will be sent otherwise than it is written. 0; -ENOMEM;
	 * what fn returned.
	 */
	int (*review)(const struct model_request *rq, model_review_fn *fn, void *arg);
};

/*
 * The providers, each in the file of its name; the table of them is in ask.c.
 * Those that speak as OpenAI does are in provider/openai/dialect.c.
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

/*
 * Split "openai/gpt-5-mini" into its provider and the rest; "gemini-2.5-flash" needs no prefix.
 * -EINVAL: no provider of that name.
 */
MUST_CHECK int model_find(const char *model, const struct model_provider **provider,
			  const char **name, struct err *err);

/* All of them. */
const struct model_provider *const *model_providers(size_t *count);

/* The provider of a request whose name and settings are set, or the one in its place. */
const struct model_provider *model_settle(const struct model_request *rq);

/*
 * Whether the one that is asked takes an output schema beside tools. Name, folder and settings
 * of the request are set. For a cassette it is whoever was asked first there; true: nobody knows.
 */
bool model_takes_schema(const struct model_request *rq);

/* The setting that holds the key, or else would have to: the first of its kind. NULL: none. */
const char *model_key_name(const struct model_provider *provider, const struct settings *settings);

/* The key; NULL: it is not set. Borrowed. */
const char *model_key(const struct model_provider *provider, const struct settings *settings);

/* Add what nobody may see of the provider's settings. */
void model_secrets(const struct model_provider *provider, const struct settings *settings,
		   struct secrets *out);

/*
 * What may be seen of the settings, as config.json has it: `file`, its path or null; `reason`, why
 * it is not used, or null; `values` by name, each with `value` and `from` ("environment", "file",
 * "default"), null when it is not set, a mark in place of secrets; `apps`, the same for each
 * section of an app. NULL: no memory.
 */
json_t *model_show_settings(void);

/*
 * Ask. rq->provider and rq->name are set by this from `model`. Text pieces go to reply->on_text
 * as they come. Retries happen here, before the first byte only. Settings that
 * change how (see settings.c): ADKFS_MODEL_RETRIES, _CONNECT_MS, _FIRST_BYTE_MS,
 * _IDLE_MS.
 *
 * Returns 0 when the answer is complete (error_code may tell why it has no
 * content); -ECANCELED; any other error: the call failed or broke off, err
 * has a sentence for people without secrets, and reply keeps what had come.
 * Any thread; blocks.
 */
MUST_CHECK int model_ask(const char *model, struct model_request *rq, struct cancel *cancel,
			 struct model_reply *reply, struct err *err);

#endif
