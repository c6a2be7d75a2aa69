/*
 * Tools: see tool.h.
 */
#include "runner/tool.h"

#include "base/jsontext.h"
#include "base/name.h"
#include "runner/process.h"
#include "runner/schema.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define LINE_MAX_BYTES 1000 /* of the line of standard error that a failure quotes */

/* A call that a program answers. */
struct job {
	struct tool_call *call;
	const struct tool *tool;
	struct buf input;
	char **env; /* the list is ours, its first `borrowed` texts are not */
	size_t borrowed;
};

struct work {
	const struct agent *agent;
	char *const *env;
	struct job *jobs;
	struct process *processes; /* of jobs, at the same index */
	size_t n;
};

void tool_call_release(struct tool_call *call)
{
	buf_release(&call->response);
	buf_release(&call->stderr_text);
}

/* Responses */

/* {"error": text}; the text may hold anything. */
static int answer_error(struct tool_call *call, const char *fmt, ...) PRINTF(2, 3);

static int answer_error(struct tool_call *call, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES + 1000];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	buf_clear(&call->response);
	buf_text(&call->response, "{\"error\":");
	json_quote_lossy(&call->response, span_of(text));
	buf_char(&call->response, '}');
	return buf_check(&call->response, NULL);
}

static int answer_text(struct tool_call *call, struct span text)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	buf_clear(&call->response);
	buf_text(&call->response, "{\"result\":");
	json_quote(&call->response, text);
	buf_char(&call->response, '}');
	return buf_check(&call->response, NULL);
}

static int answer_json(struct tool_call *call, struct span json)
{
	bool is_object = json.data[0] == '{';

	buf_clear(&call->response);
	if (!is_object)
		buf_text(&call->response, "{\"result\":");
	buf_span_add(&call->response, json);
	if (!is_object)
		buf_char(&call->response, '}');
	return buf_check(&call->response, NULL);
}

static int answer_output(struct job *job, struct span output)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int r;

	if (!output.len)
		return job->tool->long_running ? 0 : answer_json(job->call, SPAN("null"));
	if (!name_is_utf8(output))
		return answer_error(job->call, "the output is not UTF-8 text; binary results are "
					       "to be saved as artifacts");
	r = json_canonical_text(output, JSON_DEPTH_FREE, &json, NULL);
	if (r == -ENOMEM)
		return r;
	return r < 0 ? answer_text(job->call, output) : answer_json(job->call, buf_span(&json));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The last line that is not blank, without blanks at its end. */
static struct span last_line(struct span text)
{
	size_t from;

	while (text.len && is_blank(text.data[text.len - 1]))
		text.len--;
	for (from = text.len; from && text.data[from - 1] != '\n'; from--)
		;
	text = span_sub(text, from, text.len);
	text.len = MIN(text.len, LINE_MAX_BYTES);
	return text;
}

/* How a program failed, and its own word for why. */
static int answer_failure(struct job *job, const char *how, int number, const char *name)
{
	struct span line = last_line(buf_span(&job->call->stderr_text));

	return answer_error(job->call, "%s %.*d%s%s%.*s", how, name ? 0 : 1, name ? 0 : number,
			    name ? name : "", line.len ? ": " : "", (int)line.len, line.data);
}

static int answer_status(struct job *job, const struct process *p)
{
	if (WIFSIGNALED(p->status)) {
		const char *name = sigabbrev_np(WTERMSIG(p->status));
		char text[32];

		(void)snprintf(text, sizeof text, "SIG%s", name ? name : "?");
		return answer_failure(job, "killed by", 0, text);
	}
	if (WEXITSTATUS(p->status))
		return answer_failure(job, "exit status", WEXITSTATUS(p->status), NULL);
	return answer_output(job, buf_span(&p->output));
}

static int answer(struct job *job, struct process *p, unsigned timeout_ms)
{
	struct tool_call *call = job->call;
	char reason[64];

	call->stderr_text = p->stderr_text;
	p->stderr_text = (struct buf){ 0 };
	call->nsec = p->nsec;
	switch (p->failure) {
	case 0:
		return answer_status(job, p);
	case -ENOMEM:
		return -ENOMEM;
	case -ETIMEDOUT:
		return answer_error(call, "timed out after %g seconds", timeout_ms / 1000.0);
	case -EFBIG:
		return answer_error(call, "the output is larger than %u bytes", PROCESS_OUTPUT_MAX);
	default:
		return answer_error(call, "the program cannot be started: %s",
				    strerror_r(-p->failure, reason, sizeof reason));
	}
}

/* Arguments */

static int answer_unknown(const struct agent *agent, struct tool_call *call)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	size_t i;

	for (i = 0; i < agent->tool_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", agent->tools[i].name);
	if (!buf_cstr(&names))
		return -ENOMEM;
	return answer_error(call, "Tool '%.200s' not found. Available tools: %.1500s", call->name,
			    names.data);
}

/*
 * A tree to check. Integers that do not fit 64 bits are checked as the nearest
 * double; the program gets them as they were written in any case.
 */
static json_t *args_tree(struct span args)
{
	json_error_t at;
	json_t *tree = json_loadb(args.data, args.len, JSON_ALLOW_NUL, &at);

	if (tree || json_error_code(&at) != json_error_numeric_overflow)
		return tree;
	return json_loadb(args.data, args.len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

/* 0; -EINVAL with a reason; -ENOMEM. */
static int check_args(const struct tool *tool, struct span args, struct err *reason)
{
	json_auto_t *tree = NULL;

	if (args.data[0] != '{')
		return err_set(reason, -EINVAL, "the arguments have to be an object");
	if (!tool->parameters)
		return 0;
	tree = args_tree(args);
	if (!tree)
		return err_set(reason, -EINVAL, "the arguments cannot be checked");
	return schema_check(tool->parameters, tree, reason);
}

/* The text for the program's standard input: the arguments and a newline. */
static int write_input(struct job *job, struct err *reason)
{
	struct span args = job->call->args.len ? job->call->args : SPAN("{}");
	int r = json_canonical_text(args, JSON_DEPTH_FREE, &job->input, reason);

	if (r == -ENODATA)
		r = -EINVAL;
	if (r == 0)
		r = check_args(job->tool, buf_span(&job->input), reason);
	if (r < 0)
		return r;
	buf_char(&job->input, '\n');
	return buf_check(&job->input, NULL);
}

/* Environment */

/* What a program can rely on, unless the caller says otherwise. */
static const struct variable {
	const char *name;
	const char *value; /* when the daemon has none; NULL: it stays unset */
} variables[] = {
	{ "PATH", "/usr/local/bin:/usr/bin:/bin" },
	{ "HOME", NULL },
	{ "LANG", "C.UTF-8" },
	{ "TMPDIR", "/tmp" },
};

#define OWN_VARIABLES (ARRAY_SIZE(variables) + 2) /* and ADK_ARGS, ADK_FUNCTION_CALL_ID */

static bool has_variable(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++) {
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return true;
	}
	return false;
}

/* Nothing when there is no value or the caller gave one. */
static int add_variable(char **at, char *const *env, const char *name, const char *value)
{
	if (!value || has_variable(env, name))
		return 0;
	while (*at)
		at++;
	return asprintf(at, "%s=%s", name, value) < 0 ? (*at = NULL, -ENOMEM) : 0;
}

static int make_env(struct job *job, char *const *env)
{
	size_t i;
	int r;

	while (env[job->borrowed])
		job->borrowed++;
	job->env = calloc(job->borrowed + OWN_VARIABLES + 1, sizeof *job->env);
	if (!job->env)
		return -ENOMEM;
	for (i = 0; i < job->borrowed; i++)
		job->env[i] = env[i];
	r = add_variable(job->env, env, "ADK_FUNCTION_CALL_ID", job->call->id);
	if (r == 0)
		r = add_variable(job->env, env, "ADK_ARGS", job->tool->program.args);
	for (i = 0; i < ARRAY_SIZE(variables) && r == 0; i++) {
		const char *own = getenv(variables[i].name);

		r = add_variable(job->env, env, variables[i].name, own ? own : variables[i].value);
	}
	return r;
}

/* Work */

static void job_release(struct job *job)
{
	size_t i;

	buf_release(&job->input);
	for (i = job->borrowed; job->env && job->env[i]; i++)
		free(job->env[i]);
	free(job->env);
}

static void work_release(struct work *work)
{
	size_t i;

	for (i = 0; i < work->n; i++) {
		job_release(&work->jobs[i]);
		process_release(&work->processes[i]);
	}
	free(work->jobs);
	free(work->processes);
}

/* A call becomes a job, or has its answer already. */
static int take_call(struct work *work, struct tool_call *call)
{
	const struct tool *tool = agent_tool(work->agent, call->name);
	struct job *job = &work->jobs[work->n];
	struct err reason = { 0 };
	int r;

	if (!tool || tool->kind != TOOL_PROGRAM)
		return answer_unknown(work->agent, call);
	if (tool->confirm)
		return answer_error(call,
				    "the tool asks for a confirmation, which nobody can give");
	*job = (struct job){ .call = call, .tool = tool };
	work->n++;
	r = write_input(job, &reason);
	if (r == 0)
		r = make_env(job, work->env);
	if (r == -EINVAL) {
		r = answer_error(call, "%s", reason.text);
		job_release(job);
		work->n--;
	}
	return r;
}

static void prepare_process(const struct work *work, size_t i)
{
	const struct job *job = &work->jobs[i];

	work->processes[i] = (struct process){
		.program = job->tool->program.path,
		.folder = work->agent->tree->folder,
		.env = job->env,
		.input = buf_span(&job->input),
		.timeout_ms = work->agent->tree->tool_timeout_ms
				      ? work->agent->tree->tool_timeout_ms
				      : PROCESS_TIMEOUT_MS,
	};
}

static int run_jobs(struct work *work, struct cancel *cancel, struct err *err)
{
	size_t i;
	int r;

	for (i = 0; i < work->n; i++)
		prepare_process(work, i);
	r = process_run_all(work->processes, work->n, cancel, err);
	for (i = 0; i < work->n && r == 0; i++) {
		if (answer(&work->jobs[i], &work->processes[i], work->processes[i].timeout_ms) < 0)
			r = err_nomem(err);
	}
	return r;
}

int tool_run_all(const struct agent *agent, char *const *env, struct tool_call *calls, size_t n,
		 struct cancel *cancel, struct err *err)
{
	CLEANUP(work_release) struct work work = { .agent = agent, .env = env };
	size_t i;

	work.jobs = calloc(n + 1, sizeof *work.jobs);
	work.processes = calloc(n + 1, sizeof *work.processes);
	if (!work.jobs || !work.processes)
		return err_nomem(err);
	for (i = 0; i < n; i++) {
		if (take_call(&work, &calls[i]) < 0)
			return err_nomem(err);
	}
	return run_jobs(&work, cancel, err);
}
