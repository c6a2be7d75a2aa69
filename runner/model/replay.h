/*
 * Cassettes as models, named "replay/FILE".
 */
#ifndef RUNNER_MODEL_REPLAY_H
#define RUNNER_MODEL_REPLAY_H

#include "runner/model/cassette.h"

/*
 * Open the cassette of a model's name, "FILE" or "FILE?paced". *paced: the pieces come with the
 * recorded delays. Returns as cassette_open(). Any thread.
 */
MUST_CHECK int model_replay_open(const char *folder, const char *name, struct cassette **out,
				 bool *paced, struct err *err);

#endif
