/*
 * Contexts: the things that a program of a turn can see and change.
 *
 * While the program runs, turns/<n>/context/<name>/ in the mount shows its context, and
 * $ADK_CONTEXT names that directory. The context's view holds changes of state; the mount holds
 * files that are saved in artifacts/. Both become part of the event of the call when the program
 * succeeded, and are dropped otherwise.
 */
#ifndef RUNNER_LIVE_CONTEXT_H
#define RUNNER_LIVE_CONTEXT_H

#include "runner/live/state.h"
#include "store/artifact/artifact.h"

#include <stdatomic.h>

/* Each kind shows what the kinds before it show, and more. */
enum context_kind {
	CONTEXT_READONLY, /* for a program that lists tools: who asks, in which session */
	CONTEXT_CALLBACK, /* and state/, artifacts/ */
	CONTEXT_TOOL,     /* and function_call_id, args.json, actions.json, memory/ */
};

struct context {
	/* fixed */
	struct contexts *all;
	struct store *store;
	enum context_kind kind;
	struct ref session;
	uint64_t turn;   /* its number in the session */
	uint64_t number; /* of the directory, from store_new_number() */
	uint64_t stamp;  /* ns; when the context was made */
	char *name;      /* below context/; unique in the turn */
	char *invocation;
	char *agent;
	char *app_id;
	char *user_id;
	char *session_id;
	char *call_id;           /* CONTEXT_TOOL */
	struct buf user_content; /* canonical JSON of the turn's message */
	struct buf args;         /* CONTEXT_TOOL: canonical JSON */
	struct stateview *state; /* the context's changes on top of its agent's view */

	atomic_uint refs;
	atomic_bool has_ended; /* later changes are ignored */
	struct context *next;  /* guarded by contexts.lock */
	unsigned users;        /* requests that use it; guarded by contexts.lock */

	struct mutex lock;
	struct buf actions GUARDED_BY(lock); /* canonical object */
	json_t *items GUARDED_BY(lock);      /* state key -> number of its file */
};

/* The members of a new context; all borrowed. */
struct context_spec {
	enum context_kind kind;
	struct ref session;
	uint64_t turn;
	const char *name;
	const char *invocation;
	const char *agent;
	const char *call_id;
	struct span user_content;
	struct span args;
	struct stateview *below;
};

/* All open contexts. */
struct contexts {
	struct store *store;
	struct mutex lock;
	struct context *first GUARDED_BY(lock);
	struct cond idle; /* a context has no users any more */
};

void contexts_init(struct contexts *all, struct store *st);
void contexts_release(struct contexts *all);

/* Open a context. The caller gets one reference, and must call context_end(). */
MUST_CHECK int context_open(struct contexts *all, const struct context_spec *spec,
			    struct context **out, struct err *err);

/*
 * End a context: nobody finds it any more. Waits for requests that are under way, and drops the
 * caller's reference.
 */
void context_end(struct contexts *all, struct context *c);

struct context *context_ref(struct context *c);
void context_unref(struct context *c); /* NULL is fine */
DEFINE_CLEANUP(struct context, context_unref);

/* Find a context by its name. One reference, or NULL. */
struct context *context_find(struct contexts *all, struct ref session, uint64_t turn,
			     const char *name);

/*
 * Use a context in a request that reads its state or changes something. The context does not end
 * before context_leave(). NULL: it has ended.
 */
struct context *context_use(struct contexts *all, uint64_t number);
void context_leave(struct context *c); /* NULL is fine */
DEFINE_CLEANUP(struct context, context_leave);

/*
 * Call fn for the contexts of a turn with numbers above `after`, in order. A result of fn that is
 * not 0 ends this and is returned.
 */
typedef int context_fn(void *arg, struct context *c);
MUST_CHECK int context_list(struct contexts *all, struct ref session, uint64_t turn, uint64_t after,
			    context_fn *fn, void *arg);

/*
 * Append the text of actions.json to `out`, or replace it. A new text is an object with the members
 * transferToAgent (a string), escalate and skipSummarization (booleans); snake_case is accepted
 * too. Returns 0; -EINVAL: err has the reason; -ENOMEM.
 */
MUST_CHECK int context_actions(struct context *c, struct buf *out);
MUST_CHECK int context_set_actions(struct context *c, struct span json, struct err *err);

/*
 * Check a text for actions.json. clean: gets the canonical form; or NULL. -EINVAL with the reason;
 * -ENODATA: the text is not complete.
 */
MUST_CHECK int context_check_actions(struct span json, struct buf *clean, struct err *err);

/* The number of the file of a state key: always the same one. 0: out of memory. */
uint64_t context_item(struct context *c, struct span key);

#endif
