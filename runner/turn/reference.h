/*
 * References: parts that name an artifact become its content for the model.
 *
 *   artifact://apps/APP/users/USER[/sessions/SESSION]/artifacts/NAME/versions/N
 *
 * is what artifact_describe() prints: bytes of a name may be %XX; only NAME may hold slashes. A run
 * finds artifacts of its own app and user; for all others the model reads that there is no
 * artifact.
 */
#ifndef RUNNER_TURN_REFERENCE_H
#define RUNNER_TURN_REFERENCE_H

#include "runner/turn/run.h"

/* Replace each content that has references by a copy with what they name. */
MUST_CHECK int references_load(struct agent_run *run, struct content **contents, size_t count);

#endif
