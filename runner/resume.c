/*
 * Going on after a pause: see run.h.
 *
 * The answer to a call that a turn left open goes to the agent that called. When
 * that is done, the workflow agents around it go on from the places that they
 * have recorded, as soon as nothing below them waits any more. To a pause belong
 * the turn that paused and those that went on with it.
 */
#include "runner/run.h"

#include "runner/pairing.h"
#include "runner/past.h"
#include "runner/select.h"

#include <errno.h>
#include <stdlib.h>

#define TURNS_BACK 1000 /* in which the pause that an answer ends is looked for */

/* Where a workflow agent stopped last. */
struct place {
	char *agent;
	char *sub; /* NULL: it has ended since */
	unsigned times_looped;
	bool escalated; /* a loop ends there */
};

/* A call that has no answer. */
struct open_call {
	char *id;
	char *agent;
	char *branch; /* "": none */
	uint64_t turn;
};

struct pause {
	/* who is resumed */
	const struct agent *agent;
	const char *branch; /* "": none */

	struct buf invocations; /* that belong to it, each with a NUL */
	struct buf places;      /* of struct place */
	struct buf open;        /* of struct open_call */
	bool is_one;            /* its first turn left calls open */
	bool has_waited;        /* an answer to who is resumed came in a later turn */
};

static struct place *places_of(const struct pause *p, size_t *n)
{
	*n = p->places.len / sizeof(struct place);
	return (struct place *)(void *)p->places.data;
}

static struct open_call *open_of(const struct pause *p, size_t *n)
{
	*n = p->open.len / sizeof(struct open_call);
	return (struct open_call *)(void *)p->open.data;
}

static void open_call_release(struct open_call *call)
{
	free(call->id);
	free(call->agent);
	free(call->branch);
}

static void pause_release(struct pause *p)
{
	size_t n;
	size_t i;
	struct place *places = places_of(p, &n);
	struct open_call *open;

	for (i = 0; i < n; i++) {
		free(places[i].agent);
		free(places[i].sub);
	}
	open = open_of(p, &n);
	for (i = 0; i < n; i++)
		open_call_release(&open[i]);
	buf_release(&p->invocations);
	buf_release(&p->places);
	buf_release(&p->open);
}

/* Reading what belongs to it */

/* A text of a line as a string of its own; "" when it is absent. */
static char *text_of(struct span json)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (json.len && json_unquote(json, &text) < 0)
		return NULL;
	return buf_cstr(&text) ? strdup(text.data) : NULL;
}

static bool belongs(const struct pause *p, const char *invocation)
{
	size_t at = 0;

	while (at < p->invocations.len) {
		if (!strcmp(p->invocations.data + at, invocation))
			return true;
		at += strlen(p->invocations.data + at) + 1;
	}
	return false;
}

/* The turn that a message goes on with; NULL: none. */
static char *resumed_by(const struct past_line *line)
{
	struct span value;

	if (!line->metadata.len || json_member(line->metadata, "adkfs.resumes", &value) < 0)
		return NULL;
	return text_of(value);
}

/* Whether a line belongs to the pause; a message that goes on with it adds its turn. */
static int check_line(struct pause *p, const struct past_line *line)
{
	char *invocation = text_of(line->invocation);
	char *resumed = resumed_by(line);
	int r = invocation ? 0 : -ENOMEM;

	if (r == 0 && !belongs(p, invocation) && resumed && belongs(p, resumed)) {
		buf_add(&p->invocations, invocation, strlen(invocation) + 1);
		r = buf_check(&p->invocations, NULL);
	}
	if (r == 0)
		r = belongs(p, invocation);
	free(invocation);
	free(resumed);
	return r;
}

static int add_call(struct pause *p, const struct past_line *line, const char *id)
{
	struct open_call call = { strdup(id), text_of(line->author), text_of(line->branch),
				  line->turn };

	if (call.id && call.agent && call.branch)
		buf_add(&p->open, &call, sizeof call);
	if (call.id && call.agent && call.branch && !p->open.failed)
		return 0;
	open_call_release(&call);
	return -ENOMEM;
}

static bool is_callers(const struct pause *p, const struct open_call *call)
{
	return !strcmp(call->agent, p->agent->name) && !strcmp(call->branch, p->branch);
}

static void drop_call(struct pause *p, const struct past_line *line, const char *id)
{
	size_t n;
	size_t i;
	struct open_call *open = open_of(p, &n);

	for (i = n; i-- > 0;) {
		if (strcmp(open[i].id, id) != 0)
			continue;
		p->has_waited |= line->turn != open[i].turn && is_callers(p, &open[i]);
		open_call_release(&open[i]);
		memmove(open + i, open + i + 1, (n - i - 1) * sizeof *open);
		p->open.len -= sizeof *open;
		n--;
	}
}

/* Calls that wait, and answers to them. */
static int note_content(struct pause *p, const struct past_line *line, bool is_ours)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	size_t i;
	int r = line->content.len ? content_from_stored(line->content, &content) : 0;

	for (i = 0; r == 0 && content && i < content->count; i++) {
		const struct part *part = &content->parts[i];

		if (!part->id)
			continue;
		if (part->kind == PART_RESPONSE && !confirm_is_placeholder(part) &&
		    !pairing_lists(line->long_running, part->id)) /* it is pending */
			drop_call(p, line, part->id);
		else if (part->kind == PART_CALL && is_ours &&
			 pairing_lists(line->long_running, part->id))
			r = add_call(p, line, part->id);
	}
	return r;
}

static struct place *find_place(const struct pause *p, const char *agent)
{
	size_t n;
	size_t i;
	struct place *list = places_of(p, &n);

	for (i = 0; i < n; i++) {
		if (!strcmp(list[i].agent, agent))
			return &list[i];
	}
	return NULL;
}

/* line: an event of the agent itself. sub: taken. */
static int set_place(struct pause *p, const struct past_line *line, char *sub, unsigned times)
{
	struct place place = { .agent = text_of(line->author), .sub = sub, .times_looped = times };
	struct span value;
	struct place *old = place.agent ? find_place(p, place.agent) : NULL;

	place.escalated = line->metadata.len &&
			  json_member(line->metadata, "adkfs.escalated", &value) == 0 &&
			  span_is(value, "true");
	if (old) {
		free(old->agent);
		free(old->sub);
		*old = place;
		return 0;
	}
	if (place.agent)
		buf_add(&p->places, &place, sizeof place);
	if (place.agent && !p->places.failed)
		return 0;
	free(place.agent);
	free(sub);
	return -ENOMEM;
}

static int note_place(struct pause *p, const struct past_line *line)
{
	struct span state;
	struct span value;
	unsigned times = 0;

	if (!line->actions.len)
		return 0;
	if (json_member(line->actions, "endOfAgent", &value) == 0 && span_is(value, "true"))
		return set_place(p, line, NULL, 0);
	if (json_member(line->actions, "agentState", &state) < 0 ||
	    json_member(state, "current_sub_agent", &value) < 0 || value.data[0] != '"')
		return 0;
	if (json_member(state, "times_looped", &state) == 0)
		times = (unsigned)strtoul(state.data, NULL, 10);
	return set_place(p, line, text_of(value), times);
}

static int take_line(void *arg, const struct past_line *line)
{
	struct pause *p = arg;
	int ours = check_line(p, line);
	int r;

	if (ours < 0)
		return ours;
	r = note_content(p, line, ours);
	return r == 0 && ours ? note_place(p, line) : r;
}

static int take_message(void *arg, const struct past_line *line)
{
	*(char **)arg = resumed_by(line);
	return 1;
}

static const struct past_turn *find_turn(const struct past *past, const char *invocation)
{
	size_t n;
	const struct past_turn *turns = past_turns(past, &n);
	size_t end = n > TURNS_BACK ? n - TURNS_BACK : 0;

	while (n-- > end) {
		if (!turns[n].is_undone && !strcmp(turns[n].invocation, invocation))
			return &turns[n];
	}
	return NULL;
}

/* The turn that the pause began with. NULL: it is not there, or err is set. */
static const struct past_turn *first_turn(struct past *past, const char *invocation,
					  struct err *err)
{
	const struct past_turn *turn = find_turn(past, invocation);

	while (turn) {
		char *resumed = NULL; /* by its message */
		const struct past_turn *before;

		if (past_each(past, turn->n, turn->n, take_message, &resumed, err) < 0)
			return NULL;
		before = resumed ? find_turn(past, resumed) : NULL;
		free(resumed);
		if (!before || before->n >= turn->n)
			break;
		turn = before;
	}
	return turn;
}

static int pause_load(struct pause *p, struct invocation *in, const char *invocation,
		      struct err *err)
{
	CLEANUP(past_release) struct past past = { 0 };
	const struct past_turn *first;
	int r = past_load(&past, in->host->store, in->live->ref, err);

	if (r < 0)
		return r;
	past_drop_summaries(&past);
	first = first_turn(&past, invocation, err);
	if (!first)
		return err->code;
	buf_add(&p->invocations, first->invocation, strlen(first->invocation) + 1);
	r = buf_check(&p->invocations, err);
	if (r == 0)
		r = past_each(&past, first->n, first->n, take_line, p, err);
	p->is_one = p->open.len > 0;
	if (r == 0 && first->n < in->live->n)
		r = past_each(&past, first->n + 1, in->live->n, take_line, p, err);
	return r < 0 && !err->code ? err_nomem(err) : r;
}

/* Who is resumed */

void resumed_free(struct resumed *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(list[i].branch);
		free(list[i].invocation);
		buf_release(&list[i].before);
	}
	free(list);
}

static bool is_listed(const struct resumed *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (list[i].agent == list[n].agent && !strcmp(list[i].branch, list[n].branch))
			return true;
	}
	return false;
}

/* Who handed over to the caller, says the line of the call; those that are still there. */
static int read_before(struct invocation *in, struct span line, struct buf *before)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct span metadata;
	struct span list;
	struct json_scan s;
	bool first = true;
	int r;

	if (json_member(line, "customMetadata", &metadata) < 0 ||
	    json_member(metadata, "adkfs.transfers", &list) < 0)
		return 0;
	s = json_scan_of(list, JSON_DEPTH_FREE, NULL);
	r = json_open(&s, '[');
	while (r == 0 && (r = json_item(&s, &first)) == 1) {
		struct agent *agent;

		buf_clear(&name);
		r = json_take_string(&s, &name);
		agent = r == 0 && buf_cstr(&name) ? agent_find(in->tree->root, name.data) : NULL;
		if (agent)
			buf_add(before, &agent, sizeof agent);
	}
	return name.failed || before->failed ? -ENOMEM : 0; /* a line of others may say anything */
}

/* Who called. 1: nobody who is still there. */
static int find_caller(struct invocation *in, const char *id, struct resumed *out, struct err *err)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	CLEANUP(buf_release) struct buf branch = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	struct err reason = { 0 };
	struct span value = SPAN("");
	int r = select_caller(in->host->store, in->live->ref, id, &author, &branch, &line, &reason);

	if (r == -ENOENT)
		return 1;
	if (r < 0) {
		*err = reason;
		return r;
	}
	if (!buf_cstr(&author) || !buf_cstr(&branch))
		return err_nomem(err);
	out->agent = agent_find(in->tree->root, author.data);
	if (!out->agent)
		return 1;
	(void)!json_member(buf_span(&line), "invocationId", &value);
	out->branch = strdup(branch.data);
	out->invocation = text_of(value);
	if (read_before(in, buf_span(&line), &out->before) < 0 || !out->branch || !out->invocation)
		return err_nomem(err);
	return 0;
}

int resumed_find(struct invocation *in, struct resumed **out, size_t *n, struct err *err)
{
	CLEANUP(content_free_p) struct content *message = NULL;
	struct resumed *list;
	size_t count = 0;
	size_t i;
	int r = 0;

	if (!in->user_content.len || content_from_stored(buf_span(&in->user_content), &message) < 0)
		return 0;
	list = calloc(message->count + 1, sizeof *list);
	if (!list)
		return err_nomem(err);
	for (i = 0; r >= 0 && i < message->count; i++) {
		if (message->parts[i].kind != PART_RESPONSE || !message->parts[i].id)
			continue;
		r = find_caller(in, message->parts[i].id, &list[count], err);
		if (r == 0 && !is_listed(list, count)) {
			count++;
			continue;
		}
		free(list[count].branch);
		free(list[count].invocation);
		buf_release(&list[count].before);
		list[count] = (struct resumed){ 0 };
	}
	if (r < 0) {
		resumed_free(list, count);
		return r;
	}
	*out = list;
	*n = count;
	return 0;
}

/* Going on */

/* Leave the branch of a sub-agent of a parallel agent. false: it is not on that. */
static bool leave_branch(char *branch, const struct agent *parallel, const struct agent *sub)
{
	CLEANUP(buf_release) struct buf own = { 0 };
	size_t len = strlen(branch);
	size_t at;

	buf_printf(&own, "%s.%s", parallel->name, sub->name);
	if (own.failed || len < own.len)
		return false;
	at = len - own.len;
	if (memcmp(branch + at, own.data, own.len) != 0 || (at && branch[at - 1] != '.'))
		return false;
	branch[at ? at - 1 : 0] = '\0';
	return true;
}

/* "a.b" is on it and so is "a.b.c", of "a.b". */
static bool is_on(const char *branch, const char *above, const char *agent)
{
	size_t len = strlen(above);

	if (len) {
		if (strncmp(branch, above, len) != 0 || branch[len] != '.')
			return false;
		branch += len + 1;
	}
	len = strlen(agent);
	return !strncmp(branch, agent, len) && branch[len] == '.';
}

/* Another branch of a parallel agent waits, or has yet to get the answer that came for it. */
static bool others_wait(const struct pause *p, const struct agent *parallel, const char *branch,
			const struct resumed *rest, size_t n)
{
	size_t count;
	size_t i;
	const struct open_call *open = open_of(p, &count);

	for (i = 0; i < count; i++) {
		if (is_on(open[i].branch, branch, parallel->name))
			return true;
	}
	for (i = 0; i < n; i++) {
		if (is_on(rest[i].branch, branch, parallel->name))
			return true;
	}
	return false;
}

static bool waits_itself(const struct pause *p)
{
	size_t n;
	size_t i;
	const struct open_call *open = open_of(p, &n);

	for (i = 0; i < n; i++) {
		if (is_callers(p, &open[i]))
			return true;
	}
	return false;
}

/* A workflow agent behind a sub-agent that is done. 1: it does not go on. */
static int go_on(struct run *run, const struct pause *p, const struct agent *done, char *branch,
		 const struct resumed *rest, size_t n)
{
	const struct agent *agent = run->agent;
	const struct place *place = find_place(p, agent->name);
	bool is_there = place && place->sub && !strcmp(place->sub, done->name);

	if (agent->kind == AGENT_PARALLEL) {
		if (place || !leave_branch(branch, agent, done) ||
		    others_wait(p, agent, branch, rest, n))
			return 1;
		run->branch = *branch ? branch : NULL;
	} else if (!is_there) {
		return 1; /* it did not pause here, or the tree is another one now */
	}
	run->escalated |= agent->kind == AGENT_LOOP && place->escalated;
	return run_agent_after(run, done, place ? place->times_looped : 0);
}

/* The agents around the one that was resumed, until one waits. */
static int climb(struct run *run, const struct pause *p, char *branch, const struct resumed *rest,
		 size_t n)
{
	const struct agent *done = run->agent;
	int r = 0;

	while (r == 0 && !run->paused && done->parent) {
		run->agent = done->parent;
		if (run->agent->kind != AGENT_LLM)
			r = go_on(run, p, done, branch, rest, n);
		done = run->agent;
	}
	return r < 0 ? r : 0;
}

/* An escalate before something waits again: the loop around it has to know when it goes on. */
static int keep_escalate(struct run *run, const struct pause *p, char *branch)
{
	const struct place *place;
	const struct agent *sub = run->agent;
	struct agent *around = sub->parent;

	for (; around && around->kind != AGENT_LOOP; around = around->parent) {
		if (around->kind == AGENT_PARALLEL)
			(void)leave_branch(branch, around, sub);
		sub = around;
	}
	place = around ? find_place(p, around->name) : NULL;
	if (!place || !place->sub || place->escalated || strcmp(place->sub, sub->name) != 0)
		return 0;
	run->agent = around;
	run->branch = *branch ? branch : NULL;
	return workflow_place(run, place->sub, place->times_looped);
}

/* Those who handed over end with it, unless it never waited: they have ended then. */
static int take_before(struct run *run, const struct pause *p, struct resumed *one)
{
	CLEANUP(pause_release)
	struct pause was = { .agent = p->agent, .branch = p->branch };
	struct err err = { 0 };

	if (!one->before.len)
		return 0;
	if (pause_load(&was, run->ground->in, one->invocation, &err) < 0)
		return run_fail(run, NULL, &err);
	if (was.has_waited) {
		run->before = one->before;
		one->before = (struct buf){ 0 };
	}
	return 0;
}

/* The agent itself. p: becomes the pause as it is when its work is done. */
static int resume_agent(struct run *run, struct pause *p, struct resumed *one)
{
	struct agent *own = run->agent;
	struct err err = { 0 };
	int worked;
	int r = take_before(run, p, one);

	if (r < 0)
		return r;
	worked = run_agent_work(run, NULL, 0);
	if (worked < 0)
		return worked;
	if (pause_load(p, run->ground->in, one->invocation, &err) < 0)
		return run_fail(run, NULL, &err);
	run->paused |= waits_itself(p);
	return run_agent_end(run, own, worked);
}

static int resume_one(struct run *run, struct resumed *one, const struct resumed *rest, size_t n)
{
	CLEANUP(pause_release)
	struct pause pause = { .agent = run->agent, .branch = one->branch };
	int r = confirm_is_spent(run);

	if (r)
		return r < 0 ? r : 0;
	r = resume_agent(run, &pause, one);
	if (r == 0 && pause.is_one)
		r = climb(run, &pause, one->branch, rest, n);
	if (r == 0 && run->escalated)
		r = keep_escalate(run, &pause, one->branch);
	return r;
}

int resumed_run(struct ground *g, struct resumed *list, size_t n, struct failure *failure)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++) {
		struct run run = { .ground = g,
				   .agent = list[i].agent,
				   .branch = *list[i].branch ? list[i].branch : NULL,
				   .failure = failure };

		r = resume_one(&run, &list[i], list + i + 1, n - i - 1);
		buf_release(&run.before);
	}
	return r;
}
