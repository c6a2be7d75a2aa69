/*
 * Contents of a history: the list that a model is sent.
 */
#ifndef RUNNER_HISTORY_CONTENTS_H
#define RUNNER_HISTORY_CONTENTS_H

#include "store/json/content.h"

struct history {
	struct content **contents; /* owned; others may share one, so none is to be changed */
	size_t count;
};

/* Add a content at the end. Takes it, also on failure. -ENOMEM. */
MUST_CHECK int history_add(struct history *h, struct content *content);
void history_release(struct history *h);

#endif
