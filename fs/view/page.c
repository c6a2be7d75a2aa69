/*
 * transcript.html: the transcript of a session as one page. The page loads
 * nothing but pictures of the session's files, and runs nothing.
 */
#include "base/json_text.h"
#include "fs/tree/fs.h"
#include "fs/view/html.h"
#include "fs/view/print.h"
#include "fs/view/transcript.h"
#include "fs/view/view.h"
#include "store/json/base64.h"

#include <ctype.h>
#include <strings.h>

#define INLINE_MAX 120 /* bytes of JSON that stand in a summary */

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

static void put(struct transcript *t, const char *html)
{
	buf_text(t->out, html);
}

static void put_text(struct transcript *t, const char *text)
{
	html_text(t->out, span_of(text));
}

static void put_moment(struct transcript *t, int64_t usec)
{
	put(t, "<time>");
	print_time(t->out, usec);
	put(t, "</time>");
}

static void html_begin(struct transcript *t)
{
	put(t, head);
	put(t, "<title>");
	put_text(t, t->scopes.session.id);
	put(t, "</title>\n");
	put(t, style);
	put(t, "</head>\n<body>\n<header>\n<h1>");
	put_text(t, t->scopes.session.id);
	put(t, "</h1>\n<p>");
	put_text(t, t->scopes.user.id);
	put(t, " with ");
	put_text(t, t->scopes.app.id);
	put(t, " · ");
	print_count(t->out, t->scopes.session.turns, "turn", "turns");
	put(t, " · ");
	print_count(t->out, t->scopes.session.events, "event", "events");
	put(t, "<br>");
	put_moment(t, t->scopes.session.created);
	put(t, " to ");
	put_moment(t, t->scopes.session.updated);
	put(t, " UTC</p>\n</header>\n<main>\n");
	if (!t->scopes.session.events)
		put(t, "<p class=\"none\">Nothing has been said yet.</p>\n");
}

static void html_turn(struct transcript *t, const struct turn_info *turn)
{
	static const char *const words[] = { [TURN_QUEUED] = "<span>waits</span>",
					     [TURN_RUNNING] = "<span>runs</span>",
					     [TURN_DONE] = "",
					     [TURN_FAILED] = "<span class=\"bad\">failed</span>" };
	unsigned long long n = turn->n;

	if (t->in_turn)
		put(t, "</section>\n");
	t->in_turn = true;
	buf_printf(t->out,
		   "<section id=\"turn-%llu\">\n<h2><a href=\"#turn-%llu\">Turn %llu</a><span>", n,
		   n, n);
	put_moment(t, turn->created);
	put(t, "</span>");
	if (turn->ended && turn->started) {
		put(t, "<span>");
		print_duration(t->out, turn->ended - turn->started);
		put(t, "</span>");
	}
	put(t, words[turn->state]);
	put(t, "</h2>\n");
}

static void html_speaker(struct transcript *t, const char *name)
{
	buf_printf(t->out, "<div class=\"who%s\">", t->by_user ? " user" : "");
	put_text(t, name);
	put(t, "</div>\n");
}

static void html_said(struct transcript *t, struct span text)
{
	if (t->by_user) {
		put(t, "<div class=\"said user\" dir=\"auto\">");
		html_text(t->out, text);
	} else {
		put(t, "<div class=\"said\" dir=\"auto\">");
		html_markdown(t->out, text);
	}
	put(t, "</div>\n");
}

static void html_thought(struct transcript *t, struct span text)
{
	put(t, "<details class=\"thought\"><summary><b>Thought</b></summary><div>");
	html_markdown(t->out, text);
	put(t, "</div></details>\n");
}

static void put_pre(struct transcript *t, struct span text)
{
	struct span shown = print_cut(text, TRANSCRIPT_VALUE_MAX);

	put(t, "<pre><code>");
	html_text(t->out, shown);
	if (shown.len < text.len)
		buf_printf(t->out, "\n\n%zu bytes more", text.len - shown.len);
	put(t, "</code></pre>\n");
}

static void put_json(struct transcript *t, struct span json)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	print_json_lines(&text, json);
	t->out->failed |= text.failed;
	put_pre(t, buf_span(&text));
}

static void html_code(struct transcript *t, const char *language UNUSED, struct span text)
{
	put_pre(t, text);
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

static void html_data(struct transcript *t, const struct part *part)
{
	const char *class = t->by_user ? " class=\"user-data\"" : "";

	buf_printf(t->out, "<figure%s>", class);
	if (part->kind == PART_INLINE && is_image_type(part->mime)) {
		put(t, "<img alt=\"\" src=\"data:");
		put_text(t, part->mime);
		put(t, ";base64,");
		base64_put_standard(t->out, buf_span(&part->text));
		put(t, "\">");
	}
	put(t, "<figcaption>");
	put(t, part->kind == PART_FILE ? "linked file " : "attached file ");
	if (part->name) {
		put_text(t, part->name);
		put(t, ", ");
	}
	put_text(t, part->mime ? part->mime : "application/octet-stream");
	if (part->kind == PART_INLINE)
		buf_printf(t->out, ", %zu bytes", part->text.len / 4 * 3);
	if (part->uri) {
		put(t, ": <code>");
		put_text(t, part->uri);
		put(t, "</code>");
	}
	put(t, "</figcaption></figure>\n");
}

/* Write a link to a file of a call. */
static void put_call_link(struct transcript *t, const struct call_info *info, const char *file)
{
	buf_printf(t->out, "<a href=\"turns/%llu/calls/", (unsigned long long)info->n);
	print_url(t->out, info->file_name);
	buf_printf(t->out, "/%s\">%s</a>", file, file);
}

static void put_call_summary(struct transcript *t, const struct transcript_call *call)
{
	const struct call_info *info = call->info;
	const char *unanswered = transcript_unanswered(call);

	put(t, "<summary><b>");
	put_text(t, call->name);
	put(t, "</b><code>");
	html_text(t->out, print_cut(call->args.len ? call->args : call->response, INLINE_MAX));
	put(t, "</code><span>");
	if (unanswered)
		put(t, unanswered);
	else if (info && info->ended)
		print_duration(t->out, info->ended - info->started);
	put(t, "</span></summary>\n");
}

static void html_call(struct transcript *t, const struct transcript_call *call)
{
	struct span error;
	bool failed = call->response.len && json_member(call->response, "error", &error) == 0;

	buf_printf(t->out, "<details class=\"tool%s\">", failed ? " bad" : "");
	put_call_summary(t, call);
	put(t, "<div>");
	if (call->args.len) {
		put(t, "<h5>Arguments</h5>");
		put_json(t, call->args);
	}
	if (call->response.len) {
		put(t, "<h5>Response</h5>");
		put_json(t, call->response);
	}
	if (call->info && call->info->stderr_size) {
		put(t, "<h5>Standard error: ");
		put_call_link(t, call->info, "stderr");
		put(t, "</h5>");
	}
	put(t, "</div></details>\n");
}

static void html_state(struct transcript *t, struct span key, struct span value)
{
	put(t, "<div class=\"fact\">state <code>");
	html_text(t->out, key);
	put(t, value.len ? "</code> = " : "</code> deleted");
	if (value.len > INLINE_MAX) {
		put(t, "<details><summary><code>");
		html_text(t->out, print_cut(value, INLINE_MAX));
		put(t, "</code></summary><div>");
		put_json(t, value);
		put(t, "</div></details>");
	} else if (value.len) {
		put(t, "<code>");
		html_text(t->out, value);
		put(t, "</code>");
	}
	put(t, "</div>\n");
}

/* Without a path the link leads nowhere. */
static void open_file(struct transcript *t, const struct transcript_file *file)
{
	if (!*file->path) {
		put(t, "<a>");
		return;
	}
	put(t, "<a href=\"");
	print_url(t->out, file->path);
	put(t, "\">");
}

static void html_file(struct transcript *t, const struct transcript_file *file)
{
	if (file->is_image) {
		put(t, "<figure>");
		open_file(t, file);
		put(t, "<img loading=\"lazy\" alt=\"");
		put_text(t, file->name);
		put(t, "\" src=\"");
		print_url(t->out, file->path);
		put(t, "\"></a></figure>\n");
	}
	put(t, "<div class=\"fact\">file ");
	open_file(t, file);
	put_text(t, file->name);
	buf_printf(t->out, "</a>, version %llu</div>\n", (unsigned long long)file->version);
}

static void html_note(struct transcript *t, const char *text)
{
	put(t, "<div class=\"fact\">");
	put_text(t, text);
	put(t, "</div>\n");
}

static void html_error(struct transcript *t, const char *code, const char *text)
{
	put(t, "<div class=\"error\"><code>");
	put_text(t, code);
	put(t, "</code>");
	put_text(t, text);
	put(t, "</div>\n");
}

static void html_end(struct transcript *t)
{
	if (t->in_turn)
		put(t, "</section>\n");
	put(t, "</main>\n</body>\n</html>\n");
}

static const struct transcript_format html = {
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
	return transcript_write(at->fs->store, at->ref, &html, out, err);
}
