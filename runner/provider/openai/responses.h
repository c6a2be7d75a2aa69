/*
 * Shared by the files of the openai_responses provider, which alone include this.
 *
 *	responses.c	       a request as a whole
 *	responses_input.c      the conversation as a list of items
 *	responses_config.c     what generate_content_config adds
 *	responses_reasoning.c  reasoning items, in requests and answers
 *	responses_reply.c      the answer: the events of its stream
 *	responses_item.c       the items of an answer
 *
 * The signature of a thought stands for a reasoning item of OpenAI: it is the
 * text of a JSON object with those members of the item that are sent back, id,
 * summary, content and encrypted_content, as they came. Without an
 * encrypted_content OpenAI would look for the item among what it stored, and
 * nothing is stored: such an item has no signature.
 */
#ifndef RUNNER_PROVIDER_OPENAI_RESPONSES_H
#define RUNNER_PROVIDER_OPENAI_RESPONSES_H

#include "runner/syntax/json_pick.h"
#include "runner/wire/calls.h"
#include "runner/wire/decode.h"
#include "runner/wire/name.h"
#include "runner/wire/provider.h"

#define RESPONSES_ITEMS_MAX 1024
#define RESPONSES_SAID      "openai/responses" /* the provider in errors */

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

/* Append the members that are there to an object that is being written. */
void responses_reasoning_put(const struct responses_reasoning *item, struct buf *out);

/* Whether a model may think. Models that do not think refuse thoughts, and questions for them. */
bool responses_may_think(const char *name);

/*
 * Append the member "input". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int responses_input(const struct question *q, struct buf *out, struct err *err);

/* Append the members that generate_content_config stands for. -EINVAL; -ENOMEM. */
MUST_CHECK int responses_config(const struct question *q, struct buf *out, struct err *err);

/* An item of the output on its way. */
struct responses_item {
	long long index;   /* output_index */
	size_t at;         /* how many parts the reply had before it */
	long long section; /* of the summary; below 0: none was heard */
	bool heard;        /* text of it reached the reply */
	bool closed;       /* it came once more, as a whole */
	bool whole;        /* a call: so did its arguments */
};

struct responses_decoder {
	struct model_decode base;
	struct model_texts texts;
	struct model_calls calls; /* their key: output_index */
	struct buf items;         /* of struct responses_item */
	struct buf reason;        /* how it ended; empty: it has not */
	bool partial;             /* it ended before the model was done */
	long long next;           /* index of items that come in a list */
};

/* The item of that index, which may be new. -E2BIG with a sentence; -ENOMEM without. */
MUST_CHECK int responses_item(struct responses_decoder *d, long long index,
			      struct responses_item **out);

/* Whether no item came as a whole, and all have an index by which they are known again. */
bool responses_are_open(const struct responses_decoder *d);

/* An item begins, or came as a whole. Checked JSON. -E2BIG with a sentence; -ENOMEM without. */
MUST_CHECK int responses_item_open(struct responses_decoder *d, long long index, struct span json);
MUST_CHECK int responses_item_close(struct responses_decoder *d, long long index, struct span json);

/* The arguments of a call are complete; its token, which may be absent. -ENOMEM. */
MUST_CHECK int responses_item_arguments(struct responses_decoder *d, long long index,
					struct span token);

/* Hand the calls over, each at its place among the parts. -EPROTO: one is not whole; -ENOMEM. */
MUST_CHECK int responses_calls_finish(struct responses_decoder *d);

extern const struct model_decoder responses_decoder;

#endif
