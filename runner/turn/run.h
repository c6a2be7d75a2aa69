/*
 * Runs: agents at work in a turn. What the files that make up an invocation share.
 *
 * An invocation is a turn. Each agent of it that is at work is a run. Runs put
 * their events on a ground: the session, or, for an agent that is called as a
 * tool, a log in memory. What a call of a program or a callback changes is
 * collected and becomes part of an event, or nothing.
 */
#ifndef RUNNER_TURN_RUN_H
#define RUNNER_TURN_RUN_H

#include "runner/agent/agent.h"
#include "runner/live/live.h"
#include "runner/live/state.h"
#include "runner/model/ask.h"
#include "runner/process/process.h"
#include "runner/turn/invocation.h"
#include "store/artifact/saves.h"
#include "store/turn/call.h"

/* Changes that wait for their event. */
struct changes {
	struct invocation *in;
	struct stateview *state;
	struct buf actions; /* object, or empty */
	struct buf saves;   /* struct save */
	struct buf held;    /* struct context * */
};

/* Why a turn fails, and what had been said when it did. */
struct failure {
	char name[64]; /* errorCode; "" for MODEL_ERROR */
	char *agent;   /* NULL: the root */
	char *branch;
	struct content *said; /* texts only; NULL: nothing */
	char *finish_reason;
	struct buf usage;
	uint64_t streamed; /* bytes of the text of `said` that were shown already */
	struct changes
		changes; /* of callbacks of the model, which its event has to tell; or none */
	struct err err;
};

struct invocation {
	/* fixed */
	const struct invocation_host *host;
	struct live *live;
	struct agent_tree *tree;
	struct stateview_source source;
	struct buf user_content; /* canonical JSON of the turn's message */
	atomic_uint model_calls;
};

/* Where runs put their events. */
struct event_sink {
	struct invocation *in;
	struct stateview *state; /* what its agents see */
	struct span message;     /* the user's Content, canonical JSON; empty: none */
	bool nested;             /* no session: of an agent that is called as a tool */

	struct mutex lock;
	struct buf lines GUARDED_BY(lock); /* nested: the log */
	struct buf saves GUARDED_BY(lock); /* nested: struct save, of contexts that are held */
	struct buf held
		GUARDED_BY(lock); /* nested: struct context *, to be closed with the caller's */
};

struct agent_run {
	struct event_sink *sink;
	struct agent *agent;
	const struct agent_run *above; /* in whose place it works; NULL: nobody's */
	const char *branch;            /* NULL: none */
	unsigned depth;                /* of agents that are tools */
	struct failure *failure;

	bool escalated; /* an event of it or below said so */
	bool paused;    /* it waits for an answer from outside */

	/* LlmAgent: the call of the model that is under way */
	struct call_report asked;  /* started 0: it was told of */
	uint64_t asked_at;         /* monotonic */
	uint64_t streamed;         /* bytes of the answer's text that were shown already */
	struct changes waiting;    /* of callbacks, for the next event; in NULL: none */
	struct {                   /* partial.c */
		struct buf middle; /* of events of pieces, which have it in common */
		struct buf line;   /* the last one; scratch */
	} partial;
	json_t *load;           /* names of artifacts that the next request carries; NULL: none */
	struct agent *transfer; /* who goes on in its place; NULL: nobody */
	struct buf before;      /* struct agent *: these handed over, and end when it does */
};

/* Agents: run.c */

/*
 * Let an agent work until it is done: callbacks, the agent, what it transfers to. 0, also
 * when it paused; a negative errno: run->failure says why.
 */
MUST_CHECK int run_agent(struct agent_run *run);
/* The same from the middle: without before_agent; `after`: workflow agents go on behind this one.
 */
MUST_CHECK int run_agent_after(struct agent_run *run, const struct agent *after,
			       unsigned times_looped);
/*
 * Both halves of that: its work and that of those it transfers to; then after_agent of all who
 * are done with it, own first, and run->agent is own again. worked: what the first half gave, 1:
 * the last one's before_agent answered, and its after_agent is left out. The second does nothing
 * while the run is paused. What is left in run->before is the caller's to release.
 */
MUST_CHECK int run_agent_work(struct agent_run *run, const struct agent *after,
			      unsigned times_looped);
MUST_CHECK int run_agent_end(struct agent_run *run, struct agent *own, int worked);

/* A child at work in the place of its parent. */
struct agent_run run_below(struct agent_run *parent, struct agent *agent);
void run_join(struct agent_run *parent, const struct agent_run *child);

MUST_CHECK int llm_run(struct agent_run *run);
MUST_CHECK int workflow_run(struct agent_run *run, const struct agent *after,
			    unsigned times_looped);
/* An event that says where a workflow agent will go on, and of a loop that it will end there. */
MUST_CHECK int workflow_place(struct agent_run *run, const char *sub, unsigned times_looped);
MUST_CHECK int program_agent_run(struct agent_run *run);

/*
 * Fail: sets run->failure unless something has; returns the code. name: of errorCode or NULL.
 * Calls of one run may fail side by side.
 */
int run_fail(struct agent_run *run, const char *name, const struct err *err);
int run_fail_text(struct agent_run *run, const char *name, int code, const char *fmt, ...)
	PRINTF(4, 5);
int run_nomem(struct agent_run *run);
void failure_release(struct failure *f);

/* -ECANCELED when the turn was cancelled. */
MUST_CHECK int run_check_cancelled(struct agent_run *run);

/* Events: commit.c */

/* Invocation, author and branch. */
void run_head(const struct agent_run *run, struct event *e);

/*
 * Commit an event with what comes with it, show it, and note what it does to the run. changes
 * may be NULL; they are published, or dropped when this fails.
 */
MUST_CHECK int run_commit(struct agent_run *run, struct event *e, struct changes *changes,
			  const struct call_report *reports, size_t n);
/* The same; a failure is only told. bad_save: which of the changes' saves, from 1, is why, or 0. */
MUST_CHECK int run_try_commit(struct agent_run *run, struct event *e, struct changes *changes,
			      const struct call_report *reports, size_t n, size_t *bad_save,
			      struct err *err);
/* Reports of calls that no event tells of. */
MUST_CHECK int run_report(struct agent_run *run, const struct call_report *reports, size_t n);
/* Something is new in a turn that runs: who waits for it is told. */
void invocation_tell(const struct live *live, const struct turn_hooks *hooks);
/*
 * A stored event into the stream, and what follows the first `streamed` bytes of its text into
 * the output. bytes: of the turn's lines with it.
 */
void invocation_show(struct live *live, const struct turn_hooks *hooks, const struct event *e,
		     uint64_t bytes, uint64_t streamed);

/* An event that is shown and not stored; a piece of a model's text as one. partial.c */
void run_show_partial(struct agent_run *run, struct event *e);
void run_show_text(struct agent_run *run, struct span text, bool thought);
void run_end_partial(struct agent_run *run); /* frees what run_show_text() keeps */

/* Answers of models as JSON for callbacks, and as members of an event: reply.c */
MUST_CHECK int reply_to_json(const struct model_reply *reply, struct buf *out);
MUST_CHECK int reply_from_json(struct model_reply *reply, struct span json, struct err *err);
void reply_to_event(const struct model_reply *reply, struct event *e);

/* Whether pieces of text are shown as they come, in the stream and in the output. */
bool run_streams(const struct agent_run *run);

/* Who handed over to whoever pauses with this event; resumed_find() reads it. */
void run_tell_before(const struct agent_run *run, struct event *e);

/* Changes: changes.c */

MUST_CHECK int changes_init(struct changes *c, struct agent_run *run);
MUST_CHECK int changes_init_above(struct changes *c, struct invocation *in,
				  struct stateview *below);
/* Drop what was not published. */
void changes_release(struct changes *c);
bool changes_any(struct changes *c);
/*
 * Take over what a context's program changed, and the context, if it succeeded. All of it, or
 * nothing: with save_refused() err says what of it cannot be saved.
 */
MUST_CHECK int changes_take(struct changes *c, struct context *ctx, bool succeeded,
			    struct err *err);
/*
 * Lay others over these. Contexts and saves are held by both then, until one forgets them, whether
 * this succeeded or not.
 */
MUST_CHECK int changes_merge(struct changes *c, const struct changes *others, struct err *err);
void changes_forget(struct changes *c);
/* Put them into the event, and what is saved into the commit that the event is in. */
MUST_CHECK int changes_write(struct changes *c, struct event *e, struct turn_commit *commit);
/* Whether a save was refused with this, for which a program can be told off; else the turn fails.
 */
bool save_refused(int code);
/* Close the contexts. */
void changes_close(struct changes *c, bool published);

/* The state as the run sees it: its ground's, and on top what waits for an event. */
struct stateview *run_state(const struct agent_run *run);

/* Open a context for a program of this run. below: what it sees. */
MUST_CHECK int run_open_context(struct agent_run *run, enum context_kind kind, const char *name,
				const char *call_id, struct span args, struct stateview *below,
				struct context **out, struct err *err);

/* Programs: program.c */

/*
 * Run a program in a context. p has what the caller set of input and on_line; its
 * result is to be released. 0, also when it failed; -ECANCELED; -ENOMEM.
 */
MUST_CHECK int run_program(struct agent_run *run, const struct program *program,
			   struct context *ctx, struct process *p, struct err *err);
/* Why a program that ended did not succeed; false: it did. */
bool process_reason(const struct process *p, struct buf *reason);

/* Callbacks: callback.c */

struct tool_call;

/*
 * Run the callbacks of a kind, one after the other, each in a context of its own above the
 * changes, which take over what one changed that succeeded. input: makes the JSON that each gets.
 * take: its output, when there is some: 1: it is the answer, the others are not asked; 0: go on.
 * 1: one of them answered; a negative errno: the run failed.
 */
struct callback_run {
	enum callback_kind kind;
	struct changes *changes;
	const struct tool_call *call; /* NULL: they are not of a tool */
	int (*input)(void *arg, struct buf *out);
	int (*take)(void *arg, struct span output, struct err *err);
	void *arg;
};
MUST_CHECK int callbacks_run(struct agent_run *run, struct callback_run *cb);

/* Tools on offer: offer.c */

struct offer {
	const struct tool **list;
	size_t count;
	struct tool **made; /* of toolsets, and those that add themselves */
	size_t made_count;
	struct agent **targets; /* of transfers */
	size_t target_count;
};
MUST_CHECK int offer_make(struct agent_run *run, struct offer *out);
void offer_release(struct offer *offer);
const struct tool *offer_find(const struct offer *offer, const char *name);
struct agent *offer_target(const struct offer *offer, const char *name);

/* Prompts: prompt.c */

struct prompt {
	char *model;
	struct buf system;
	struct content **contents; /* owned, with others perhaps: they are not to be changed */
	size_t count;
	json_t *config; /* owned */
	struct model_tool *tools;
	size_t tool_count;
	json_t *tool_schemas; /* owns what tools point at when a callback changed them */
};
MUST_CHECK int prompt_build(struct agent_run *run, struct offer *offer, struct prompt *out);
void prompt_release(struct prompt *prompt);
/* What parts of it name as artifact://... takes their place: reference.c */
MUST_CHECK int prompt_follow(struct agent_run *run, struct prompt *prompt);
/* For callbacks: {"model","contents","config"}, and what a callback made of it. */
MUST_CHECK int prompt_to_json(const struct prompt *prompt, struct buf *out);
MUST_CHECK int prompt_from_json(struct prompt *prompt, struct span json, struct err *err);
MUST_CHECK int prompt_add(struct prompt *prompt, struct content *content); /* takes it */

/* Calls: calls.c */

/* What became of the calls of an answer. */
struct calls_result {
	bool paused;  /* something is to be answered from outside */
	bool skipped; /* the model is not asked for words on the results */
	struct agent *transfer;
	struct buf response; /* args of set_model_response; empty: not called */
	bool misfit;         /* it was called with what does not fit */
};
void calls_result_release(struct calls_result *result);
MUST_CHECK int calls_run(struct agent_run *run, const struct offer *offer,
			 const struct content *content, struct calls_result *out);
/* Calls that wait for a confirmation, and that the newest message decides. 1: there were some. */
MUST_CHECK int calls_confirmed(struct agent_run *run, const struct offer *offer,
			       struct calls_result *out);
/* The turn fails with calls open: the log gets these answers all the same, if any. */
void calls_close(struct agent_run *run, const struct content *answers);

struct tool_call {
	struct agent_run *run;
	const struct offer *offer;
	const struct tool *tool; /* NULL: there is none of that name */
	const char *id;
	const char *name;
	struct buf args;   /* canonical object; callbacks may change it */
	struct buf logged; /* the same as the log has it */
	struct changes changes;
	bool approved; /* a person has confirmed it */
	bool refused;  /* or not: it is answered with reason, and not made */
	const char *reason;
	bool asks;              /* it waits for a confirmation */
	struct agent *transfer; /* who goes on by its changes; NULL: nobody else */
	struct buf response;    /* JSON object; empty: none yet */
	struct buf stderr_text;
	uint64_t nsec;
	struct err err; /* the turn fails; code 0: it does not */
};

/* Its response, or err: the turn fails then, and run->failure says why. */
void call_run(struct tool_call *call);
void call_release(struct tool_call *call);

/* Set the response to {"error": text}. */
MUST_CHECK int call_error(struct tool_call *call, const char *fmt, ...) PRINTF(2, 3);
/* The same, of an agent that cannot be transferred to. */
MUST_CHECK int call_no_target(struct tool_call *call, const char *name);
/* The tool itself, by kind. 0, or the turn fails. */
MUST_CHECK int call_program(struct tool_call *call, struct err *err);
MUST_CHECK int call_agent(struct tool_call *call, struct err *err);
MUST_CHECK int call_mcp(struct tool_call *call, struct err *err);
MUST_CHECK int call_builtin(struct tool_call *call, struct err *err);

/* Nothing of what it did is kept. -ENOMEM. */
MUST_CHECK int call_drop(struct tool_call *call);
/* What it changes besides: a member of its event's actions, canonical. */
MUST_CHECK int call_act(struct tool_call *call, const char *name, struct span json);

/* Confirmations: confirm.c */

/* Ask a person about the calls that need it: an event of its own, and actions of the next: asked.
 */
MUST_CHECK int confirm_ask(struct agent_run *run, const struct tool_call *calls, size_t n,
			   struct buf *asked);

/* What a response to a request decides about. */
struct decision {
	struct content *request; /* the request */
	struct span asked;       /* call that it shows, as JSON; borrowed from it */
	struct content *content; /* of the event that calls */
	const struct part *call; /* in that */
	bool is_same;            /* the call is what the request showed */
	bool approved;           /* and may be made */
	struct buf author;       /* of the event, as its branch and its line */
	struct buf branch;
	struct buf line;
};
/* n: of the turn that the response is in. d: all zero. 1: none that still waits. */
MUST_CHECK int decision_find(struct store *st, struct ref session, uint64_t n,
			     const struct part *answer, struct decision *d, struct err *err);
void decision_release(struct decision *d);

/* A call that the newest message decides about. */
struct confirmed {
	char *id;
	char *name;
	struct buf args;
	bool approved;
	const char *reason; /* why it is not */
};
MUST_CHECK int confirm_find(struct agent_run *run, struct confirmed **list, size_t *n);
void confirm_free(struct confirmed *list, size_t n);

/* A response that only says that a person has to be asked. */
bool confirm_is_placeholder(const struct part *response);
/* 1: the newest message has nothing but confirmations, and none that decides anything here. */
MUST_CHECK int confirm_is_spent(struct agent_run *run);

/* Going on after a pause: resume.c */

/* Who gets an answer of the newest message. */
struct resumed {
	struct agent *agent;
	char *branch;      /* "": none */
	char *invocation;  /* id of the turn in which it called */
	struct buf before; /* struct agent *: who had handed over to it then */
};
/* Those that are still in the tree. */
MUST_CHECK int resumed_find(struct invocation *in, struct resumed **list, size_t *n,
			    struct err *err);
void resumed_free(struct resumed *list, size_t n);
/* One after the other, and what is around them behind each. */
MUST_CHECK int resumed_run(struct event_sink *sink, struct resumed *list, size_t n,
			   struct failure *failure);

/* Artifacts as a run sees them: artifacts.c */
MUST_CHECK int run_artifact_text(struct agent_run *run, struct span name, struct buf *text,
				 struct err *err);
MUST_CHECK int run_artifact_content(struct agent_run *run, const char *name, struct content **out,
				    struct err *err);
/* The bytes of that version as a part: media, text, or a line about it. -ENOENT. */
MUST_CHECK int run_artifact_version(struct agent_run *run, struct ref scope, const char *name,
				    uint64_t n, struct content *out, struct err *err);
MUST_CHECK int run_artifact_names(struct agent_run *run, struct buf *list, struct err *err);

/* Structured output: output.c */

/* Whether the agent's provider takes a schema for the answer, beside tools too. */
bool output_is_native(const struct agent *agent);

/* Check the text of an answer. 0: *value is its canonical JSON; -EINVAL: err says what is wrong. */
MUST_CHECK int output_check(const struct agent *agent, struct span text, struct buf *value,
			    struct err *err);

#endif
