/*
 * The blocks of an answer of Anthropic, as parts of an event. Only the files of
 * that provider include this.
 */
#ifndef RUNNER_PROVIDER_ANTHROPIC_PARTS_H
#define RUNNER_PROVIDER_ANTHROPIC_PARTS_H

#include "runner/wire/calls.h"
#include "runner/wire/decode.h"

struct anthropic_block;

/* All zero is none. */
struct anthropic_blocks {
	struct anthropic_block *list;
	size_t count;
	struct model_calls calls;
};

void anthropic_blocks_release(struct anthropic_blocks *blocks);

/* A block begins; object is its `content_block`. -E2BIG; -ENOMEM without a text. */
MUST_CHECK int anthropic_block_begin(struct anthropic_blocks *blocks, struct model_decode *d,
				     long long index, struct span object);

/* A piece of a block arrived; a piece of an unknown block is passed over. -ENOMEM. */
MUST_CHECK int anthropic_block_delta(struct anthropic_blocks *blocks, struct model_decode *d,
				     long long index, struct span delta);

/* A block is complete. -ENOMEM. */
MUST_CHECK int anthropic_block_end(struct anthropic_blocks *blocks, struct model_decode *d,
				   long long index);

/* No more pieces come: hand on halves of characters that still wait. -ENOMEM. */
MUST_CHECK int anthropic_blocks_flush(struct anthropic_blocks *blocks, struct model_decode *d);

/*
 * The answer is complete: calls go to their places among the other parts. cut:
 * the answer ended at a limit of tokens. -EPROTO: a call is incomplete, and no call is
 * handed over. -ENOMEM.
 */
MUST_CHECK int anthropic_blocks_finish(struct anthropic_blocks *blocks, struct model_decode *d,
				       bool cut);

#endif
