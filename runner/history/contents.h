/*
 * Contents of a history: the list that a model is sent.
 *
 * Foreign contents are those of another agent: the user reports them, below a heading.
 */
#ifndef RUNNER_HISTORY_CONTENTS_H
#define RUNNER_HISTORY_CONTENTS_H

#include "store/json/content.h"

struct history {
	struct content **contents; /* owned; others may share one, so none is changed */
	size_t count;
};

/* Add a content at the end. Takes it, even on failure. -ENOMEM, also when it is NULL. */
MUST_CHECK int history_add(struct history *h, struct content *content);
void history_release(struct history *h);

/* Make a foreign content that has only its heading. NULL: out of memory. */
struct content *foreign_new(void);

/*
 * Add to a foreign content the text, the call or the response that an author's part has. -ENOMEM.
 */
MUST_CHECK int foreign_add(struct content *foreign, const char *author, const struct part *p);

#endif
