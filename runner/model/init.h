/*
 * What asking models needs from the process as a whole.
 */
#ifndef RUNNER_MODEL_INIT_H
#define RUNNER_MODEL_INIT_H

#include "base/cc.h"
#include "base/err.h"

/* Prepare HTTP. Once, before the first thread. */
MUST_CHECK int model_init(struct err *err);

/* End the recording, the programs that print keys, the settings file and HTTP. */
void model_exit(void);

#endif
