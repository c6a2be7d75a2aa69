/*
 * Recent turns: see recent.h.
 */
#include "runner/recent.h"

void recent_add(struct recent *recent, struct ref session, uint64_t n)
{
	recent->turns[recent->count++ % RECENT_TURNS] = (struct turn_place){ session, n };
}

void recent_list(const struct recent *recent, struct buf *out)
{
	size_t used = (size_t)MIN(recent->count, RECENT_TURNS);
	size_t oldest = recent->count > used ? (size_t)(recent->count % RECENT_TURNS) : 0;

	buf_add(out, &recent->turns[oldest], (used - oldest) * sizeof recent->turns[0]);
	buf_add(out, recent->turns, oldest * sizeof recent->turns[0]);
}
