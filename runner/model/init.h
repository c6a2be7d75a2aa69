/*
 * Starting and stopping what the process needs to ask models.
 */
#ifndef RUNNER_MODEL_INIT_H
#define RUNNER_MODEL_INIT_H

#include "base/cc.h"
#include "base/err.h"

/* Prepare HTTP. Once, before the first thread. */
MUST_CHECK int model_init(struct err *err);

/* Stop recording, end the programs that print keys, close the settings file, stop HTTP. */
void model_exit(void);

#endif
