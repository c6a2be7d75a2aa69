/*
 * Programs of a run: see program.h.
 */
#include "runner/turn/program.h"

#include "runner/process/env.h"
#include "runner/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES  1000 /* of the line of standard error that a failure quotes */
#define INTERPRETER_MAX 255  /* bytes of a first line that the kernel looks at */

/* Add a variable, unless it has no value. */
static int add(struct childenv *env, const char *name, const char *value)
{
	return value ? childenv_add(env, name, value) : 0;
}

/* Add a path that a hook appended. */
static int add_path(struct childenv *env, const char *name, struct buf *path)
{
	if (!path->len)
		return 0;
	return buf_cstr(path) ? childenv_add(env, name, path->data) : -ENOMEM;
}

/* Add the variables of the context. */
static int add_context(struct agent_run *run, struct context *ctx, struct childenv *env)
{
	const struct turn_hooks *hooks = run->sink->in->host->hooks;
	CLEANUP(buf_release) struct buf path = { 0 };
	int r = add(env, "ADK_SESSION_ID", ctx->session_id);

	if (r == 0)
		r = add(env, "ADK_USER_ID", ctx->user_id);
	if (r == 0)
		r = add(env, "ADK_APP_NAME", ctx->app_id);
	if (r == 0)
		r = add(env, "ADK_FUNCTION_CALL_ID", ctx->call_id);
	if (r == 0 && hooks->context_path)
		r = hooks->context_path(hooks->arg, ctx, &path);
	return r < 0 ? r : add_path(env, "ADK_CONTEXT", &path);
}

static int build_environment(struct agent_run *run, const struct program *program,
			     struct context *ctx, struct childenv *env)
{
	struct invocation *in = run->sink->in;
	const struct turn_hooks *hooks = in->host->hooks;
	CLEANUP(buf_release) struct buf path = { 0 };
	int r = add_context(run, ctx, env);

	if (r == 0)
		r = add(env, "ADK_INVOCATION_ID", in->live->invocation);
	if (r == 0)
		r = add(env, "ADK_AGENT_NAME", run->agent->name);
	if (r == 0)
		r = add(env, "ADK_ARGS", program->args);
	if (r == 0 && hooks->session_path)
		r = hooks->session_path(hooks->arg, in->live->ref, &path);
	if (r == 0)
		r = add_path(env, "ADKFS_SESSION", &path);
	return r < 0 ? r : childenv_add_base(env);
}

static bool has(const struct buf *text, const char *words)
{
	return words && memmem(text->data, text->len, words, strlen(words));
}

/* Whether the program may have failed because it cannot enter the session's directory. */
static bool complains(const struct process *p, const char *session)
{
	return has(&p->stderr_text, strerrordesc_np(EACCES)) || has(&p->stderr_text, session);
}

int run_open_context(struct agent_run *run, struct context_spec spec, struct context **out,
		     struct err *err)
{
	struct invocation *in = run->sink->in;
	const struct turn_hooks *hooks = in->host->hooks;
	int r;

	spec.session = in->live->ref;
	spec.turn = in->live->n;
	spec.invocation = in->live->invocation;
	spec.agent = run->agent->name;
	spec.user_content = run->sink->message;
	r = context_open(in->host->contexts, &spec, out, err);
	if (r == 0 && hooks->context_opened)
		hooks->context_opened(hooks->arg, *out);
	return r;
}

int run_program(struct agent_run *run, const struct program *program, struct context *ctx,
		struct process *p, struct err *err)
{
	struct invocation *in = run->sink->in;
	const struct turn_hooks *hooks = in->host->hooks;
	CLEANUP(childenv_release) struct childenv env = { 0 };
	int r;

	if (build_environment(run, program, ctx, &env) < 0)
		return err_nomem(err);
	p->is_shut_out = hooks->context_is_shut && hooks->context_is_shut(hooks->arg, ctx);
	p->program = program->path;
	p->folder = in->tree->folder;
	p->env = env.list;
	p->sandbox = in->host->sandbox;
	p->network = program->network;
	p->context = childenv_get(env.list, "ADK_CONTEXT");
	p->timeout_ms = in->tree->tool_timeout_ms ? in->tree->tool_timeout_ms : PROCESS_TIMEOUT_MS;
	r = process_run_all(p, 1, &in->live->cancel, err);
	p->is_shut_out = p->is_shut_out && complains(p, childenv_get(env.list, "ADKFS_SESSION"));
	return r;
}

/* Append why the program was refused, which it cannot know. */
static void add_hint(const struct process *p, struct buf *reason)
{
	if (p->is_shut_out)
		buf_text(reason, " (the directories of this user belong to another login: programs "
				 "can enter them only when the daemon is root)");
}

/* The interpreter of a script; empty: the program is no script. line: INTERPRETER_MAX bytes. */
static struct span interpreter(const char *program, char *line)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, line, INTERPRETER_MAX);
	size_t from = 2, to;

	if (fd >= 0)
		(void)close(fd);
	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return SPAN("");
	while (from < (size_t)n && (line[from] == ' ' || line[from] == '\t'))
		from++;
	for (to = from; to < (size_t)n && !strchr(" \t\n", line[to]); to++)
		;
	return (struct span){ line + from, to - from };
}

/*
 * Append why a program did not start. For a script the kernel reports the error of its interpreter.
 */
static void why_not_started(const struct process *p, struct buf *reason)
{
	char line[INTERPRETER_MAX], text[64];
	struct span name = interpreter(p->program, line);

	buf_text(reason, "the program cannot be started: ");
	if (p->failure == -ENOENT && name.len && name.data[name.len - 1] == '\r')
		buf_text(reason, "its lines end with CR LF, as on Windows");
	else if (p->failure == -ENOENT && name.len)
		buf_printf(reason, "its interpreter %.*s does not exist%s", (int)name.len,
			   name.data, sandbox_is_on(p->sandbox) ? " in the sandbox" : "");
	else
		buf_text(reason, strerror_r(-p->failure, text, sizeof text));
	if (p->failure == -ENOEXEC && !name.len)
		buf_text(reason, "; a script begins with a line #!INTERPRETER");
}

/* Append why a program that started failed; nothing if it succeeded. */
static void why_ended(const struct process *p, struct buf *reason)
{
	if (WIFSIGNALED(p->status)) {
		const char *name = sigabbrev_np(WTERMSIG(p->status));

		buf_printf(reason, "killed by SIG%s", name ? name : "?");
	} else if (WEXITSTATUS(p->status)) {
		buf_printf(reason, "exit status %d", WEXITSTATUS(p->status));
	} else {
		return;
	}
	process_quote_stderr(reason, buf_span(&p->stderr_text), LINE_MAX_BYTES);
	add_hint(p, reason);
}

const char *process_reason(const struct process *p, struct buf *reason)
{
	if (p->failure == -ETIMEDOUT)
		buf_printf(reason, "timed out after %g seconds",
			   (p->timeout_ms ? p->timeout_ms : PROCESS_TIMEOUT_MS) / 1000.0);
	else if (p->failure == -EFBIG)
		buf_printf(reason, "the output is larger than %u bytes", PROCESS_OUTPUT_MAX);
	else if (p->failure)
		why_not_started(p, reason);
	else
		why_ended(p, reason);
	if (!reason->len && !reason->failed)
		return NULL;
	return buf_cstr(reason) ? reason->data : "it failed";
}
