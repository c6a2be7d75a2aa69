/*
 * Messages: see message.h. The table of ADK's run request is at the start.
 */
#include "store/json/message.h"

#include <errno.h>
#include <stdlib.h>

enum request_member {
	REQUEST_APP,
	REQUEST_USER,
	REQUEST_SESSION,
	REQUEST_INVOCATION,
	REQUEST_MESSAGE,
	REQUEST_STATE_DELTA,
	REQUEST_METADATA,
	REQUEST_STREAMING,
	REQUEST_MEMBERS,
};

static const struct field request_fields[] = {
	[REQUEST_APP] = { "appName", FIELD_STRING, NULL, 0 },
	[REQUEST_USER] = { "userId", FIELD_STRING, NULL, 0 },
	[REQUEST_SESSION] = { "sessionId", FIELD_STRING, NULL, 0 },
	[REQUEST_INVOCATION] = { "invocationId", FIELD_STRING, NULL, 0 },
	[REQUEST_MESSAGE] = { "newMessage", FIELD_SHAPE, &content_shape, FIELD_REQUIRED },
	[REQUEST_STATE_DELTA] = { "stateDelta", FIELD_FREE_OBJECT, NULL, 0 },
	[REQUEST_METADATA] = { "customMetadata", FIELD_FREE_OBJECT, NULL, 0 },
	[REQUEST_STREAMING] = { "streaming", FIELD_BOOL, NULL, 0 },
	[REQUEST_MEMBERS] = { 0 },
};
static const struct shape request_shape = { "run request", request_fields };

/* A message in its pieces, canonical. */
struct pieces {
	struct buf text; /* the texts at which the set points */
	struct fieldset set;
};

void message_place_release(struct message_place *place)
{
	buf_release(&place->app);
	buf_release(&place->user);
	buf_release(&place->session);
	buf_release(&place->invocation);
}

/* The newline that a shell adds is not part of the message. */
static struct span without_newline(struct span text)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	if (text.len && text.data[text.len - 1] == '\r')
		text.len--;
	return text;
}

static int parse_text(struct span text, struct event *e, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");

	text = without_newline(text);
	if (!text.len)
		return 1;
	if (!content || content_add_text(content, text, false) < 0)
		return err_nomem(err);
	event_set_content(e, content);
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	return event_check(e, err);
}

/* Whether an object is a Content, by its first key. 0: a run request. */
static int is_content(struct span text, struct err *err)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, err);
	CLEANUP(buf_release) struct buf key = { 0 };
	bool first = true;
	int r = json_open(&s, '{');

	if (r == 0)
		r = json_key(&s, &first, &key);
	if (r < 0)
		return r;
	return r == 0 || span_is(buf_span(&key), "parts") || span_is(buf_span(&key), "role");
}

static int take_pieces(struct span text, struct pieces *p, struct err *err)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, err);
	int r = is_content(text, err);

	if (r < 0)
		return r;
	if (r == 1) {
		r = shape_canonical(&s, &content_shape, &p->text);
		p->set.value[REQUEST_MESSAGE].len = p->text.len;
	} else {
		r = shape_fields(&s, &request_shape, &p->set, &p->text);
	}
	return r < 0 ? r : json_end(&s);
}

static struct span piece(const struct pieces *p, enum request_member which)
{
	if (!p->set.value[which].len)
		return (struct span){ "", 0 };
	return (struct span){ p->text.data + p->set.value[which].at, p->set.value[which].len };
}

static bool is_call(const struct part *p)
{
	struct span call;

	return p->kind == PART_CALL ||
	       (p->kind == PART_OTHER && json_member(span_of(p->json), "functionCall", &call) == 0);
}

/* A user may not call functions, and may not speak in another role. */
static int check_content(struct content *content, struct err *err)
{
	size_t i;

	if (!content->count)
		return err_set(err, -EINVAL, "the message has no parts");
	if (content->role && *content->role && strcmp(content->role, "user") != 0)
		return err_set(err, -EINVAL, "the role of a message must be user, not %.60s",
			       content->role);
	for (i = 0; i < content->count; i++) {
		if (is_call(&content->parts[i]))
			return err_set(err, -EINVAL, "a message cannot call functions");
	}
	if (content->role && *content->role)
		return 0;
	free(content->role);
	content->role = strdup("user");
	return content->role ? 0 : err_nomem(err);
}

/*
 * Write the pieces as a line of the log and parse that, which checks the keys and moves out the
 * `temp:` keys.
 */
static int make_event(const struct pieces *p, struct event *e, struct err *err)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf line = { 0 };
	struct span delta = piece(p, REQUEST_STATE_DELTA);
	struct span metadata = piece(p, REQUEST_METADATA);
	int r = content_from_stored(piece(p, REQUEST_MESSAGE), &content);

	r = r < 0 ? err_set(err, r, "the message cannot be read") : check_content(content, err);
	if (r < 0)
		return r;
	buf_text(&line, "{\"author\":\"user\",\"content\":");
	content_to_json(content, &line);
	if (metadata.len) {
		buf_text(&line, ",\"customMetadata\":");
		buf_span_add(&line, metadata);
	}
	if (delta.len) {
		buf_text(&line, ",\"actions\":{\"stateDelta\":");
		buf_span_add(&line, delta);
		buf_char(&line, '}');
	}
	buf_char(&line, '}');
	r = buf_check(&line, err);
	return r < 0 ? r : event_from_json(buf_span(&line), e, err);
}

static int take_text(const struct pieces *p, enum request_member which, struct buf *out)
{
	struct span token = piece(p, which);

	return token.len ? json_unquote(token, out) : 0;
}

static int take_place(const struct pieces *p, struct message_place *place)
{
	int r = take_text(p, REQUEST_APP, &place->app);

	if (r == 0)
		r = take_text(p, REQUEST_USER, &place->user);
	if (r == 0)
		r = take_text(p, REQUEST_SESSION, &place->session);
	return r < 0 ? r : take_text(p, REQUEST_INVOCATION, &place->invocation);
}

static int parse_json(struct span text, struct event *e, struct message_place *place,
		      struct err *err)
{
	struct pieces p = { 0 };
	int r;

	if (span_is_blank(text))
		return 1;
	r = take_pieces(text, &p, err);
	if (r == 0)
		r = make_event(&p, e, err);
	if (r == 0 && place)
		r = take_place(&p, place);
	buf_release(&p.text);
	return r;
}

int message_parse(enum message_kind kind, struct span text, struct event *e,
		  struct message_place *place, struct err *err)
{
	*e = (struct event){ 0 };
	if (kind == MESSAGE_JSON)
		return parse_json(text, e, place, err);
	return parse_text(text, e, err);
}
