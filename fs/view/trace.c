/*
 * trace.json: when turns, models and tools ran, in the format of Chrome's
 * trace viewer, which Perfetto reads too.
 *
 * Turns and model calls share one line. Calls of tools take as many lines as
 * ran side by side. A turn or call that still runs has a begin without an end.
 */
#include "base/json_text.h"
#include "fs/tree/fs.h"
#include "fs/view/view.h"
#include "store/turn/call.h"
#include "store/turn/turn.h"

#include <stdio.h>

#define LINES_MAX 256 /* of tools; any more calls at the same time share the last */
#define MAIN_LINE 1
#define TOOL_LINE 2

struct trace {
	struct store *st;
	struct ref session;
	struct buf *out;
	const struct turn_info *turn;
	int64_t busy[LINES_MAX]; /* the end of the latest call on each line of tools */
	unsigned lines;
	struct err *err;
};

static void put_name(struct trace *t, const char *what, unsigned line, struct span name)
{
	buf_printf(t->out,
		   "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":", line,
		   what);
	json_quote(t->out, name);
	buf_text(t->out, "}}");
}

/* The head of an event, up to its args. */
static void put_event(struct trace *t, const char *category, const char *name, unsigned line,
		      int64_t from, int64_t to)
{
	buf_printf(t->out, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"ts\":%lld", to ? "X" : "B",
		   line, (long long)from);
	if (to)
		buf_printf(t->out, ",\"dur\":%lld", (long long)MAX(to - from, 0));
	buf_printf(t->out, ",\"cat\":\"%s\",\"name\":", category);
	json_quote(t->out, span_of(name));
	buf_text(t->out, ",\"args\":{");
}

static void put_text(struct trace *t, const char *name, const char *text)
{
	buf_printf(t->out, "\"%s\":", name);
	json_quote(t->out, span_of(text));
}

/* Choose the first free line for a call; the last one if none is free. */
static unsigned take_line(struct trace *t, const struct call_info *call)
{
	unsigned i = 0;

	while (i < t->lines && t->busy[i] > call->started)
		i++;
	i = MIN(i, LINES_MAX - 1);
	t->lines = MAX(t->lines, i + 1);
	t->busy[i] = call->ended ? call->ended : INT64_MAX;
	return TOOL_LINE + i;
}

static void put_model(struct trace *t, const struct call_info *call)
{
	size_t i;

	put_event(t, "model", call->name, MAIN_LINE, call->started, call->ended);
	put_text(t, "agent", call->agent);
	if (call->first)
		buf_printf(t->out, ",\"firstTextMicroseconds\":%lld",
			   (long long)(call->first - call->started));
	for (i = 0; i < TOKENS_COUNTS; i++) {
		if (call->tokens.count[i])
			buf_printf(t->out, ",\"%s\":%llu", tokens_name((enum token_count)i),
				   (unsigned long long)call->tokens.count[i]);
	}
	buf_text(t->out, "}}");
}

/* A call that was still open when its turn ended lasted until that moment. */
static int put_call(void *arg, const struct call_info *info)
{
	struct trace *t = arg;
	struct call_info call = *info;

	if (call.kind == CALL_MODEL) {
		put_model(t, &call);
		return 0;
	}
	if (!call.ended)
		call.ended = t->turn->ended;
	put_event(t, "tool", call.name, take_line(t, &call), call.started, call.ended);
	put_text(t, "id", call.id);
	buf_char(t->out, ',');
	put_text(t, "agent", call.agent);
	buf_printf(t->out, ",\"turn\":%llu}}", (unsigned long long)call.n);
	return buf_check(t->out, t->err);
}

static void put_turn(struct trace *t, const struct turn_info *turn)
{
	char name[32];

	if (!turn->started)
		return; /* the turn waits */
	(void)snprintf(name, sizeof name, "turn %llu", (unsigned long long)turn->n);
	put_event(t, "turn", name, MAIN_LINE, turn->started, turn->ended);
	put_text(t, "invocationId", turn->invocation);
	buf_char(t->out, ',');
	put_text(t, "agent", turn->agent);
	buf_printf(t->out, ",\"waitedMicroseconds\":%lld",
		   (long long)(turn->started - turn->created));
	if (turn->state == TURN_FAILED) {
		buf_char(t->out, ',');
		put_text(t, "error", turn->error);
	}
	buf_text(t->out, "}}");
}

static int note_turn(void *arg, const struct turn_info *info)
{
	buf_add(arg, info, sizeof *info);
	return buf_check(arg, NULL);
}

static int put_turns(struct trace *t)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct turn_info *turns;
	size_t count;
	size_t i;
	int r = turn_list(t->st, t->session, 0, note_turn, &list, t->err);

	turns = BUF_LIST(struct turn_info, &list, &count);
	for (i = 0; r == 0 && i < count; i++) {
		t->turn = &turns[i];
		put_turn(t, t->turn);
		r = call_list(t->st, t->session, (struct call_place){ .n = t->turn->n }, put_call,
			      t, t->err);
	}
	return r;
}

int trace_show(const struct place *at, struct buf *out, struct err *err)
{
	struct trace t = { .st = at->fs->store, .session = at->ref, .out = out, .err = err };
	struct scope_info info;
	char name[32];
	unsigned i;
	int r = scope_stat(t.st, t.session, &info, err);

	if (r < 0)
		return r;
	buf_text(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
	put_name(&t, "process_name", 0, span_of(info.id));
	buf_text(out, ",\n");
	put_name(&t, "thread_name", MAIN_LINE, SPAN("turns and models"));
	r = put_turns(&t);
	for (i = 0; i < t.lines; i++) {
		buf_text(out, ",\n");
		(void)snprintf(name, sizeof name, "tools %u", i + 1);
		put_name(&t, "thread_name", TOOL_LINE + i, span_of(name));
	}
	buf_text(out, "\n]}\n");
	return r < 0 ? r : buf_check(out, err);
}
