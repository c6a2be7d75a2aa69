/*
 * Reviewing a question before anybody asks it.
 */
#ifndef RUNNER_MODEL_REVIEW_H
#define RUNNER_MODEL_REVIEW_H

#include "runner/wire/provider.h"

/*
 * Call fn with a sentence for everything that the provider refuses or sends in another form. The
 * question has no contents, and its provider is the one of model_settle(). Returns 0; -ENOMEM;
 * what fn returned.
 */
MUST_CHECK int model_review(const struct question *q, model_review_fn *fn, void *arg);

#endif
