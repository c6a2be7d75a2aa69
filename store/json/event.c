/*
 * Event: see event.h. The tables of its JSON are at the start; their order is
 * the order of the enumerations, and of a written line.
 */
#include "store/json/event.h"

#include "store/json/deleted.h"
#include "store/json/state_key.h"
#include "store/json/time.h"

#include <errno.h>
#include <stdlib.h>

static const struct shape transcription = { "transcription", transcription_fields };

static const struct field tokens_fields[] = {
	{ "modality", FIELD_STRING, NULL, 0 },
	{ "tokenCount", FIELD_INT, NULL, 0 },
	{ 0 },
};
static const struct shape tokens = { "token details", tokens_fields };

static const struct field usage_fields[] = {
	{ "cacheTokensDetails", FIELD_SHAPE_LIST, &tokens, 0 },
	{ "candidatesTokensDetails", FIELD_SHAPE_LIST, &tokens, 0 },
	{ "promptTokensDetails", FIELD_SHAPE_LIST, &tokens, 0 },
	{ "toolUsePromptTokensDetails", FIELD_SHAPE_LIST, &tokens, 0 },
	{ "cachedContentTokenCount", FIELD_INT, NULL, 0 },
	{ "candidatesTokenCount", FIELD_INT, NULL, 0 },
	{ "promptTokenCount", FIELD_INT, NULL, 0 },
	{ "thoughtsTokenCount", FIELD_INT, NULL, 0 },
	{ "toolUsePromptTokenCount", FIELD_INT, NULL, 0 },
	{ "totalTokenCount", FIELD_INT, NULL, 0 },
	{ "trafficType", FIELD_STRING, NULL, 0 },
	{ 0 },
};
static const struct shape usage = { "usageMetadata", usage_fields };

static const struct field date_fields[] = {
	{ "year", FIELD_INT, NULL, 0 },
	{ "month", FIELD_INT, NULL, 0 },
	{ "day", FIELD_INT, NULL, 0 },
	{ 0 },
};
static const struct shape date = { "publicationDate", date_fields };

static const struct field citation_fields[] = {
	{ "startIndex", FIELD_INT, NULL, 0 },
	{ "endIndex", FIELD_INT, NULL, 0 },
	{ "uri", FIELD_STRING, NULL, 0 },
	{ "title", FIELD_STRING, NULL, 0 },
	{ "license", FIELD_STRING, NULL, 0 },
	{ "publicationDate", FIELD_SHAPE, &date, 0 },
	{ 0 },
};
static const struct shape citation = { "citation", citation_fields };

static const struct field citations_fields[] = {
	{ "citations", FIELD_SHAPE_LIST, &citation, 0 },
	{ 0 },
};
static const struct shape citations = { "citationMetadata", citations_fields };

static const struct field node_info_fields[] = {
	{ "path", FIELD_STRING, NULL, 0 },
	{ "outputFor", FIELD_FREE, NULL, 0 },
	{ "messageAsOutput", FIELD_FREE, NULL, 0 },
	{ 0 },
};
static const struct shape node_info = { "nodeInfo", node_info_fields };

static const struct field confirmation_fields[] = {
	{ "hint", FIELD_STRING, NULL, 0 },
	{ "confirmed", FIELD_BOOL, NULL, 0 },
	{ "payload", FIELD_FREE, NULL, 0 },
	{ 0 },
};
static const struct shape confirmation = { "toolConfirmation", confirmation_fields };

static const struct field compaction_fields[] = {
	{ "startTimestamp", FIELD_TIME, NULL, FIELD_REQUIRED },
	{ "endTimestamp", FIELD_TIME, NULL, FIELD_REQUIRED },
	{ "compactedContent", FIELD_SHAPE, &content_shape, FIELD_REQUIRED },
	{ 0 },
};
static const struct shape compaction = { "compaction", compaction_fields };

static const struct field action_fields[] = {
	[ACTION_SKIP_SUMMARIZATION] = { "skipSummarization", FIELD_BOOL, NULL, 0 },
	[ACTION_STATE_DELTA] = { "stateDelta", FIELD_FREE_OBJECT, NULL, FIELD_NOT_NULL },
	[ACTION_ARTIFACT_DELTA] = { "artifactDelta", FIELD_INT_MAP, NULL, FIELD_NOT_NULL },
	[ACTION_TRANSFER] = { "transferToAgent", FIELD_STRING, NULL, 0 },
	[ACTION_ESCALATE] = { "escalate", FIELD_BOOL, NULL, 0 },
	[ACTION_AUTH] = { "requestedAuthConfigs", FIELD_OPAQUE_MAP, NULL, FIELD_NOT_NULL },
	[ACTION_CONFIRMATIONS] = { "requestedToolConfirmations", FIELD_SHAPE_MAP, &confirmation,
				   FIELD_DROP_EMPTY },
	[ACTION_COMPACTION] = { "compaction", FIELD_SHAPE, &compaction, 0 },
	[ACTION_END_OF_AGENT] = { "endOfAgent", FIELD_BOOL, NULL, 0 },
	[ACTION_AGENT_STATE] = { "agentState", FIELD_FREE_OBJECT, NULL, 0 },
	[ACTION_REWIND] = { "rewindBeforeInvocationId", FIELD_ID, NULL, 0 },
	[ACTION_ROUTE] = { "route", FIELD_ROUTE, NULL, 0 },
	[ACTION_UI_WIDGETS] = { "renderUiWidgets", FIELD_OPAQUE_LIST, NULL, 0 },
	[ACTION_MODEL_RESPONSE] = { "setModelResponse", FIELD_FREE, NULL, 0 },
	[ACTION_MEMBERS] = { 0 },
};
static const struct shape actions_shape = { "actions", action_fields };

static const struct field event_fields[] = {
	[EVENT_MODEL_VERSION] = { "modelVersion", FIELD_STRING, NULL, 0 },
	[EVENT_CONTENT] = { "content", FIELD_SHAPE, &content_shape, 0 },
	[EVENT_GROUNDING] = { "groundingMetadata", FIELD_OPAQUE, NULL, 0 },
	[EVENT_PARTIAL] = { "partial", FIELD_BOOL, NULL, 0 },
	[EVENT_TURN_COMPLETE] = { "turnComplete", FIELD_BOOL, NULL, 0 },
	[EVENT_TURN_COMPLETE_REASON] = { "turnCompleteReason", FIELD_STRING, NULL, 0 },
	[EVENT_FINISH_REASON] = { "finishReason", FIELD_UPPER, NULL, 0 },
	[EVENT_ERROR_CODE] = { "errorCode", FIELD_STRING, NULL, 0 },
	[EVENT_ERROR_MESSAGE] = { "errorMessage", FIELD_STRING, NULL, 0 },
	[EVENT_INTERRUPTED] = { "interrupted", FIELD_BOOL, NULL, 0 },
	[EVENT_CUSTOM_METADATA] = { "customMetadata", FIELD_FREE_OBJECT, NULL, 0 },
	[EVENT_USAGE] = { "usageMetadata", FIELD_SHAPE, &usage, 0 },
	[EVENT_LIVE_RESUMPTION] = { "liveSessionResumptionUpdate", FIELD_OPAQUE, NULL, 0 },
	[EVENT_LIVE_SESSION] = { "liveSessionId", FIELD_STRING, NULL, 0 },
	[EVENT_GO_AWAY] = { "goAway", FIELD_OPAQUE, NULL, 0 },
	[EVENT_LIVE_SETUP] = { "liveSetupComplete", FIELD_OPAQUE, NULL, 0 },
	[EVENT_INPUT_TRANSCRIPTION] = { "inputTranscription", FIELD_SHAPE, &transcription, 0 },
	[EVENT_OUTPUT_TRANSCRIPTION] = { "outputTranscription", FIELD_SHAPE, &transcription, 0 },
	[EVENT_AVG_LOGPROBS] = { "avgLogprobs", FIELD_NUMBER, NULL, 0 },
	[EVENT_LOGPROBS] = { "logprobsResult", FIELD_OPAQUE, NULL, 0 },
	[EVENT_CACHE_METADATA] = { "cacheMetadata", FIELD_OPAQUE, NULL, 0 },
	[EVENT_CITATIONS] = { "citationMetadata", FIELD_SHAPE, &citations, 0 },
	[EVENT_INTERACTION] = { "interactionId", FIELD_STRING, NULL, 0 },
	[EVENT_INVOCATION] = { "invocationId", FIELD_ID, NULL, FIELD_NOT_NULL },
	[EVENT_AUTHOR] = { "author", FIELD_ID, NULL, FIELD_NOT_NULL },
	[EVENT_ACTIONS] = { "actions", FIELD_SHAPE, &actions_shape, FIELD_NOT_NULL },
	[EVENT_OUTPUT] = { "output", FIELD_FREE, NULL, 0 },
	[EVENT_NODE_INFO] = { "nodeInfo", FIELD_SHAPE, &node_info, FIELD_DROP_EMPTY },
	[EVENT_LONG_RUNNING] = { "longRunningToolIds", FIELD_ID_SET, NULL, FIELD_DROP_EMPTY },
	[EVENT_BRANCH] = { "branch", FIELD_ID, NULL, 0 },
	[EVENT_ISOLATION] = { "isolationScope", FIELD_STRING, NULL, 0 },
	[EVENT_ID] = { "id", FIELD_ID, NULL, FIELD_NOT_NULL },
	[EVENT_TIMESTAMP] = { "timestamp", FIELD_TIME, NULL, FIELD_NOT_NULL },
	[EVENT_MEMBERS] = { 0 },
};
static const struct shape event_shape = { "event", event_fields };

void event_release(struct event *e)
{
	buf_release(&e->text);
	buf_release(&e->temp_text);
	*e = (struct event){ 0 };
}

static struct span member(const struct event *e, const struct fieldset *set, size_t which)
{
	if (!set->value[which].len)
		return (struct span){ "", 0 };
	return (struct span){ e->text.data + set->value[which].at, set->value[which].len };
}

struct span event_json(const struct event *e, enum event_member which)
{
	return member(e, &e->top, which);
}

struct span event_action(const struct event *e, enum action_member which)
{
	return member(e, &e->actions, which);
}

/* Point a member at what was appended to the text since `at`. */
static void set_from(struct event *e, struct fieldset *set, size_t which, size_t at)
{
	set->value[which].at = at;
	set->value[which].len = e->text.len - at;
}

void event_set_json(struct event *e, enum event_member which, struct span json)
{
	size_t at = e->text.len;

	buf_span_add(&e->text, json);
	set_from(e, &e->top, which, at);
}

void event_set_text(struct event *e, enum event_member which, struct span text)
{
	size_t at = e->text.len;

	json_quote(&e->text, text);
	set_from(e, &e->top, which, at);
}

void event_set_action(struct event *e, enum action_member which, struct span json)
{
	size_t at = e->text.len;

	buf_span_add(&e->text, json);
	set_from(e, &e->actions, which, at);
}

void event_set_time(struct event *e, int64_t usec)
{
	size_t at = e->text.len;

	time_print(&e->text, usec);
	set_from(e, &e->top, EVENT_TIMESTAMP, at);
}

void event_set_content(struct event *e, const struct content *content)
{
	size_t at = e->text.len;

	content_to_json(content, &e->text);
	set_from(e, &e->top, EVENT_CONTENT, at);
}

static void add_to_delta(struct event *e, struct span members)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	struct span old = event_action(e, ACTION_STATE_DELTA);

	buf_add(&delta, old.data, old.len ? old.len - 1 : 0);
	buf_char(&delta, old.len ? ',' : '{');
	if (old.len == 2)
		delta.len = 1;
	buf_span_add(&delta, members);
	buf_char(&delta, '}');
	e->text.failed |= delta.failed;
	event_set_action(e, ACTION_STATE_DELTA, buf_span(&delta));
}

int event_text(const struct event *e, enum event_member which, struct buf *out)
{
	struct span token = event_json(e, which);

	return token.len ? json_unquote(token, out) : 0;
}

int64_t event_time(const struct event *e)
{
	int64_t usec = 0;

	return time_parse(event_json(e, EVENT_TIMESTAMP), &usec) < 0 ? 0 : usec;
}

int event_check(const struct event *e, struct err *err)
{
	return buf_check(&e->text, err);
}

static int keep_member(void *arg, struct span key, struct span value)
{
	struct buf *metadata = arg;

	if (span_is(key, DELETED_MEMBER))
		return 0;
	json_quote(metadata, key);
	buf_char(metadata, ':');
	buf_span_add(metadata, value);
	buf_char(metadata, ',');
	return 0;
}

/* customMetadata with more deleted keys. */
static void add_to_deleted(struct event *e, struct span names)
{
	struct span old = event_json(e, EVENT_CUSTOM_METADATA);
	CLEANUP(buf_release) struct buf metadata = { 0 };
	struct span list = { "", 0 };
	int r = 0;

	buf_char(&metadata, '{');
	if (old.len)
		r = json_each(old, keep_member, &metadata);
	buf_text(&metadata, "\"" DELETED_MEMBER "\":[");
	if (old.len && json_member(old, DELETED_MEMBER, &list) == 0 && list.len > 2) {
		buf_span_add(&metadata, span_sub(list, 1, list.len - 1));
		buf_char(&metadata, ',');
	}
	buf_span_add(&metadata, names);
	buf_text(&metadata, "]}");
	e->text.failed |= r < 0 || metadata.failed;
	event_set_json(e, EVENT_CUSTOM_METADATA, buf_span(&metadata));
}

void event_change_states(struct event *e, struct span members, struct span deleted)
{
	if (members.len)
		add_to_delta(e, members);
	if (deleted.len)
		add_to_deleted(e, deleted);
}

void event_set_state(struct event *e, const char *key, struct span json)
{
	CLEANUP(buf_release) struct buf member = { 0 };

	json_quote(&member, span_of(key));
	buf_char(&member, ':');
	buf_span_add(&member, json);
	e->text.failed |= member.failed;
	event_change_states(e, buf_span(&member), SPAN(""));
}

void event_delete_state(struct event *e, const char *key)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	json_quote(&name, span_of(key));
	e->text.failed |= name.failed;
	event_set_state(e, key, SPAN("null"));
	event_change_states(e, SPAN(""), buf_span(&name));
}

struct check {
	struct event *e;
	struct err *err;
	struct deleted deleted;
	struct buf kept; /* stateDelta without temp: keys */
	bool has_temp;
};

static void meet_deleted(struct check *c, struct span key)
{
	struct deleted_key *deleted = deleted_find(&c->deleted, key);

	if (deleted)
		deleted->met = true;
}

static int check_state_member(void *arg, struct span key, struct span value)
{
	struct check *c = arg;
	struct buf *out = statekey_is_temp(key) ? &c->e->temp_text : &c->kept;
	int r = statekey_check(key, c->err);

	if (r < 0)
		return r;
	if (value.len > STATE_VALUE_MAX)
		return err_set(c->err, -EFBIG, "the value of state key '%.*s' is over %u bytes",
			       (int)MIN(key.len, 60), key.data, STATE_VALUE_MAX);
	if (span_is(value, "null"))
		meet_deleted(c, key);
	c->has_temp |= out != &c->kept;
	buf_char(out, out->len ? ',' : '{');
	json_quote(out, key);
	buf_char(out, ':');
	buf_span_add(out, value);
	return 0;
}

/* Check the keys of stateDelta and move `temp:` ones out of it. */
static int check_state(struct check *c)
{
	struct span delta = event_action(c->e, ACTION_STATE_DELTA);
	int r;

	if (delta.len <= 2)
		return 0;
	r = json_each(delta, check_state_member, c);
	if (r < 0 || !c->has_temp)
		return r;
	buf_text(&c->kept, c->kept.len ? "}" : "{}");
	buf_char(&c->e->temp_text, '}');
	r = buf_check(&c->kept, c->err);
	if (r == 0)
		r = buf_check(&c->e->temp_text, c->err);
	if (r < 0)
		return r;
	c->e->temp_delta = buf_span(&c->e->temp_text);
	event_set_action(c->e, ACTION_STATE_DELTA, buf_span(&c->kept));
	return event_check(c->e, c->err);
}

/* A deleted key is null in stateDelta. A stored line never has `temp:` keys. */
static int check_deleted(const struct check *c)
{
	struct span name;
	size_t at = 0;

	while (deleted_unmet(&c->deleted, &at, &name)) {
		if (!statekey_is_temp(name))
			return err_set(
				c->err, -EINVAL,
				"adkfs.deleted names '%.*s', which is not null in stateDelta",
				(int)MIN(name.len, 60), name.data);
	}
	return 0;
}

/* Drop members with values that mean absent. */
static void drop_empty(struct event *e)
{
	if (span_is(event_json(e, EVENT_ID), "\"\""))
		e->top.value[EVENT_ID].len = 0;
	if (span_is(event_json(e, EVENT_NODE_INFO), "{\"path\":\"\"}"))
		e->top.value[EVENT_NODE_INFO].len = 0;
}

static int take_actions(struct event *e, struct err *err)
{
	struct span text = event_json(e, EVENT_ACTIONS);
	CLEANUP(buf_release) struct buf copy = { 0 };
	struct json_scan s;
	int r;

	if (!text.len)
		return 0;
	buf_span_add(&copy, text);
	r = buf_check(&copy, err);
	if (r < 0)
		return r;
	s = json_scan_of(buf_span(&copy), JSON_DEPTH_MAX, err);
	return shape_fields(&s, &actions_shape, &e->actions, &e->text);
}

static int check_event(struct event *e, struct err *err)
{
	struct check c = { .e = e, .err = err };
	struct span author = event_json(e, EVENT_AUTHOR);
	int r;

	if (author.len <= 2)
		return err_set(err, -EINVAL, "event: 'author' is missing");
	r = deleted_read(event_json(e, EVENT_CUSTOM_METADATA), &c.deleted, err);
	if (r == 0)
		r = check_state(&c);
	if (r == 0)
		r = check_deleted(&c);
	deleted_release(&c.deleted);
	buf_release(&c.kept);
	return r;
}

int event_from_json(struct span line, struct event *e, struct err *err)
{
	struct json_scan s = json_scan_of(line, JSON_DEPTH_MAX, err);
	int r;

	*e = (struct event){ 0 };
	if (line.len > EVENT_LINE_MAX)
		return err_set(err, -EFBIG, "the line is over %u bytes", EVENT_LINE_MAX);
	(void)buf_reserve(&e->text, line.len + 256);
	r = shape_fields(&s, &event_shape, &e->top, &e->text);
	if (r == 0)
		r = json_end(&s);
	if (r == 0)
		r = take_actions(e, err);
	if (r == 0) {
		drop_empty(e);
		r = check_event(e, err);
	}
	return r == -ENODATA ? -EINVAL : r;
}

static void actions_to_json(const struct event *e, struct buf *out)
{
	size_t from = out->len;
	size_t i;

	buf_char(out, '{');
	for (i = 0; i < ACTION_MEMBERS; i++) {
		struct span value = event_action(e, (enum action_member)i);

		if (!value.len && (action_fields[i].flags & FIELD_NOT_NULL))
			value = SPAN("{}");
		if (!value.len)
			continue;
		buf_text(out, out->len > from + 1 ? ",\"" : "\"");
		buf_text(out, action_fields[i].name);
		buf_text(out, "\":");
		buf_span_add(out, value);
	}
	buf_char(out, '}');
}

void event_to_json(const struct event *e, struct buf *out)
{
	size_t from = out->len;
	size_t i;

	buf_char(out, '{');
	for (i = 0; i < EVENT_MEMBERS; i++) {
		struct span value = event_json(e, (enum event_member)i);

		if (i == EVENT_INVOCATION && !value.len)
			value = SPAN("\"\"");
		if (!value.len && i != EVENT_ACTIONS)
			continue;
		buf_text(out, out->len > from + 1 ? ",\"" : "\"");
		buf_text(out, event_fields[i].name);
		buf_text(out, "\":");
		if (i == EVENT_ACTIONS)
			actions_to_json(e, out);
		else
			buf_span_add(out, value);
	}
	buf_char(out, '}');
}
