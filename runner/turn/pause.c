/*
 * Pauses: see pause.h.
 */
#include "runner/turn/pause.h"

#include "runner/history/pairing.h"
#include "runner/history/past.h"
#include "runner/turn/confirm.h"

#include <errno.h>
#include <stdlib.h>

#define TURNS_BACK 1000 /* the last turns, in which the pause that an answer ends is found */

static struct pause_place *places_of(const struct pause *p, size_t *n)
{
	return BUF_LIST(struct pause_place, &p->places, n);
}

struct open_call *pause_open_calls(const struct pause *p, size_t *n)
{
	return BUF_LIST(struct open_call, &p->open, n);
}

static void open_call_release(struct open_call *call)
{
	free(call->id);
	free(call->agent);
	free(call->branch);
}

void pause_release(struct pause *p)
{
	size_t n;
	size_t i;
	struct pause_place *places = places_of(p, &n);
	struct open_call *open;

	for (i = 0; i < n; i++) {
		free(places[i].agent);
		free(places[i].sub);
	}
	open = pause_open_calls(p, &n);
	for (i = 0; i < n; i++)
		open_call_release(&open[i]);
	buf_release(&p->invocations);
	buf_release(&p->places);
	buf_release(&p->open);
}

/* Reading the log */

char *pause_text(struct span json)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (json.len && json_unquote(json, &text) < 0)
		return NULL;
	return buf_cstr(&text) ? strdup(text.data) : NULL;
}

/* The turn that a message resumes; NULL: none. */
static char *resumed_by(const struct past_line *line)
{
	struct span value;

	if (!line->metadata.len || json_member(line->metadata, "adkfs.resumes", &value) < 0)
		return NULL;
	return pause_text(value);
}

/* Whether a line belongs to the pause. A message that resumes the pause adds its turn. */
static int check_line(struct pause *p, const struct past_line *line)
{
	char *invocation = pause_text(line->invocation);
	char *resumed = resumed_by(line);
	int r = invocation ? 0 : -ENOMEM;

	if (r == 0 && !buf_has_text(&p->invocations, invocation) && resumed &&
	    buf_has_text(&p->invocations, resumed)) {
		buf_add(&p->invocations, invocation, strlen(invocation) + 1);
		r = buf_check(&p->invocations, NULL);
	}
	if (r == 0)
		r = buf_has_text(&p->invocations, invocation);
	free(invocation);
	free(resumed);
	return r;
}

static int add_call(struct pause *p, const struct past_line *line, const char *id)
{
	struct open_call call = { strdup(id), pause_text(line->author), pause_text(line->branch),
				  line->turn };

	if (call.id && call.agent && call.branch)
		buf_add(&p->open, &call, sizeof call);
	if (call.id && call.agent && call.branch && !p->open.failed)
		return 0;
	open_call_release(&call);
	return -ENOMEM;
}

bool pause_is_callers(const struct pause *p, const struct open_call *call)
{
	return !strcmp(call->agent, p->agent->name) && !strcmp(call->branch, p->branch);
}

static void drop_call(struct pause *p, const struct past_line *line, const char *id)
{
	size_t n;
	size_t i;
	struct open_call *open = pause_open_calls(p, &n);

	for (i = n; i-- > 0;) {
		if (strcmp(open[i].id, id) != 0)
			continue;
		p->has_waited |= line->turn != open[i].turn && pause_is_callers(p, &open[i]);
		open_call_release(&open[i]);
		memmove(open + i, open + i + 1, (n - i - 1) * sizeof *open);
		p->open.len -= sizeof *open;
		n--;
	}
}

/* Note the calls of a line that wait, and the answers to such calls. */
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

struct pause_place *pause_find_place(const struct pause *p, const char *agent)
{
	size_t n;
	size_t i;
	struct pause_place *list = places_of(p, &n);

	for (i = 0; i < n; i++) {
		if (!strcmp(list[i].agent, agent))
			return &list[i];
	}
	return NULL;
}

/* Set the place of the agent that wrote a line. Takes sub. */
static int set_place(struct pause *p, const struct past_line *line, char *sub, unsigned times)
{
	struct pause_place place = { .agent = pause_text(line->author),
				     .sub = sub,
				     .times_looped = times };
	struct span value;
	struct pause_place *old = place.agent ? pause_find_place(p, place.agent) : NULL;

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
	return set_place(p, line, pause_text(value), times);
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

/* Find the turn that the pause began with. NULL: there is none, or err is set. */
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

int pause_load(struct pause *p, struct invocation *in, const char *invocation, struct err *err)
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
