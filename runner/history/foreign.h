/*
 * Foreign contents: what another agent did, as the user reports it to this one.
 */
#ifndef RUNNER_HISTORY_FOREIGN_H
#define RUNNER_HISTORY_FOREIGN_H

#include "store/json/content.h"

/* A content of the user with a heading; NULL: out of memory. */
struct content *foreign_new(void);

/* Add what an author said, called or was answered in a part. -ENOMEM. */
MUST_CHECK int foreign_add(struct content *foreign, const char *author, const struct part *p);

#endif
