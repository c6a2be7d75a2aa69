/*
 * Stories: see story.h.
 */
#include "fs/view/story.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/name.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "store/json/deleted.h"
#include "store/json/time.h"
#include "store/session/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define USER_PREFIX "user:"

struct story_version {
	char *name;
	uint64_t version;
};

void story_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
	buf_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

void story_time(struct buf *out, int64_t usec)
{
	time_t seconds = (time_t)(usec / USEC_PER_SEC);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		text[0] = 0;
	buf_text(out, text);
}

void story_duration(struct buf *out, int64_t usec)
{
	long long ms = (long long)MAX(usec, 0) / 1000;

	if (ms < 1000)
		buf_printf(out, "%lld ms", ms);
	else if (ms < 60000)
		buf_printf(out, "%lld.%lld s", ms / 1000, ms % 1000 / 100);
	else
		buf_printf(out, "%lld min %lld s", ms / 60000, ms % 60000 / 1000);
}

void story_url(struct buf *out, const char *path)
{
	percent_encode(out, span_of(path), "/");
}

/* The bytes of a string token, quotes included. */
static size_t string_length(struct span json, size_t at)
{
	size_t i;

	for (i = at + 1; i < json.len && json.data[i] != '"'; i++)
		i += json.data[i] == '\\';
	return MIN(i + 1, json.len) - at;
}

static void begin_line(struct buf *out, unsigned depth)
{
	buf_char(out, '\n');
	while (depth--)
		buf_text(out, "  ");
}

void story_json(struct buf *out, struct span json)
{
	unsigned depth = 0;
	size_t n;
	size_t i;

	for (i = 0; i < json.len; i += n) {
		char c = json.data[i];
		bool opens = c == '{' || c == '[';
		bool closes = c == '}' || c == ']';
		bool empty = opens && i + 1 < json.len && json.data[i + 1] == c + 2;

		n = c == '"' ? string_length(json, i) : empty ? 2 : 1;
		depth -= closes && depth;
		if (closes)
			begin_line(out, depth);
		buf_span_add(out, span_sub(json, i, i + n));
		depth += opens && !empty;
		if ((opens && !empty) || c == ',')
			begin_line(out, depth);
		if (c == ':')
			buf_char(out, ' ');
	}
}

struct span story_cut(struct span text, size_t max)
{
	if (text.len <= max)
		return text;
	text.len = max;
	text.len = utf8_prefix(text, NULL);
	return text;
}

const char *story_unanswered(const struct story_call *call)
{
	if (call->response.len)
		return NULL;
	return call->info && call->info->answer.len ? "answered later" : "no answer yet";
}

/* Say who speaks, unless it is who spoke last in this turn. */
static void need_speaker(struct story *s, const char *name, int64_t time)
{
	uint64_t n = s->turn ? s->turn->info.n : 0;

	if (s->speaker_turn == n && !strcmp(s->speaker, name))
		return;
	(void)snprintf(s->speaker, sizeof s->speaker, "%s", name);
	s->speaker_turn = n;
	s->by_user = !strcmp(name, "user");
	s->style->speaker(s, name, time);
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

/* How many calls before part i have the same id. */
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

static const struct call_info *info_of_part(const struct story *s, size_t part)
{
	const struct call_info *list = (const struct call_info *)(const void *)s->open_calls.data;
	size_t i;

	for (i = 0; i < s->open_calls.len / sizeof *list; i++) {
		if (list[i].said.part == part)
			return &list[i];
	}
	return NULL;
}

/* Tell the calls that wait for it, with the answers there are. */
static void close_calls(struct story *s, const struct content *answers)
{
	const struct content *calls = s->open;
	size_t i;

	if (!calls)
		return;
	need_speaker(s, s->caller, s->open_time);
	for (i = 0; i < calls->count; i++) {
		const struct part *p = &calls->parts[i];
		const struct part *answer;
		struct story_call call;

		if (p->kind != PART_CALL)
			continue;
		answer = find_part(answers, PART_RESPONSE, p->id ? p->id : "", nth_of_id(calls, i));
		call = (struct story_call){ p->name, span_of(p->json),
					    span_of(answer ? answer->json : ""),
					    info_of_part(s, i) };
		s->style->call(s, &call);
	}
	content_free(STEAL(&s->open));
	buf_clear(&s->open_calls);
	buf_span_add(s->out, buf_span(&s->held));
	buf_clear(&s->held);
}

/* Responses to calls that are not the latest ones. */
static void tell_other_answers(struct story *s, const struct content *answers, const char *author,
			       int64_t time)
{
	size_t i;

	for (i = 0; i < answers->count; i++) {
		const struct part *p = &answers->parts[i];
		struct story_call call = { p->name, SPAN(""), span_of(p->json), NULL };

		if (p->kind != PART_RESPONSE ||
		    find_part(s->open, PART_CALL, p->id ? p->id : "", 0))
			continue;
		need_speaker(s, author, time);
		s->style->call(s, &call);
	}
}

/* Keep an event's calls until their answers come. */
static int open_calls(struct story *s, const struct walk_event *e, struct content **content,
		      const char *author, int64_t time)
{
	size_t i;

	for (i = 0; e->turn && i < e->turn->call_count; i++) {
		const struct call_info *info = &e->turn->calls[i];

		if (info->kind == CALL_TOOL && info->said.at == e->at)
			buf_add(&s->open_calls, info, sizeof *info);
	}
	s->open = STEAL(content);
	s->open_time = time;
	(void)snprintf(s->caller, sizeof s->caller, "%s", author);
	return buf_check(&s->open_calls, s->err);
}

/* Parts */

static bool take_string(struct span object, const char *name, struct buf *out)
{
	struct span token;

	buf_clear(out);
	return json_member(object, name, &token) == 0 && json_unquote(token, out) == 0;
}

/* A part that struct part has no fields for. */
static void tell_other(struct story *s, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf language = { 0 };
	struct span json = span_of(p->json);
	struct span inner;

	if (take_string(json, "text", &text)) {
		s->style->text(s, buf_span(&text));
	} else if (json_member(json, "executableCode", &inner) == 0 &&
		   take_string(inner, "code", &text)) {
		(void)take_string(inner, "language", &language);
		s->style->code(s, buf_cstr(&language) ? language.data : "", buf_span(&text));
	} else if (json_member(json, "codeExecutionResult", &inner) == 0 &&
		   take_string(inner, "output", &text)) {
		s->style->code(s, "", buf_span(&text));
	} else {
		s->style->code(s, "json", json);
	}
}

/* A signature is for a part alone, and so cuts a text of the model in two. */
static bool goes_on(const struct part *p, const struct part *next)
{
	return next->kind == PART_TEXT && next->thought == p->thought &&
	       (p->signature || next->signature);
}

/* Tell the text part at i and those that go on with it. Returns the last of them. */
static size_t tell_text(struct story *s, const struct content *content, size_t i)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const struct part *p = &content->parts[i];

	buf_span_add(&text, buf_span(&p->text));
	while (i + 1 < content->count && goes_on(&content->parts[i], &content->parts[i + 1]))
		buf_span_add(&text, buf_span(&content->parts[++i].text));
	s->out->failed |= text.failed;
	if (text.len && p->thought)
		s->style->thought(s, buf_span(&text));
	else if (text.len)
		s->style->text(s, buf_span(&text));
	return i;
}

static void tell_part(struct story *s, const struct part *p)
{
	switch (p->kind) {
	case PART_INLINE:
	case PART_FILE:
		s->style->data(s, p);
		break;
	case PART_OTHER:
		tell_other(s, p);
		break;
	case PART_TEXT: /* told with those that go on with it */
	case PART_CALL: /* told with their answers */
	case PART_RESPONSE:
		break;
	}
}

static bool has_something_to_tell(const struct content *content)
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

static int tell_content(struct story *s, const struct walk_event *e, const char *author,
			int64_t time)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	size_t i;
	int r;

	if (!e->member[WALK_CONTENT].len)
		return 0;
	r = content_from_stored(e->member[WALK_CONTENT], &content);
	if (r < 0)
		return r;
	tell_other_answers(s, content, author, time);
	close_calls(s, content);
	if (has_something_to_tell(content))
		need_speaker(s, author, time);
	for (i = 0; i < content->count; i++) {
		if (content->parts[i].kind == PART_TEXT)
			i = tell_text(s, content, i);
		else
			tell_part(s, &content->parts[i]);
	}
	if (content_has(content, PART_CALL))
		return open_calls(s, e, &content, author, time);
	return 0;
}

/* Actions */

struct telling {
	struct story *s;
	const struct walk_event *e;
	struct deleted deleted;
};

static int tell_state(void *arg, struct span key, struct span value)
{
	struct telling *t = arg;

	if (span_is(value, "null") && deleted_find(&t->deleted, key))
		value = SPAN("");
	t->s->style->state(t->s, key, value);
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

/* The name's components as the mount spells them. */
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

static struct story_version *find_version(struct story *s, struct span name)
{
	struct story_version *list = (struct story_version *)(void *)s->latest.data;
	size_t i;

	for (i = 0; i < s->latest.len / sizeof *list; i++) {
		if (span_is(name, list[i].name))
			return &list[i];
	}
	return NULL;
}

/* The latest version by its name, an older one by its number. */
static int path_of_file(struct story *s, struct span name, uint64_t version, struct buf *out)
{
	const struct story_version *latest = find_version(s, name);
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

static int tell_file(void *arg, struct span key, struct span value)
{
	struct telling *t = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf path = { 0 };
	struct story_file file = { 0 };

	buf_span_add(&name, key);
	file.version = strtoull(value.data, NULL, 10);
	if (path_of_file(t->s, key, file.version, &path) < 0)
		buf_clear(&path);
	if (!buf_cstr(&name) || !buf_cstr(&path))
		return err_nomem(t->s->err);
	file.name = name.data;
	file.path = path.data;
	file.is_image = path.len && is_image(name.data);
	t->s->style->file(t->s, &file);
	return 0;
}

static const struct action_note {
	const char *name;
	const char *before; /* the value, which is a text */
} action_notes[] = {
	{ "transferToAgent", "handed over to " },
	{ "rewindBeforeInvocationId", "rewound to before " },
};

/* Actions that are worth a line. */
static int tell_action(void *arg, struct span key, struct span value)
{
	struct telling *t = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t i;

	if (span_is(key, "stateDelta"))
		return value.len > 2 ? json_each(value, tell_state, t) : 0;
	if (span_is(key, "artifactDelta"))
		return value.len > 2 ? json_each(value, tell_file, t) : 0;
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
		return err_nomem(t->s->err);
	t->s->style->note(t->s, text.data);
	return 0;
}

/* What happens while tools run is told behind their calls. */
static int tell_actions(struct story *s, const struct walk_event *e)
{
	struct telling telling = { .s = s, .e = e };
	struct buf *out = s->out;
	int r = 0;

	if (s->open)
		s->out = &s->held;
	if (e->member[WALK_ACTIONS].len)
		r = deleted_read(e->member[WALK_CUSTOM_METADATA], &telling.deleted, s->err);
	if (r == 0 && e->member[WALK_ACTIONS].len)
		r = json_each(e->member[WALK_ACTIONS], tell_action, &telling);
	deleted_release(&telling.deleted);
	s->out = out;
	return r;
}

static int tell_error(struct story *s, const struct walk_event *e, const char *author, int64_t time)
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
		return err_nomem(s->err);
	need_speaker(s, author, time);
	s->style->error(s, code.data, text.data);
	return 0;
}

/* Walks */

static int take_turn(void *arg, const struct walk_turn *turn)
{
	struct story *s = arg;

	close_calls(s, NULL);
	s->turn = turn;
	s->style->turn(s, &turn->info);
	return 0;
}

static int take_event(void *arg, const struct walk_event *e)
{
	struct story *s = arg;
	CLEANUP(buf_release) struct buf author = { 0 };
	int64_t time = 0;
	int r = json_unquote(e->member[WALK_AUTHOR], &author);

	if (r < 0 || !buf_cstr(&author))
		return r < 0 ? r : err_nomem(s->err);
	(void)!time_parse(e->member[WALK_TIMESTAMP], &time); /* checked when it was stored */
	r = tell_content(s, e, author.data, time);
	if (r == 0)
		r = tell_actions(s, e);
	if (r == 0)
		r = tell_error(s, e, author.data, time);
	return r < 0 ? r : buf_check(s->out, s->err);
}

static int note_version(void *arg, struct span key, struct span value)
{
	struct story *s = arg;
	struct story_version *known = find_version(s, key);
	struct story_version version = { .version = strtoull(value.data, NULL, 10) };

	if (known) {
		known->version = version.version;
		return 0;
	}
	version.name = span_dup(key);
	if (!version.name)
		return err_nomem(s->err);
	buf_add(&s->latest, &version, sizeof version);
	return buf_check(&s->latest, s->err);
}

/* Files are in few lines: most are seen to have none without being parsed. */
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

static int load_scopes(struct story *s)
{
	struct ref ref = s->ref;
	int r = scope_stat(s->st, ref, &s->session, s->err);

	ref.session = 0;
	if (r == 0)
		r = scope_stat(s->st, ref, &s->user, s->err);
	ref.user = 0;
	return r < 0 ? r : scope_stat(s->st, ref, &s->app, s->err);
}

static void story_release(struct story *s)
{
	struct story_version *list = (struct story_version *)(void *)s->latest.data;
	size_t i;

	for (i = 0; i < s->latest.len / sizeof *list; i++)
		free(list[i].name);
	buf_release(&s->latest);
	buf_release(&s->open_calls);
	buf_release(&s->held);
	content_free(s->open);
}

int story_tell(struct store *st, struct ref session, const struct story_style *style,
	       struct buf *out, struct err *err)
{
	CLEANUP(story_release)
	struct story s = { .style = style, .out = out, .st = st, .ref = session, .err = err };
	struct walk walk = { take_turn, take_event, &s };
	int r = load_scopes(&s);

	if (r == 0)
		r = session_lines(st, session, 0, s.session.log_size, note_files, &s, err);
	if (r < 0)
		return r;
	style->begin(&s);
	r = walk_session(st, session, &walk, err);
	if (r < 0)
		return r;
	close_calls(&s, NULL);
	style->end(&s);
	return buf_check(out, err);
}
