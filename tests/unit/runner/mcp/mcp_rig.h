/*
 * Shared by the tests of MCP: a server with its entry, and checks of its tools.
 */
#ifndef UNIT_MCP_RIG_H
#define UNIT_MCP_RIG_H

#include "base/clock.h"
#include "base/json_text.h"
#include "runner/mcp/params.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char *folder; /* tests/servers/mcp */
static struct cancel cancel;

/* A server and the entry that it was made from. */
struct rig {
	struct yaml_tree *tree;
	struct mcp_params *params;
	struct mcp_server *server;
};

static inline int read_params(const char *yaml, struct yaml_tree **tree, struct mcp_params **params,
			      struct err *err)
{
	assert_int_equal(yaml_tree_load(span_of(yaml), "agent.yaml", tree, err), 0);
	return mcp_params_read(*tree, "args", json_object_get((*tree)->root, "args"), params, err);
}

static inline struct rig rig_of(const char *yaml)
{
	struct rig rig = { 0 };
	struct err err = { 0 };

	if (read_params(yaml, &rig.tree, &rig.params, &err) < 0)
		fail_msg("%s", err.text);
	rig.server = mcp_server_new(rig.params, folder);
	assert_non_null(rig.server);
	return rig;
}

static inline void rig_release(struct rig *rig)
{
	mcp_server_free(rig->server);
	mcp_params_free(rig->params);
	yaml_tree_free(rig->tree);
}

#define RIG CLEANUP(rig_release) struct rig

/* Append the offered names, each with a blank after it. */
static inline int add_name(void *arg, const struct mcp_tool *tool)
{
	assert_true(json_is_object(tool->parameters));
	buf_printf(arg, "%s ", tool->name);
	return 0;
}

static inline int list(struct rig *rig, struct buf *names, struct err *err)
{
	int r;

	buf_clear(names);
	r = mcp_tools(rig->server, &cancel, add_name, names, err);
	assert_non_null(buf_cstr(names));
	return r;
}

static inline void expect_listed(struct rig *rig, const char *name, bool is_there)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	struct err err = { 0 };
	char *want;

	if (list(rig, &names, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(asprintf(&want, "%s ", name) > 0);
	if ((strstr(names.data, want) != NULL) != is_there)
		fail_msg("%s: %s", name, names.data);
	free(want);
}

static inline int call_for(struct rig *rig, const char *tool, const char *args, unsigned timeout_ms,
			   struct buf *result, struct err *err)
{
	struct mcp_call call = { tool, span_of(args), timeout_ms };
	int r = mcp_call(rig->server, &call, &cancel, result, err);

	assert_non_null(buf_cstr(result));
	return r;
}

static inline void expect_result(struct rig *rig, const char *tool, const char *args,
				 const char *want)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };

	if (call_for(rig, tool, args, 0, &result, &err) < 0)
		fail_msg("%s: %s", tool, err.text);
	assert_string_equal(result.data, want);
}

static inline void expect_text(struct rig *rig, const char *tool, const char *args,
			       const char *text)
{
	CLEANUP(buf_release) struct buf want = { 0 };

	buf_text(&want, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(&want, span_of(text));
	buf_text(&want, "}]}");
	expect_result(rig, tool, args, buf_cstr(&want));
}

static inline void expect_failure(struct rig *rig, const char *tool, const char *args, int r,
				  const char *text)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };

	assert_int_equal(call_for(rig, tool, args, 1500, &result, &err), r);
	assert_int_equal(result.len, 0);
	if (!strstr(err.text, text))
		fail_msg("%s", err.text);
}

/* A member of a result's structuredContent, as JSON text. */
static inline void structured(struct rig *rig, const char *tool, const char *member,
			      struct buf *out)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };
	struct span value;

	if (call_for(rig, tool, "{}", 0, &result, &err) < 0)
		fail_msg("%s: %s", tool, err.text);
	assert_int_equal(json_member(buf_span(&result), "structuredContent", &value), 0);
	if (member)
		assert_int_equal(json_member(value, member, &value), 0);
	buf_clear(out);
	buf_span_add(out, value);
	assert_non_null(buf_cstr(out));
}

/* A call in a thread of its own. */
struct background {
	struct rig *rig;
	const char *tool;
	struct cancel cancel;
	pthread_t thread;
	struct err err;
	int r;
};

static inline void *background_run(void *arg)
{
	struct background *b = arg;
	CLEANUP(buf_release) struct buf result = { 0 };
	struct mcp_call call = { b->tool, SPAN("{}"), 60000 };

	b->r = mcp_call(b->rig->server, &call, &b->cancel, &result, &b->err);
	return NULL;
}

static inline void background_start(struct background *b, struct rig *rig, const char *tool)
{
	*b = (struct background){ .rig = rig, .tool = tool };
	assert_int_equal(cancel_init(&b->cancel, NULL), 0);
	assert_int_equal(pthread_create(&b->thread, NULL, background_run, b), 0);
}

static inline void background_join(struct background *b)
{
	assert_int_equal(pthread_join(b->thread, NULL), 0);
	cancel_release(&b->cancel);
}

/* Wait until the server has received so many messages of a kind. */
static inline void await_seen(struct rig *rig, const char *what, size_t n)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	uint64_t end = clock_monotonic() + 20ull * NSEC_PER_SEC;
	size_t found;

	do {
		const char *at;

		assert_true(clock_monotonic() < end);
		structured(rig, "seen", "seen", &seen);
		found = 0;
		for (at = seen.data; (at = strstr(at, what)); at++)
			found++;
	} while (found < n);
}

#endif
