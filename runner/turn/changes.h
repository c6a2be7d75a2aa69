/*
 * Changes: what programs, callbacks and tools change, until an event has it.
 *
 * State, actions, saved artifacts, and the contexts whose files the saves point at. All of it
 * becomes part of one event, or none.
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
	struct buf contexts; /* struct context *: closed when the saves are published or dropped */
};

/* No changes yet, on top of the state of the run's sink. -ENOMEM. */
MUST_CHECK int changes_init(struct changes *c, struct agent_run *run);
/* Drop what was not published. */
void changes_release(struct changes *c);
bool changes_any(struct changes *c);

/*
 * Take over what the program of a context changed, if it succeeded, and end the context. All of
 * it is taken, or nothing; when save_refused() the error says what cannot be saved.
 */
MUST_CHECK int changes_adopt(struct changes *c, struct context *ctx, bool succeeded,
			     struct err *err);
/* Set a member of the actions, canonical JSON. -ENOMEM. */
MUST_CHECK int changes_act(struct changes *c, const char *name, struct span json);
/*
 * Lay the changes of others over these. Both have the contexts and saves then, also after an
 * error, until changes_forget() is called for one of them.
 */
MUST_CHECK int changes_merge(struct changes *c, const struct changes *others, struct err *err);
void changes_forget(struct changes *c);

/* Put the changes into an event, and the saves into the commit that has the event. */
MUST_CHECK int changes_write(struct changes *c, struct event *e, struct turn_commit *commit);
/* Close the contexts; published: their saves are in the store. */
void changes_close(struct changes *c, bool published);

/* Whether this error of a save is the fault of the program; after any other the turn fails. */
bool save_refused(int code);

#endif
