/*
 * Transcripts: see transcript.h.
 */
#include "fs/view/transcript.h"

#include "base/json_text.h"
#include "base/name.h"
#include "store/json/deleted.h"
#include "store/session/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define USER_PREFIX "user:"

struct saved_version {
	char *name;
	uint64_t version;
};

const char *transcript_unanswered(const struct transcript_call *call)
{
	if (call->response.len)
		return NULL;
	return call->info && call->info->answer.len ? "answered later" : "no answer yet";
}

/* Write who speaks, unless the speaker is the same as before in this turn. */
static void need_speaker(struct transcript *t, const char *name)
{
	uint64_t n = t->turn ? t->turn->info.n : 0;

	if (t->speaker_turn == n && !strcmp(t->speaker, name))
		return;
	(void)snprintf(t->speaker, sizeof t->speaker, "%s", name);
	t->speaker_turn = n;
	t->by_user = !strcmp(name, "user");
	t->format->speaker(t, name);
}

/* Calls */

static const struct part *find_part(const struct content *content, enum part_kind kind,
				    const char *id, size_t nth)
{
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind == kind && !strcmp(p->id ? p->id : "", id) && !nth--)
			return p;
	}
	return NULL;
}

/* The number of calls before part i that have its id. */
static size_t nth_of_id(const struct content *calls, size_t i)
{
	const char *id = calls->parts[i].id ? calls->parts[i].id : "";
	size_t n = 0;

	while (i-- > 0) {
		const struct part *p = &calls->parts[i];

		n += p->kind == PART_CALL && !strcmp(p->id ? p->id : "", id);
	}
	return n;
}

static const struct call_info *info_of_part(const struct transcript *t, size_t part)
{
	size_t count;
	const struct call_info *list = BUF_LIST(struct call_info, &t->open_calls, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i].said.part == part)
			return &list[i];
	}
	return NULL;
}

/* Write the calls that wait, with the answers that came. */
static void write_calls(struct transcript *t, const struct content *answers)
{
	const struct content *calls = t->open;
	size_t i;

	if (!calls)
		return;
	need_speaker(t, t->caller);
	for (i = 0; i < calls->count; i++) {
		const struct part *p = &calls->parts[i];
		const struct part *answer;
		struct transcript_call call;

		if (p->kind != PART_CALL)
			continue;
		answer = find_part(answers, PART_RESPONSE, p->id ? p->id : "", nth_of_id(calls, i));
		call = (struct transcript_call){ p->name, span_of(p->json),
						 span_of(answer ? answer->json : ""),
						 info_of_part(t, i) };
		t->format->call(t, &call);
	}
	content_free(STEAL(&t->open));
	buf_clear(&t->open_calls);
	buf_span_add(t->out, buf_span(&t->held));
	buf_clear(&t->held);
}

/* Write the responses to calls other than the latest ones. */
static void write_other_answers(struct transcript *t, const struct content *answers,
				const char *author)
{
	size_t i;

	for (i = 0; i < answers->count; i++) {
		const struct part *p = &answers->parts[i];
		struct transcript_call call = { p->name, SPAN(""), span_of(p->json), NULL };

		if (p->kind != PART_RESPONSE ||
		    find_part(t->open, PART_CALL, p->id ? p->id : "", 0))
			continue;
		need_speaker(t, author);
		t->format->call(t, &call);
	}
}

/* Keep the calls of an event until their answers come. */
static int keep_calls(struct transcript *t, const struct walk_event *e, struct content **content,
		      const char *author)
{
	size_t i;

	for (i = 0; e->turn && i < e->turn->call_count; i++) {
		const struct call_info *info = &e->turn->calls[i];

		if (info->kind == CALL_TOOL && info->said.at == e->at)
			buf_add(&t->open_calls, info, sizeof *info);
	}
	t->open = STEAL(content);
	(void)snprintf(t->caller, sizeof t->caller, "%s", author);
	return buf_check(&t->open_calls, t->err);
}

/* Parts */

static bool take_string(struct span object, const char *name, struct buf *out)
{
	struct span token;

	buf_clear(out);
	return json_member(object, name, &token) == 0 && json_unquote(token, out) == 0;
}

/* Write a part that struct part has no fields for. */
static void write_other(struct transcript *t, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf language = { 0 };
	struct span json = span_of(p->json);
	struct span inner;

	if (take_string(json, "text", &text)) {
		t->format->text(t, buf_span(&text));
	} else if (json_member(json, "executableCode", &inner) == 0 &&
		   take_string(inner, "code", &text)) {
		(void)take_string(inner, "language", &language);
		t->format->code(t, buf_cstr(&language) ? language.data : "", buf_span(&text));
	} else if (json_member(json, "codeExecutionResult", &inner) == 0 &&
		   take_string(inner, "output", &text)) {
		t->format->code(t, "", buf_span(&text));
	} else {
		t->format->code(t, "json", json);
	}
}

/* A signature belongs to one part, so the model's text may be cut in two there. */
static bool goes_on(const struct part *p, const struct part *next)
{
	return next->kind == PART_TEXT && next->thought == p->thought &&
	       (p->signature || next->signature);
}

/* Write the text part at i and the parts that continue it. Returns the last of them. */
static size_t write_text(struct transcript *t, const struct content *content, size_t i)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const struct part *p = &content->parts[i];

	buf_span_add(&text, buf_span(&p->text));
	while (i + 1 < content->count && goes_on(&content->parts[i], &content->parts[i + 1]))
		buf_span_add(&text, buf_span(&content->parts[++i].text));
	t->out->failed |= text.failed;
	if (text.len && p->thought)
		t->format->thought(t, buf_span(&text));
	else if (text.len)
		t->format->text(t, buf_span(&text));
	return i;
}

static void write_part(struct transcript *t, const struct part *p)
{
	switch (p->kind) {
	case PART_INLINE:
	case PART_FILE:
		t->format->data(t, p);
		break;
	case PART_OTHER:
		write_other(t, p);
		break;
	case PART_TEXT: /* write_text() has written it */
	case PART_CALL: /* write_calls() has written or will write them */
	case PART_RESPONSE:
		break;
	}
}

static bool has_more_than_calls(const struct content *content)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_CALL && p->kind != PART_RESPONSE &&
		    (p->kind != PART_TEXT || p->text.len))
			return true;
	}
	return false;
}

static int write_content(struct transcript *t, const struct walk_event *e, const char *author)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	size_t i;
	int r;

	if (!e->member[WALK_CONTENT].len)
		return 0;
	r = content_from_stored(e->member[WALK_CONTENT], &content);
	if (r < 0)
		return r;
	write_other_answers(t, content, author);
	write_calls(t, content);
	if (has_more_than_calls(content))
		need_speaker(t, author);
	for (i = 0; i < content->count; i++) {
		if (content->parts[i].kind == PART_TEXT)
			i = write_text(t, content, i);
		else
			write_part(t, &content->parts[i]);
	}
	if (content_has(content, PART_CALL))
		return keep_calls(t, e, &content, author);
	return 0;
}

/* Actions */

struct action_walk {
	struct transcript *t;
	struct deleted deleted;
};

static int write_state(void *arg, struct span key, struct span value)
{
	struct action_walk *w = arg;

	if (span_is(value, "null") && deleted_find(&w->deleted, key))
		value = SPAN("");
	w->t->format->state(w->t, key, value);
	return 0;
}

static bool is_image(const char *name)
{
	static const char *const endings[] = { ".png",  ".jpg",  ".jpeg", ".gif",
					       ".webp", ".avif", ".bmp",  ".svg" };
	size_t len = strlen(name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strcasecmp(name + len - n, endings[i]) == 0)
			return true;
	}
	return false;
}

/* Append each component of the name as the mount spells it. */
static int encode_path(struct span name, struct buf *out)
{
	int r = 0;

	while (r == 0) {
		const char *slash = memchr(name.data, '/', name.len);
		size_t n = slash ? (size_t)(slash - name.data) : name.len;

		r = name_encode(span_sub(name, 0, n), NAME_HIDE_DOT, out, NULL);
		if (!slash)
			break;
		buf_char(out, '/');
		name = span_sub(name, n + 1, name.len);
	}
	return r;
}

static struct saved_version *find_version(struct transcript *t, struct span name)
{
	size_t count;
	struct saved_version *list = BUF_LIST(struct saved_version, &t->latest, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (span_is(name, list[i].name))
			return &list[i];
	}
	return NULL;
}

/* The path of the latest version is its name; an older version has its number. */
static int path_of_file(struct transcript *t, struct span name, uint64_t version, struct buf *out)
{
	const struct saved_version *latest = find_version(t, name);
	bool of_user = name.len > strlen(USER_PREFIX) &&
		       !memcmp(name.data, USER_PREFIX, strlen(USER_PREFIX));
	struct span bare = of_user ? span_sub(name, strlen(USER_PREFIX), name.len) : name;
	int r;

	buf_text(out, of_user ? "../../artifacts/" : "artifacts/");
	if (latest && latest->version == version)
		return encode_path(bare, out);
	buf_text(out, ".versions/");
	r = encode_path(bare, out);
	buf_printf(out, "/%llu", (unsigned long long)version);
	return r;
}

static int write_file(void *arg, struct span key, struct span value)
{
	struct action_walk *w = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf path = { 0 };
	struct transcript_file file = { 0 };

	buf_span_add(&name, key);
	file.version = strtoull(value.data, NULL, 10);
	if (path_of_file(w->t, key, file.version, &path) < 0)
		buf_clear(&path);
	if (!buf_cstr(&name) || !buf_cstr(&path))
		return err_nomem(w->t->err);
	file.name = name.data;
	file.path = path.data;
	file.is_image = path.len && is_image(name.data);
	w->t->format->file(w->t, &file);
	return 0;
}

static const struct action_note {
	const char *name;
	const char *before; /* stands before the value, which is a text */
} action_notes[] = {
	{ "transferToAgent", "handed over to " },
	{ "rewindBeforeInvocationId", "rewound to before " },
};

/* Write an action that deserves a line. */
static int write_action(void *arg, struct span key, struct span value)
{
	struct action_walk *w = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t i;

	if (span_is(key, "stateDelta"))
		return value.len > 2 ? json_each(value, write_state, w) : 0;
	if (span_is(key, "artifactDelta"))
		return value.len > 2 ? json_each(value, write_file, w) : 0;
	for (i = 0; i < ARRAY_SIZE(action_notes); i++) {
		if (!span_is(key, action_notes[i].name))
			continue;
		buf_text(&text, action_notes[i].before);
		if (json_unquote(value, &text) < 0)
			return -EIO;
	}
	if (span_is(key, "escalate") && span_is(value, "true"))
		buf_text(&text, "ended the loop");
	if (span_is(key, "compaction"))
		buf_text(&text, "what was said before was summarised");
	if (!text.len)
		return 0;
	if (!buf_cstr(&text))
		return err_nomem(w->t->err);
	w->t->format->note(w->t, text.data);
	return 0;
}

/* Changes that happen while tools run are written after the calls. */
static int write_actions(struct transcript *t, const struct walk_event *e)
{
	struct action_walk actions = { .t = t };
	struct buf *out = t->out;
	int r = 0;

	if (t->open)
		t->out = &t->held;
	if (e->member[WALK_ACTIONS].len)
		r = deleted_read(e->member[WALK_CUSTOM_METADATA], &actions.deleted, t->err);
	if (r == 0 && e->member[WALK_ACTIONS].len)
		r = json_each(e->member[WALK_ACTIONS], write_action, &actions);
	deleted_release(&actions.deleted);
	t->out = out;
	return r;
}

static int write_error(struct transcript *t, const struct walk_event *e, const char *author)
{
	CLEANUP(buf_release) struct buf code = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = 0;

	if (e->member[WALK_ERROR_CODE].len)
		r = json_unquote(e->member[WALK_ERROR_CODE], &code);
	if (r == 0 && e->member[WALK_ERROR_MESSAGE].len)
		r = json_unquote(e->member[WALK_ERROR_MESSAGE], &text);
	if (r < 0 || (!code.len && !text.len))
		return r;
	if (!buf_cstr(&code) || !buf_cstr(&text))
		return err_nomem(t->err);
	need_speaker(t, author);
	t->format->error(t, code.data, text.data);
	return 0;
}

/* Walks */

static int write_turn(void *arg, const struct walk_turn *turn)
{
	struct transcript *t = arg;

	write_calls(t, NULL);
	t->turn = turn;
	t->format->turn(t, &turn->info);
	return 0;
}

static int write_event(void *arg, const struct walk_event *e)
{
	struct transcript *t = arg;
	CLEANUP(buf_release) struct buf author = { 0 };
	int r = json_unquote(e->member[WALK_AUTHOR], &author);

	if (r < 0 || !buf_cstr(&author))
		return r < 0 ? r : err_nomem(t->err);
	r = write_content(t, e, author.data);
	if (r == 0)
		r = write_actions(t, e);
	if (r == 0)
		r = write_error(t, e, author.data);
	return r < 0 ? r : buf_check(t->out, t->err);
}

static int note_version(void *arg, struct span key, struct span value)
{
	struct transcript *t = arg;
	struct saved_version *known = find_version(t, key);
	struct saved_version version = { .version = strtoull(value.data, NULL, 10) };

	if (known) {
		known->version = version.version;
		return 0;
	}
	version.name = span_dup(key);
	if (!version.name)
		return err_nomem(t->err);
	buf_add(&t->latest, &version, sizeof version);
	return buf_check(&t->latest, t->err);
}

/* Few lines name a file: a search for the member saves parsing the others. */
static int note_files(void *arg, struct span line)
{
	static const struct span sign = { "\"artifactDelta\":{\"", 18 };
	struct span actions;
	struct span delta;

	if (!memmem(line.data, line.len, sign.data, sign.len) ||
	    json_member(line, "actions", &actions) < 0 ||
	    json_member(actions, "artifactDelta", &delta) < 0)
		return 0;
	return json_each(delta, note_version, arg);
}

static void transcript_release(struct transcript *t)
{
	size_t count;
	struct saved_version *list = BUF_LIST(struct saved_version, &t->latest, &count);
	size_t i;

	for (i = 0; i < count; i++)
		free(list[i].name);
	buf_release(&t->latest);
	buf_release(&t->open_calls);
	buf_release(&t->held);
	content_free(t->open);
}

int transcript_write(struct store *st, struct ref session, const struct transcript_format *format,
		     struct buf *out, struct err *err)
{
	CLEANUP(transcript_release)
	struct transcript t = {
		.format = format, .out = out, .st = st, .ref = session, .err = err
	};
	struct walk walk = { write_turn, write_event, &t };
	int r = scope_stat_all(st, session, &t.scopes, err);

	if (r == 0)
		r = session_lines(st, (struct log_range){ session, 0, t.scopes.session.log_size },
				  note_files, &t, err);
	if (r < 0)
		return r;
	format->begin(&t);
	r = walk_session(st, session, &walk, err);
	if (r < 0)
		return r;
	write_calls(&t, NULL);
	format->end(&t);
	return buf_check(out, err);
}
