/*
 * Changes: what programs, callbacks and tools change, until an event has it.
 *
 * Changes are those of the state, the actions, the saved artifacts, and the contexts whose files
 * the saves point at. All of them become part of one event, or none.
 */
#ifndef RUNNER_TURN_CHANGES_H
#define RUNNER_TURN_CHANGES_H

#include "runner/live/state.h"
#include "store/artifact/saves.h"
#include "store/turn/turn.h"

struct agent_run;
struct context;
struct invocation;

struct changes {
	struct invocation *in; /* NULL: there are none */
	struct stateview *state;
	struct buf actions;  /* JSON object, or empty */
	struct buf saves;    /* struct save */
	struct buf contexts; /* struct context *, one reference each, until changes_close() */
};

/* No changes yet, on top of the state of the run's sink. -ENOMEM. */
MUST_CHECK int changes_init(struct changes *c, struct agent_run *run);
/* Drop the changes that were not published, and make all zero. */
void changes_release(struct changes *c);
/* Whether there are any. */
bool changes_any(struct changes *c);

/*
 * End a context, and take over the changes of its program if it succeeded: all of them or, after
 * an error, none. If save_refused() says so, the error names the file that cannot be saved.
 */
MUST_CHECK int changes_adopt(struct changes *c, struct context *ctx, bool succeeded,
			     struct err *err);
/* Set a member of the actions, canonical JSON. -ENOMEM. */
MUST_CHECK int changes_act(struct changes *c, const char *name, struct span json);
/*
 * Lay other changes over these. Then both have the contexts and saves, even after an error, until
 * changes_forget() is called for one of them.
 */
MUST_CHECK int changes_merge(struct changes *c, const struct changes *others, struct err *err);
void changes_forget(struct changes *c);

/* Put the changes into an event, and the saves into the commit that has the event. */
MUST_CHECK int changes_write(struct changes *c, struct event *e, struct turn_commit *commit);
/* Close and forget the contexts. published: the store has their saves. */
void changes_close(struct changes *c, bool published);

/*
 * Whether this error of a save is the fault of the program. After any other error the turn fails.
 */
bool save_refused(int code);

#endif
