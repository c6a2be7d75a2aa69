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

/* A piece of one; one of a block that is not there is passed over. -ENOMEM. */
MUST_CHECK int anthropic_block_delta(struct anthropic_blocks *blocks, struct model_decode *d,
				     long long index, struct span delta);

/* It is whole. -ENOMEM. */
MUST_CHECK int anthropic_block_end(struct anthropic_blocks *blocks, struct model_decode *d,
				   long long index);

/* No more pieces come: hand on the halves of characters that still waited. -ENOMEM. */
MUST_CHECK int anthropic_blocks_flush(struct anthropic_blocks *blocks, struct model_decode *d);

/*
 * The answer is complete: calls go to their places among the other parts. cut:
 * it ended at a limit of tokens. -EPROTO: one is not whole, then none is. -ENOMEM.
 */
MUST_CHECK int anthropic_blocks_finish(struct anthropic_blocks *blocks, struct model_decode *d,
				       bool cut);

#endif
