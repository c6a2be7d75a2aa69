/*
 * transcript.html: a session's story as a page of its own: nothing is loaded
 * but pictures of the session's files, and nothing runs.
 */
#include "base/json_text.h"
#include "fs/tree/fs.h"
#include "fs/view/html.h"
#include "fs/view/story.h"
#include "fs/view/view.h"

#include <ctype.h>
#include <strings.h>

#define INLINE_MAX 120 /* bytes of JSON that are shown unfolded */

static const char head[] =
	"<!doctype html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"img-src data: 'self' file:; style-src 'unsafe-inline'; base-uri 'none'; "
	"form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n";

static const char style[] =
	"<style>\n"
	":root{--bg:#fcfcfb;--fg:#1c1e21;--soft:#6a7078;--line:#e4e5e3;--box:#f3f4f2;"
	"--user:#e8edfb;--link:#2f57c9;--bad:#b3261e;--badbox:#fdecea;--mark:#5b7f5b}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#141518;--fg:#e4e5e7;--soft:#959ba5;"
	"--line:#2b2d33;--box:#1d1f24;--user:#243050;--link:#93b0ff;--bad:#ff8a80;"
	"--badbox:#371d1d;--mark:#8fbf8f}}\n"
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}\n"
	"body{margin:0;background:var(--bg);color:var(--fg);"
	"font:1rem/1.6 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;"
	"overflow-wrap:anywhere}\n"
	"header,main{max-width:46rem;margin:0 auto;padding:0 1.25rem}\n"
	"header{padding-top:3rem;padding-bottom:.5rem}\n"
	"h1{font-size:1.6rem;line-height:1.25;margin:0 0 .35rem;letter-spacing:-.01em}\n"
	"header p{margin:0;color:var(--soft);font-size:.9rem}\n"
	"main{padding-bottom:5rem}\n"
	"section{scroll-margin-top:1rem}\n"
	"h2{display:flex;flex-wrap:wrap;align-items:baseline;gap:.15rem .6rem;"
	"font-size:.8rem;font-weight:600;margin:2.75rem 0 1.25rem;padding-top:.6rem;"
	"border-top:1px solid var(--line);letter-spacing:.02em}\n"
	"h2 a{color:inherit;text-decoration:none}\n"
	"h2 span{color:var(--soft);font-weight:400}\n"
	"h2 .bad{color:var(--bad)}\n"
	".who{font-size:.8rem;font-weight:600;color:var(--soft);margin:1.5rem 0 .25rem}\n"
	".who.user{text-align:right}\n"
	".said.user{margin:0 0 .5rem auto;padding:.6rem 1rem;width:fit-content;max-width:85%;"
	"background:var(--user);border-radius:1.1rem 1.1rem .25rem 1.1rem;white-space:pre-wrap}\n"
	".said>:first-child{margin-top:0}.said>:last-child{margin-bottom:0}\n"
	".said{margin:.9rem 0}.who+.said{margin-top:.25rem}\n"
	"p{margin:.7rem 0}.said p{white-space:pre-line}\n"
	"h3,h4,h5,h6{margin:1.4rem 0 .5rem;line-height:1.3}\n"
	"h3{font-size:1.2rem}h4{font-size:1.08rem}h5,h6{font-size:1rem}\n"
	"ul,ol{margin:.6rem 0;padding-left:1.5rem}li{margin:.2rem 0}li>p{margin:.2rem 0}\n"
	"blockquote{margin:.8rem 0;padding-left:1rem;border-left:3px solid var(--line);"
	"color:var(--soft)}\n"
	"hr{border:0;border-top:1px solid var(--line);margin:1.5rem 0}\n"
	"a{color:var(--link);text-underline-offset:.15em}\n"
	"code,pre{font:.86em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"
	"\"DejaVu Sans Mono\",monospace}\n"
	"code{background:var(--box);border-radius:.3rem;padding:.1em .35em}\n"
	"pre{background:var(--box);border-radius:.6rem;padding:.8rem 1rem;margin:.7rem 0;"
	"overflow-x:auto;white-space:pre}\n"
	"pre code{background:none;padding:0;font-size:1em}\n"
	".wide{overflow-x:auto;margin:.8rem 0}\n"
	"table{border-collapse:collapse;font-size:.95em}\n"
	"th,td{border-bottom:1px solid var(--line);padding:.35rem .9rem .35rem 0;"
	"text-align:left;vertical-align:top}\n"
	"details{margin:.6rem 0;border:1px solid var(--line);border-radius:.6rem;font-size:.9rem}\n"
	"summary{display:flex;align-items:baseline;gap:.6rem;padding:.4rem .8rem;cursor:pointer;"
	"list-style:none;color:var(--soft)}\n"
	"summary::-webkit-details-marker{display:none}\n"
	"summary::before{content:\"\";flex:none;width:.4rem;height:.4rem;margin-right:.1rem;"
	"border:solid;border-width:0 1.5px 1.5px 0;transform:translateY(-.12rem) rotate(-45deg)}\n"
	"details[open]>summary::before{transform:translateY(-.2rem) rotate(45deg)}\n"
	"summary b{color:var(--fg);font-weight:600}\n"
	"summary code{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;"
	"white-space:nowrap;background:none;padding:0}\n"
	"summary span{flex:none;margin-left:auto;font-size:.85em}\n"
	"details.bad>summary b{color:var(--bad)}\n"
	"details>div{padding:0 .8rem .3rem}\n"
	"details h5{margin:.5rem 0 .3rem;font-size:.78rem;font-weight:600;color:var(--soft)}\n"
	"details pre{margin:0 0 .6rem;max-height:28rem;white-space:pre-wrap}\n"
	".fact{font-size:.86rem;color:var(--soft);margin:.35rem 0;padding-left:1rem;"
	"border-left:2px solid var(--mark)}\n"
	".fact details{margin:.3rem 0}\n"
	".error{background:var(--badbox);color:var(--bad);border-radius:.6rem;"
	"padding:.6rem .9rem;margin:.7rem 0;font-size:.92rem}\n"
	".error code{background:none;padding:0;font-weight:600;margin-right:.4rem}\n"
	"figure{margin:.8rem 0}\n"
	"figcaption{font-size:.86rem;color:var(--soft);margin-top:.3rem}\n"
	"img{display:block;max-width:100%;max-height:32rem;height:auto;border-radius:.6rem;"
	"border:1px solid var(--line);background:#fff}\n"
	".user-data{margin-left:auto;width:fit-content;max-width:85%}\n"
	".none{color:var(--soft);margin-top:3rem}\n"
	"@media print{details{break-inside:avoid}body{background:#fff;color:#000}}\n"
	"</style>\n";

static void put(struct story *s, const char *html)
{
	buf_text(s->out, html);
}

static void put_text(struct story *s, const char *text)
{
	html_text(s->out, span_of(text));
}

static void put_moment(struct story *s, int64_t usec)
{
	put(s, "<time>");
	story_time(s->out, usec);
	put(s, "</time>");
}

static void html_begin(struct story *s)
{
	put(s, head);
	put(s, "<title>");
	put_text(s, s->session.id);
	put(s, "</title>\n");
	put(s, style);
	put(s, "</head>\n<body>\n<header>\n<h1>");
	put_text(s, s->session.id);
	put(s, "</h1>\n<p>");
	put_text(s, s->user.id);
	put(s, " with ");
	put_text(s, s->app.id);
	put(s, " · ");
	story_count(s->out, s->session.turns, "turn", "turns");
	put(s, " · ");
	story_count(s->out, s->session.events, "event", "events");
	put(s, "<br>");
	put_moment(s, s->session.created);
	put(s, " to ");
	put_moment(s, s->session.updated);
	put(s, " UTC</p>\n</header>\n<main>\n");
	if (!s->session.events)
		put(s, "<p class=\"none\">Nothing has been said yet.</p>\n");
}

static void html_turn(struct story *s, const struct turn_info *turn)
{
	static const char *const words[] = { [TURN_QUEUED] = "<span>waits</span>",
					     [TURN_RUNNING] = "<span>runs</span>",
					     [TURN_DONE] = "",
					     [TURN_FAILED] = "<span class=\"bad\">failed</span>" };
	unsigned long long n = turn->n;

	if (s->in_turn)
		put(s, "</section>\n");
	s->in_turn = true;
	buf_printf(s->out,
		   "<section id=\"turn-%llu\">\n<h2><a href=\"#turn-%llu\">Turn %llu</a><span>", n,
		   n, n);
	put_moment(s, turn->created);
	put(s, "</span>");
	if (turn->ended && turn->started) {
		put(s, "<span>");
		story_duration(s->out, turn->ended - turn->started);
		put(s, "</span>");
	}
	put(s, words[turn->state]);
	put(s, "</h2>\n");
}

static void html_speaker(struct story *s, const char *name, int64_t time)
{
	(void)time;
	buf_printf(s->out, "<div class=\"who%s\">", s->by_user ? " user" : "");
	put_text(s, name);
	put(s, "</div>\n");
}

static void html_said(struct story *s, struct span text)
{
	if (s->by_user) {
		put(s, "<div class=\"said user\" dir=\"auto\">");
		html_text(s->out, text);
	} else {
		put(s, "<div class=\"said\" dir=\"auto\">");
		html_markdown(s->out, text);
	}
	put(s, "</div>\n");
}

static void html_thought(struct story *s, struct span text)
{
	put(s, "<details class=\"thought\"><summary><b>Thought</b></summary><div>");
	html_markdown(s->out, text);
	put(s, "</div></details>\n");
}

static void put_pre(struct story *s, struct span text)
{
	struct span shown = story_cut(text, STORY_VALUE_MAX);

	put(s, "<pre><code>");
	html_text(s->out, shown);
	if (shown.len < text.len)
		buf_printf(s->out, "\n\n%zu bytes more", text.len - shown.len);
	put(s, "</code></pre>\n");
}

static void put_json(struct story *s, struct span json)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	story_json(&text, json);
	s->out->failed |= text.failed;
	put_pre(s, buf_span(&text));
}

static void html_code(struct story *s, const char *language, struct span text)
{
	(void)language;
	put_pre(s, text);
}

static bool is_image_type(const char *mime)
{
	if (!mime || strncasecmp(mime, "image/", 6) != 0 || !mime[6])
		return false;
	for (mime += 6; *mime; mime++) {
		if (!isalnum((unsigned char)*mime) && !strchr(".+-", *mime))
			return false;
	}
	return true;
}

/* The URL-safe alphabet of ADK in that of data: URLs. */
static void put_base64(struct buf *out, struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.data[i];

		c = c == '-' ? '+' : c == '_' ? '/' : c;
		if (isalnum((unsigned char)c) || strchr("+/=", c))
			buf_char(out, c);
	}
}

static void html_data(struct story *s, const struct part *part)
{
	const char *class = s->by_user ? " class=\"user-data\"" : "";

	buf_printf(s->out, "<figure%s>", class);
	if (part->kind == PART_INLINE && is_image_type(part->mime)) {
		put(s, "<img alt=\"\" src=\"data:");
		put_text(s, part->mime);
		put(s, ";base64,");
		put_base64(s->out, buf_span(&part->text));
		put(s, "\">");
	}
	put(s, "<figcaption>");
	put(s, part->kind == PART_FILE ? "linked file " : "attached file ");
	if (part->name) {
		put_text(s, part->name);
		put(s, ", ");
	}
	put_text(s, part->mime ? part->mime : "application/octet-stream");
	if (part->kind == PART_INLINE)
		buf_printf(s->out, ", %zu bytes", part->text.len / 4 * 3);
	if (part->uri) {
		put(s, ": <code>");
		put_text(s, part->uri);
		put(s, "</code>");
	}
	put(s, "</figcaption></figure>\n");
}

/* Links to what is left of a call. */
static void put_call_link(struct story *s, const struct call_info *info, const char *file)
{
	buf_printf(s->out, "<a href=\"turns/%llu/calls/", (unsigned long long)info->n);
	story_url(s->out, info->file_name);
	buf_printf(s->out, "/%s\">%s</a>", file, file);
}

static void put_call_summary(struct story *s, const struct story_call *call)
{
	const struct call_info *info = call->info;
	const char *unanswered = story_unanswered(call);

	put(s, "<summary><b>");
	put_text(s, call->name);
	put(s, "</b><code>");
	html_text(s->out, story_cut(call->args.len ? call->args : call->response, INLINE_MAX));
	put(s, "</code><span>");
	if (unanswered)
		put(s, unanswered);
	else if (info && info->ended)
		story_duration(s->out, info->ended - info->started);
	put(s, "</span></summary>\n");
}

static void html_call(struct story *s, const struct story_call *call)
{
	struct span error;
	bool failed = call->response.len && json_member(call->response, "error", &error) == 0;

	buf_printf(s->out, "<details class=\"tool%s\">", failed ? " bad" : "");
	put_call_summary(s, call);
	put(s, "<div>");
	if (call->args.len) {
		put(s, "<h5>Arguments</h5>");
		put_json(s, call->args);
	}
	if (call->response.len) {
		put(s, "<h5>Response</h5>");
		put_json(s, call->response);
	}
	if (call->info && call->info->stderr_size) {
		put(s, "<h5>Standard error: ");
		put_call_link(s, call->info, "stderr");
		put(s, "</h5>");
	}
	put(s, "</div></details>\n");
}

static void html_state(struct story *s, struct span key, struct span value)
{
	put(s, "<div class=\"fact\">state <code>");
	html_text(s->out, key);
	put(s, value.len ? "</code> = " : "</code> deleted");
	if (value.len > INLINE_MAX) {
		put(s, "<details><summary><code>");
		html_text(s->out, story_cut(value, INLINE_MAX));
		put(s, "</code></summary><div>");
		put_json(s, value);
		put(s, "</div></details>");
	} else if (value.len) {
		put(s, "<code>");
		html_text(s->out, value);
		put(s, "</code>");
	}
	put(s, "</div>\n");
}

/* A name that no path can hold leads nowhere. */
static void open_file(struct story *s, const struct story_file *file)
{
	if (!*file->path) {
		put(s, "<a>");
		return;
	}
	put(s, "<a href=\"");
	story_url(s->out, file->path);
	put(s, "\">");
}

static void html_file(struct story *s, const struct story_file *file)
{
	if (file->is_image) {
		put(s, "<figure>");
		open_file(s, file);
		put(s, "<img loading=\"lazy\" alt=\"");
		put_text(s, file->name);
		put(s, "\" src=\"");
		story_url(s->out, file->path);
		put(s, "\"></a></figure>\n");
	}
	put(s, "<div class=\"fact\">file ");
	open_file(s, file);
	put_text(s, file->name);
	buf_printf(s->out, "</a>, version %llu</div>\n", (unsigned long long)file->version);
}

static void html_note(struct story *s, const char *text)
{
	put(s, "<div class=\"fact\">");
	put_text(s, text);
	put(s, "</div>\n");
}

static void html_error(struct story *s, const char *code, const char *text)
{
	put(s, "<div class=\"error\"><code>");
	put_text(s, code);
	put(s, "</code>");
	put_text(s, text);
	put(s, "</div>\n");
}

static void html_end(struct story *s)
{
	if (s->in_turn)
		put(s, "</section>\n");
	put(s, "</main>\n</body>\n</html>\n");
}

static const struct story_style html = {
	.begin = html_begin,
	.turn = html_turn,
	.speaker = html_speaker,
	.text = html_said,
	.thought = html_thought,
	.code = html_code,
	.data = html_data,
	.call = html_call,
	.state = html_state,
	.file = html_file,
	.note = html_note,
	.error = html_error,
	.end = html_end,
};

int transcript_html_show(const struct place *at, struct buf *out, struct err *err)
{
	return story_tell(at->fs->store, at->ref, &html, out, err);
}
