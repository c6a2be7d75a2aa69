/*
 * Artifacts as agents and their models see them.
 *
 * Errors are -ENOENT, -EILSEQ for a text that is not UTF-8 or too large, or those of the store.
 *
 * A part of a content may name an artifact:
 *
 *   artifact://apps/APP/users/USER[/sessions/SESSION]/artifacts/NAME/versions/N
 *
 * artifact_describe() prints this. Bytes of a name may be %XX; only NAME may hold slashes. A run
 * finds artifacts of its own app and user; for all others the model reads that there is none.
 */
#ifndef RUNNER_TURN_ARTIFACTS_H
#define RUNNER_TURN_ARTIFACTS_H

#include "runner/history/contents.h"
#include "runner/turn/run.h"

/* Append the text of an artifact. */
MUST_CHECK int run_artifact_text(struct agent_run *run, struct span name, struct buf *text,
				 struct err *err);

/* Make a content that shows an artifact, or says that there is none. The caller owns it. */
MUST_CHECK int run_artifact_content(struct agent_run *run, const char *name, struct content **out,
				    struct err *err);

/* Add a version of a scope's artifact as a part: media, text, or a line about it. */
MUST_CHECK int run_artifact_version(struct agent_run *run, struct ref scope, const char *name,
				    uint64_t n, struct content *out, struct err *err);

/* Append the names as a JSON list. */
MUST_CHECK int run_artifact_names(struct agent_run *run, struct buf *list, struct err *err);

/*
 * Replace each content that names artifacts by a copy that has them. After an error run->failure
 * says why.
 */
MUST_CHECK int references_load(struct agent_run *run, struct history *history);

#endif
