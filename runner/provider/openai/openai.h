/*
 * Shared by the files of OpenAI's chat completions. The providers openai, azure, deepseek
 * and others are dialects of this protocol. No other file includes this.
 *
 *	dialects.c  the services that speak the protocol
 *	openai.c    the request as a whole
 *	way.c       its address and headers
 *	message.c   its messages
 *	result.c    results of calls among the messages
 *	item.c      the items of a message
 *	config.c    generate_content_config
 *	reply.c     the answer
 *	calls.c     the calls in an answer
 *	usage.c     the counts of tokens in an answer
 */
#ifndef RUNNER_PROVIDER_OPENAI_OPENAI_H
#define RUNNER_PROVIDER_OPENAI_OPENAI_H

#include "runner/wire/calls.h"
#include "runner/wire/decode.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/name.h"
#include "runner/wire/pairs.h"
#include "runner/wire/provider.h"
#include "runner/wire/refuse.h"

struct http_request;

/* The quirks of a dialect. */
enum openai_quirk {
	OPENAI_COMPLETION_TOKENS = 1, /* the limit is called max_completion_tokens */
	OPENAI_DEVELOPER = 2, /* the system role of models named o1, o3, ... is "developer" */
	OPENAI_NO_STREAM_OPTIONS = 4, /* refuses stream_options, and gives the usage anyway */
	OPENAI_SHORT_IDS = 8,         /* ids of calls have nine letters and digits */
	OPENAI_RANDOM_SEED = 16,      /* the seed is called random_seed */
	OPENAI_REASONING_BACK = 32,   /* reasoning in turns with calls must be sent back */
	OPENAI_SIGNATURES = 64,       /* extra_content.google.thought_signature must be sent back */
};

/* A service. Lists end with NULL. */
struct openai_dialect {
	const char *base; /* its address; NULL: a setting must give the address */
	const char *host; /* the service's own host; ".x": all hosts below x; NULL: none */
	const struct openai_dialect *const *hosts; /* dialects of other hosts under this name; NULL:
						    * each host speaks this dialect */
	const char *settings[3];   /* hold the address; the first with a value counts */
	const char *max_field;     /* the setting that names the limit of tokens */
	const char *key_header;    /* sends the key; NULL: "Authorization: Bearer" */
	const char *const *tokens; /* settings of keys that are sent as Bearer anyway; NULL: none */
	const char *const *versions; /* settings of the version; the model is a deployment in the
				      * address then, as Azure wants it; NULL: neither */
	unsigned quirks;
};

/* How the service of a question is asked. */
struct openai_way {
	const struct model_provider *provider;
	struct model_endpoint at;
	unsigned quirks;
	const char *max_tokens; /* the member for the limit of tokens */
};

/*
 * Find how to ask, by the dialect of q->provider or of the host. -EINVAL: the address or the name
 * of the limit is invalid or missing; -ENOMEM.
 */
MUST_CHECK int openai_way_find(const struct question *q, struct openai_way *way, struct err *err);

/* Check that there is a key if the host is the service's own. -EACCES: the key is missing. */
MUST_CHECK int openai_check_key(const struct question *q, const struct openai_way *way,
				struct err *err);

/* Append the address of the request. -ENOMEM. */
MUST_CHECK int openai_url(const struct question *q, const struct openai_way *way, struct buf *url,
			  struct err *err);

/* Add all headers. -EINVAL names the setting that holds a control character; -ENOMEM. */
MUST_CHECK int openai_headers(const struct question *q, struct http_request *out, struct err *err);

/* The rule for names of functions; errors name the provider. */
struct model_name_rule openai_name_rule(const struct model_provider *provider);

/* The messages while they are written. */
struct openai_messages {
	const struct question *q;
	const struct openai_way *way;
	struct model_place at; /* the current content */
	struct buf *out;
	struct model_pairs pairs;
	size_t turn_end; /* index of the content after the current turn */
	bool has_calls;  /* the current turn has calls */
	struct buf
		files; /* '[' and the items of files from tools, for a message after the results */
};

/* Begin a message in the list that is open. */
void openai_open_message(struct openai_messages *m, const char *role);

/* Append an item of a user's message: text, or a part that can be one. -EINVAL; -ENOMEM. */
void openai_put_text_item(struct openai_messages *m, struct span text);
MUST_CHECK int openai_put_item(struct openai_messages *m, const struct part *p);

/* Append the id of a call. */
void openai_put_id(const struct openai_messages *m, const struct model_pair *pair);

/* Append each result in a content as a message, and keep the files of results. -EINVAL; -ENOMEM. */
MUST_CHECK int openai_put_results(struct openai_messages *m, const struct content *c);

/* Append a message with the kept files, if there are any. */
void openai_put_files(struct openai_messages *m);

/*
 * Append the member "messages". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int openai_put_messages(const struct question *q, const struct openai_way *way,
				   const char *system_role, struct buf *out, struct err *err);

/*
 * Append the members that follow from generate_content_config. -EINVAL names a member that
 * cannot be sent; -ENOMEM.
 */
MUST_CHECK int openai_config(const struct question *q, const struct openai_way *way,
			     struct buf *out, struct err *err);

/*
 * Take an element of `tool_calls`, as checked JSON; marked: surrogate_mark() changed the text.
 * -E2BIG: too many calls; -ENOMEM without a sentence.
 */
MUST_CHECK int openai_calls_take(struct model_calls *calls, struct span item, bool marked,
				 struct err *err);

/* Append extra_content.google.thought_signature of a message or a call, if it has one. -ENOMEM. */
MUST_CHECK int openai_signature(struct span extra_content, struct buf *text);

/* The names of the counts in a usage object, in OpenAI's two APIs. */
extern const struct jsonpick openai_chat_usage[];
extern const struct jsonpick openai_responses_usage[];

/* Take the counts of a usage object; another JSON value is passed over. -ENOMEM. */
MUST_CHECK int openai_usage_take(struct model_decode *d, const struct jsonpick *members,
				 struct span object);

/* For struct model_provider. */
MUST_CHECK int openai_encode(const struct question *q, struct http_request *out, struct err *err);
MUST_CHECK int openai_review(const struct question *q, model_review_fn *fn, void *arg);
extern const struct model_decoder openai_decoder;
bool openai_error_message(struct span body, struct buf *message);

#endif
