/*
 * Answers: see answers.h.
 */
#include "runner/history/answers.h"

#include "base/json_merge.h"
#include "runner/history/speaker.h"
#include "store/turn/text.h"

#include <errno.h>

#define RESUMES "adkfs.resumes"

/* Append the id of the turn that made the call. */
static int find_invocation(struct store *st, struct ref session, const char *id,
			   struct buf *invocation, struct err *err)
{
	CLEANUP(caller_release) struct caller caller = { 0 };
	struct span value;
	int r = speaker_of_call(st, session, id, &caller, err);

	if (r == -ENOENT)
		return err_set(err, -EINVAL,
			       "a functionResponse answers %.80s, but no call has that id", id);
	if (r < 0 || invocation->len ||
	    json_member(buf_span(&caller.line), "invocationId", &value) < 0)
		return r;
	return json_unquote(value, invocation);
}

static int name_resumed(struct event *message, struct span invocation, struct err *err)
{
	CLEANUP(buf_release) struct buf mark = { 0 };
	CLEANUP(buf_release) struct buf metadata = { 0 };
	struct span old = event_json(message, EVENT_CUSTOM_METADATA);
	int r;

	buf_text(&mark, "{\"" RESUMES "\":");
	json_quote(&mark, invocation);
	buf_char(&mark, '}');
	r = json_merge(old.len ? old : SPAN("{}"), buf_span(&mark), &metadata);
	if (r < 0 || mark.failed)
		return err_nomem(err);
	event_set_json(message, EVENT_CUSTOM_METADATA, buf_span(&metadata));
	return event_check(message, err);
}

int answers_link(struct store *st, struct ref session, struct event *message, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	size_t i;
	int r = turn_content(message, &content);

	if (r < 0)
		return err_nomem(err);
	for (i = 0; r == 0 && content && i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_RESPONSE)
			continue;
		if (!p->id)
			return err_set(err, -EINVAL, "a functionResponse needs the id of its call");
		r = find_invocation(st, session, p->id, &invocation, err);
	}
	return r < 0 || !invocation.len ? r : name_resumed(message, buf_span(&invocation), err);
}
