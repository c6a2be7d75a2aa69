/*
 * The blocks of an answer of Anthropic, as parts of an event. Only the files of
 * that provider include this.
 */
#ifndef RUNNER_PROVIDER_ANTHROPIC_PARTS_H
#define RUNNER_PROVIDER_ANTHROPIC_PARTS_H

#include "runner/wire/calls.h"
#include "runner/wire/decode.h"

struct anthropic_block;

/* The blocks of one answer. All zero is an empty list. */
struct anthropic_blocks {
	struct anthropic_block *list;
	size_t count;
	struct model_calls calls;
};

void anthropic_blocks_release(struct anthropic_blocks *blocks);

/* Begin a block; object is its `content_block`. -E2BIG: too many; -ENOMEM without a sentence. */
MUST_CHECK int anthropic_block_begin(struct anthropic_blocks *blocks, struct model_decode *d,
				     long long index, struct span object);

/* Take a piece of a block; pieces of unknown blocks are ignored. -ENOMEM. */
MUST_CHECK int anthropic_block_delta(struct anthropic_blocks *blocks, struct model_decode *d,
				     long long index, struct span delta);

/* End a block. -ENOMEM. */
MUST_CHECK int anthropic_block_end(struct anthropic_blocks *blocks, struct model_decode *d,
				   long long index);

/* End all texts: add halves of characters that still wait for their other halves. -ENOMEM. */
MUST_CHECK int anthropic_blocks_flush(struct anthropic_blocks *blocks, struct model_decode *d);

/*
 * Add the calls of a complete answer at their places among the other parts. cut: the answer
 * ended at a limit of tokens. -EPROTO: a call is incomplete, and no call was added; -ENOMEM.
 */
MUST_CHECK int anthropic_blocks_finish(struct anthropic_blocks *blocks, struct model_decode *d,
				       bool cut);

#endif
