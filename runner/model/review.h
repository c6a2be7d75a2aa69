/*
 * Reviewing a question before anybody asks it.
 */
#ifndef RUNNER_MODEL_REVIEW_H
#define RUNNER_MODEL_REVIEW_H

#include "runner/wire/provider.h"

/*
 * Call fn with a sentence for each thing that the provider refuses, or sends in another form
 * than it is written. The provider of the question is settled (ask.h), and the question has no
 * contents. Returns 0; -ENOMEM; what fn returned.
 */
MUST_CHECK int model_review(const struct question *q, model_review_fn *fn, void *arg);

#endif
