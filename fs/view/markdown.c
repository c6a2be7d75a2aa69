/*
 * transcript.md: the transcript of a session in Markdown.
 *
 * Texts of users and models stand in quotes, line by line, so that no heading,
 * fence or list in them reaches further. Tags and pictures in them lose their
 * meaning. A text in which that is not certain stands in a fence. Data stands
 * in code spans, or in fences that are longer than any fence inside.
 */
#include "fs/tree/fs.h"
#include "fs/view/print.h"
#include "fs/view/transcript.h"
#include "fs/view/view.h"

#include <ctype.h>
#include <string.h>

#define INLINE_MAX 160 /* bytes of JSON that stand in the line of a call */

static size_t run_of(struct span text, size_t at, char c)
{
	size_t n = 0;

	while (at + n < text.len && text.data[at + n] == c)
		n++;
	return n;
}

static size_t longest_run(struct span text, char c)
{
	size_t longest = 0;
	size_t i;

	for (i = 0; i < text.len; i += MAX(run_of(text, i, c), 1))
		longest = MAX(longest, run_of(text, i, c));
	return longest;
}

static void put_times(struct buf *out, char c, size_t n)
{
	while (n--)
		buf_char(out, c);
}

/* Write a name or note on one line; no character of it may have a meaning. */
static void put_plain(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]()<>#+!|~&-", *text))
			buf_char(out, '\\');
		buf_char(out, iscntrl((unsigned char)*text) ? ' ' : *text);
	}
}

/* Write a code span, on one line. */
static void put_code(struct buf *out, struct span text)
{
	size_t ticks = longest_run(text, '`') + 1;
	bool pad = !text.len || text.data[0] == '`' || text.data[text.len - 1] == '`' ||
		   text.data[0] == ' ';
	size_t i;

	put_times(out, '`', ticks);
	if (pad)
		buf_char(out, ' ');
	for (i = 0; i < text.len; i++)
		buf_char(out, iscntrl((unsigned char)text.data[i]) ? ' ' : text.data[i]);
	if (pad)
		buf_char(out, ' ');
	put_times(out, '`', ticks);
}

/* Write a fenced block. Only letters and digits at the start of `language` are used. */
static void put_fence(struct buf *out, const char *language, struct span text)
{
	size_t ticks = MAX(longest_run(text, '`') + 1, 3);

	put_times(out, '`', ticks);
	for (; isalnum((unsigned char)*language); language++)
		buf_char(out, (char)tolower((unsigned char)*language));
	buf_char(out, '\n');
	buf_span_add(out, text);
	if (!text.len || text.data[text.len - 1] != '\n')
		buf_char(out, '\n');
	put_times(out, '`', ticks);
	buf_text(out, "\n\n");
}

static void put_json(struct buf *out, struct span json)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span shown;

	print_json_lines(&text, json);
	out->failed |= text.failed;
	shown = print_cut(buf_span(&text), TRANSCRIPT_VALUE_MAX);
	put_fence(out, "json", shown);
	if (shown.len < text.len)
		buf_printf(out, "*%zu bytes more*\n\n", text.len - shown.len);
}

/* Quotes */

/*
 * The length of the code span at `at`; 0: it does not end on its line. `ticks`
 * is the length of the run that opens it.
 */
static size_t code_length(struct span text, size_t at, size_t ticks)
{
	size_t i = at + ticks;

	while (i < text.len && text.data[i] != '\n') {
		size_t run = run_of(text, i, '`');

		if (run == ticks)
			return i + run - at;
		i += MAX(run, 1);
	}
	return 0;
}

static bool begins_tag(struct span text, size_t at)
{
	char next = at + 1 < text.len ? text.data[at + 1] : ' ';

	return text.data[at] == '<' && (isalpha((unsigned char)next) || strchr("/!?", next));
}

/* Append lines, their tags and pictures as text. False: a code span does not end on its line. */
static bool tame_lines(struct buf *out, struct span text, bool keep_code)
{
	bool certain = true;
	size_t i = 0;

	while (i < text.len) {
		size_t ticks = run_of(text, i, '`');
		size_t code = ticks ? code_length(text, i, ticks) : 0;
		size_t n = code && keep_code ? code : MAX(ticks, 1);
		char c = text.data[i];

		certain &= !ticks || code;
		if (c == '\\' && i + 1 < text.len)
			n = 2;
		else if (out && (begins_tag(text, i) || (c == '[' && i && text.data[i - 1] == '!')))
			buf_char(out, '\\');
		if (out)
			buf_span_add(out, span_sub(text, i, i + n));
		i += n;
	}
	return certain;
}

/*
 * Append some lines outside of fences. Parsers of Markdown disagree about code
 * spans that reach over lines: where there may be one, nothing counts as code.
 */
static void tame_paragraph(struct buf *out, struct span text)
{
	bool certain = tame_lines(NULL, text, true);

	(void)tame_lines(out, text, certain);
}

struct fence {
	char c; /* 0: no fence is open */
	size_t n;
};

/* Whether a line opens a fence, or closes the one that is open. */
static bool is_fence(struct span line, const struct fence *open, struct fence *found)
{
	size_t at = run_of(line, 0, ' ');
	struct span rest;

	if (at > (open->c ? 3 : 0) || at == line.len)
		return false;
	found->c = line.data[at];
	found->n = run_of(line, at, found->c);
	rest = span_sub(line, at + found->n, line.len);
	if ((found->c != '`' && found->c != '~') || found->n < 3)
		return false;
	if (!open->c)
		return found->c == '~' || !memchr(rest.data, '`', rest.len);
	return found->c == open->c && found->n >= open->n && span_is_blank(rest);
}

/* Whether a line may open a fence inside of a list or quote, which may end with the list. */
static bool is_inner_fence(struct span line)
{
	size_t at = 0;

	while (at < line.len && line.data[at] && strchr(" \t>*+-.)0123456789", line.data[at]))
		at++;
	return at && (run_of(line, at, '`') >= 3 || run_of(line, at, '~') >= 3);
}

/* Take the next line, without its end. A carriage return ends a line too. */
static struct span take_line(struct span *text)
{
	size_t n = 0;
	size_t end;
	struct span line;

	while (n < text->len && text->data[n] != '\n' && text->data[n] != '\r')
		n++;
	end = MIN(n + 1, text->len);
	if (end < text->len && text->data[n] == '\r' && text->data[end] == '\n')
		end++;
	line = span_sub(*text, 0, n);
	*text = span_sub(*text, end, text->len);
	return line;
}

static void end_paragraph(struct buf *out, struct buf *paragraph)
{
	tame_paragraph(out, buf_span(paragraph));
	out->failed |= paragraph->failed;
	buf_clear(paragraph);
}

/*
 * Append Markdown of a user or model, its tags and pictures as text. False:
 * parsers may disagree about where its fences are.
 */
static bool tame(struct buf *out, struct span text)
{
	bool certain = true;
	CLEANUP(buf_release) struct buf paragraph = { 0 };
	struct fence open = { 0 };
	struct fence found = { 0 };

	while (text.len) {
		struct span line = take_line(&text);
		bool fence = is_fence(line, &open, &found);

		if (open.c || fence || run_of(line, 0, ' ') == line.len) {
			end_paragraph(out, &paragraph);
			buf_span_add(out, line);
			buf_char(out, '\n');
		} else {
			buf_span_add(&paragraph, line);
			buf_char(&paragraph, '\n');
			certain &= !is_inner_fence(line);
		}
		if (fence)
			open = open.c ? (struct fence){ 0 } : found;
	}
	end_paragraph(out, &paragraph);
	return certain;
}

static bool has_tags(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (begins_tag(text, i) || (text.data[i] == '[' && i && text.data[i - 1] == '!'))
			return true;
	}
	return false;
}

static void put_quote(struct buf *out, struct span text)
{
	CLEANUP(buf_release) struct buf tamed = { 0 };
	struct span left;

	if (!tame(&tamed, text) && has_tags(text)) {
		put_fence(out, "markdown", text);
		return;
	}
	out->failed |= tamed.failed;
	left = buf_span(&tamed);
	while (left.len) {
		struct span line = take_line(&left);

		buf_text(out, line.len ? "> " : ">");
		buf_span_add(out, line);
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
}

/* The format */

static void md_begin(struct transcript *t)
{
	buf_text(t->out, "# ");
	put_plain(t->out, t->scopes.session.id);
	buf_text(t->out, "\n\nA session of ");
	put_plain(t->out, t->scopes.user.id);
	buf_text(t->out, " with ");
	put_plain(t->out, t->scopes.app.id);
	buf_text(t->out, ", ");
	print_time(t->out, t->scopes.session.created);
	buf_text(t->out, " to ");
	print_time(t->out, t->scopes.session.updated);
	buf_text(t->out, " UTC: ");
	print_count(t->out, t->scopes.session.turns, "turn", "turns");
	buf_text(t->out, ", ");
	print_count(t->out, t->scopes.session.events, "event", "events");
	buf_text(t->out, ".\n\n");
}

static void md_turn(struct transcript *t, const struct turn_info *turn)
{
	buf_printf(t->out, "## Turn %llu\n\n", (unsigned long long)turn->n);
	print_time(t->out, turn->created);
	if (turn->ended && turn->started) {
		buf_text(t->out, " · ");
		print_duration(t->out, turn->ended - turn->started);
	}
	buf_text(t->out, turn->state == TURN_QUEUED    ? " · waits"
			 : turn->state == TURN_RUNNING ? " · runs"
			 : turn->state == TURN_FAILED  ? " · failed"
						       : "");
	buf_text(t->out, "\n\n");
}

static void md_speaker(struct transcript *t, const char *name)
{
	buf_text(t->out, "### ");
	put_plain(t->out, name);
	buf_text(t->out, "\n\n");
}

static void md_text(struct transcript *t, struct span text)
{
	put_quote(t->out, text);
}

static void md_thought(struct transcript *t, struct span text)
{
	buf_text(t->out, "*A thought:*\n\n");
	put_quote(t->out, text);
}

static void md_code(struct transcript *t, const char *language, struct span text)
{
	put_fence(t->out, language, print_cut(text, TRANSCRIPT_VALUE_MAX));
}

static void md_data(struct transcript *t, const struct part *part)
{
	buf_text(t->out, "- ");
	buf_text(t->out, part->kind == PART_FILE ? "linked file " : "attached file ");
	if (part->name) {
		put_code(t->out, span_of(part->name));
		buf_text(t->out, ", ");
	}
	put_code(t->out, span_of(part->mime ? part->mime : "application/octet-stream"));
	if (part->kind == PART_INLINE)
		buf_printf(t->out, ", %zu bytes", part->text.len / 4 * 3);
	if (part->uri) {
		buf_text(t->out, ": ");
		put_code(t->out, span_of(part->uri));
	}
	buf_text(t->out, "\n\n");
}

/* Write a short value into the line; the caller writes a longer one below it. */
static void put_value(struct buf *out, struct span json)
{
	if (json.len && json.len <= INLINE_MAX)
		put_code(out, json);
}

static void md_call(struct transcript *t, const struct transcript_call *call)
{
	const struct call_info *info = call->info;
	const char *unanswered = transcript_unanswered(call);

	buf_text(t->out, call->args.len ? "**Tool** " : "**Answer of** ");
	put_code(t->out, span_of(call->name));
	buf_char(t->out, ' ');
	put_value(t->out, call->args.len ? call->args : call->response);
	if (info && info->ended) {
		buf_text(t->out, " · ");
		print_duration(t->out, info->ended - info->started);
	}
	if (info && info->stderr_size) {
		buf_printf(t->out, " · [stderr](turns/%llu/calls/", (unsigned long long)info->n);
		print_url(t->out, info->file_name);
		buf_text(t->out, "/stderr)");
	}
	if (unanswered)
		buf_printf(t->out, " · %s", unanswered);
	buf_text(t->out, "\n\n");
	if (call->args.len > INLINE_MAX)
		put_json(t->out, call->args);
	if (call->response.len && (call->args.len || call->response.len > INLINE_MAX))
		put_json(t->out, call->response);
}

static void md_state(struct transcript *t, struct span key, struct span value)
{
	buf_text(t->out, "- state ");
	put_code(t->out, key);
	if (!value.len)
		buf_text(t->out, " deleted");
	else
		buf_text(t->out, " = ");
	put_value(t->out, value);
	buf_text(t->out, "\n\n");
	if (value.len > INLINE_MAX)
		put_json(t->out, value);
}

static void md_file(struct transcript *t, const struct transcript_file *file)
{
	buf_printf(t->out, "- file %s", file->is_image ? "!" : "");
	buf_text(t->out, *file->path ? "[" : "");
	put_plain(t->out, file->name);
	if (*file->path) { /* "": no path can hold the name */
		buf_text(t->out, "](");
		print_url(t->out, file->path);
		buf_char(t->out, ')');
	}
	buf_printf(t->out, ", version %llu\n\n", (unsigned long long)file->version);
}

static void md_note(struct transcript *t, const char *text)
{
	buf_text(t->out, "- ");
	put_plain(t->out, text);
	buf_text(t->out, "\n\n");
}

static void md_error(struct transcript *t, const char *code, const char *text)
{
	buf_text(t->out, "**Error** ");
	put_code(t->out, span_of(code));
	buf_char(t->out, ' ');
	put_plain(t->out, text);
	buf_text(t->out, "\n\n");
}

static void md_end(struct transcript *t UNUSED)
{
}

static const struct transcript_format markdown = {
	.begin = md_begin,
	.turn = md_turn,
	.speaker = md_speaker,
	.text = md_text,
	.thought = md_thought,
	.code = md_code,
	.data = md_data,
	.call = md_call,
	.state = md_state,
	.file = md_file,
	.note = md_note,
	.error = md_error,
	.end = md_end,
};

int transcript_md_show(const struct place *at, struct buf *out, struct err *err)
{
	return transcript_write(at->fs->store, at->ref, &markdown, out, err);
}
