/*
 * Shared by the files of the openai_responses provider. No other file includes this.
 *
 *	responses.c	       the request as a whole
 *	responses_input.c      the conversation as a list of items
 *	responses_config.c     generate_content_config
 *	responses_reasoning.c  reasoning items, in requests and answers
 *	responses_reply.c      the answer: the events of its stream
 *	responses_item.c       the items of an answer
 *
 * The signature of a thought holds a reasoning item of OpenAI: a JSON object with the
 * members of the item that are sent back unchanged: id, summary, content and
 * encrypted_content. An item without encrypted_content has no signature: OpenAI would
 * look for the stored item, and we let the service store nothing.
 */
#ifndef RUNNER_PROVIDER_OPENAI_RESPONSES_H
#define RUNNER_PROVIDER_OPENAI_RESPONSES_H

#include "runner/syntax/json_pick.h"
#include "runner/wire/calls.h"
#include "runner/wire/decode.h"
#include "runner/wire/name.h"
#include "runner/wire/provider.h"

#define RESPONSES_ITEMS_MAX 1024
#define RESPONSES_SAID      "openai/responses" /* the name of the provider in errors */

/* The rule for names of functions. */
extern const struct model_name_rule responses_names;

/* The members of a reasoning item that matter. */
struct responses_reasoning {
	struct span id;
	struct span summary;
	struct span content;
	struct span encrypted_content;
};

extern const struct jsonpick responses_reasoning_members[];

/* Append the members of an item to a JSON object. */
void responses_reasoning_put(const struct responses_reasoning *item, struct buf *out);

/* Whether a model may think. A model that does not think refuses thoughts in a request. */
bool responses_may_think(const char *name);

/*
 * Append the member "input". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int responses_input(const struct question *q, struct buf *out, struct err *err);

/* Append the members that follow from generate_content_config. -EINVAL; -ENOMEM. */
MUST_CHECK int responses_config(const struct question *q, struct buf *out, struct err *err);

/* An item of the output that is arriving. */
struct responses_item {
	long long index;   /* output_index */
	size_t at;         /* the number of parts in the reply before this item */
	long long section; /* of the summary; below 0: none has come */
	bool heard;        /* text of this item is in the reply */
	bool closed;       /* the whole item has come */
	bool whole;        /* all arguments of this call have come */
};

struct responses_decoder {
	struct model_decode base;
	struct model_texts texts;
	struct model_calls calls; /* the key is the output_index */
	struct buf items;         /* of struct responses_item */
	struct buf reason;        /* why the answer ended; empty: it has not ended */
	bool partial;             /* the answer ended before the model was done */
	long long next;           /* index of items that come in a list */
};

/* Find or add the item of an index. -E2BIG with a sentence; -ENOMEM without. */
MUST_CHECK int responses_item(struct responses_decoder *d, long long index,
			      struct responses_item **out);

/* Whether no whole item has come, and every item has an index to find it by. */
bool responses_are_open(const struct responses_decoder *d);

/* Begin an item; take a whole item. json is checked. -E2BIG with a sentence; -ENOMEM without. */
MUST_CHECK int responses_item_open(struct responses_decoder *d, long long index, struct span json);
MUST_CHECK int responses_item_close(struct responses_decoder *d, long long index, struct span json);

/* Take the complete arguments of a call, a token that may be absent. -ENOMEM. */
MUST_CHECK int responses_item_arguments(struct responses_decoder *d, long long index,
					struct span token);

/* Add the calls at their places among the parts. -EPROTO: a call is incomplete; -ENOMEM. */
MUST_CHECK int responses_calls_finish(struct responses_decoder *d);

extern const struct model_decoder responses_decoder;

#endif
