/*
 * Hosts: what a turn needs from whoever runs it.
 *
 * Whoever shows sessions as files gives the hooks. The runner adds the store, the limits and the
 * `temp:` keys.
 */
#ifndef RUNNER_TURN_HOST_H
#define RUNNER_TURN_HOST_H

#include "runner/live/context.h"

#include <stdatomic.h>

struct past_cache;
struct sandbox;

/* Each hook may be NULL. None is called with a lock held. */
struct turn_hooks {
	/*
	 * The text or the stream of a running turn grew, or the turn ended. turn_number: its
	 * object.
	 */
	void (*progress)(void *arg, struct ref session, uint64_t turn_number);
	/* A compaction ended. why: the reason of its failure; NULL when it succeeded. */
	void (*compacted)(void *arg, struct ref session, const struct err *why);
	/* Append the path at which programs find the session. */
	int (*session_path)(void *arg, struct ref session, struct buf *out);

	/* Append the path of a context's directory. */
	int (*context_path)(void *arg, struct context *c, struct buf *out);
	/* Whether programs cannot enter that directory, nor the session's. */
	bool (*context_is_shut)(void *arg, struct context *c);
	/* The context is open: context_find() finds it. */
	void (*context_opened)(void *arg, struct context *c);
	/* The context has ended. published: the store has the files that were saved in it. */
	void (*context_closed)(void *arg, struct context *c, bool published);
	/*
	 * The program of a context has ended: append the files that it saved in artifacts/,
	 * as struct save (store/artifact/saves.h). Their bytes stay until context_closed().
	 */
	int (*context_saves)(void *arg, struct context *c, struct buf *saves, struct err *err);
	void *arg;
};

/* The runner, as an invocation sees it. All borrowed. */
struct invocation_host {
	struct store *store;
	const struct turn_hooks *hooks;
	const struct sandbox *sandbox; /* for programs; NULL: none */
	unsigned calls_max;            /* model calls of one turn */
	struct contexts *contexts;
	struct past_cache *past_cache;
	/* Append the `temp:` keys of the session as an object; nothing if there are none. */
	int (*temp)(void *arg, struct ref session, struct buf *object);
	/* Lay an object of `temp:` keys over them. */
	int (*set_temp)(void *arg, struct ref session, struct span delta, struct err *err);
	void *arg;
	_Atomic uint64_t *model_calls; /* counters, only added to */
	_Atomic uint64_t *tool_calls;
};

#endif
