/*
 * HTML: Markdown that was written to break out of the page, or to exhaust the
 * machine. Only checked HTML may come out.
 */
#include "fs/view/html.h"
#include "tests/unit/fs/view/html_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* Bytes that mean something in HTML, in an address or to a parser of Markdown. */
static const struct span hostile[] = {
	SPAN("<script>alert(1)</script>"),
	SPAN("<SCRIPT\nSRC=//x.example></SCRIPT>"),
	SPAN("<img src=x onerror=alert(1)>"),
	SPAN("<svg/onload=alert(1)>"),
	SPAN("<a href=\"javascript:alert(1)\">x</a>"),
	SPAN("</p></section></main><iframe src=data:text/html,x>"),
	SPAN("<!-- --><!DOCTYPE x><![CDATA[x]]><?php x?>"),
	SPAN("<style>*{background:url(//x.example)}</style>"),
	SPAN("<b"),
	SPAN("<b onclick='x' <i>"),
	SPAN("\" onclick=\"alert(1)"),
	SPAN("' onclick='alert(1)"),
	SPAN("\"><script>"),
	SPAN("&lt;script&gt;alert(1)&lt;/script&gt;"),
	SPAN("&#60;script&#62; &#x3c;script&#x3E;"),
	SPAN("&quot; onclick=&quot;x &#34; &#39; &apos;"),
	SPAN("&notanentity; &; &#; &#x; &#99999999; &#0; &#xD800; & &amp"),
	SPAN("javascript:alert(1)"),
	SPAN("JaVaScRiPt:alert(1)"),
	SPAN(" javascript:alert(1)"),
	SPAN("java\tscript:alert(1)"),
	SPAN("java\nscript:alert(1)"),
	SPAN("java\rscript:alert(1)"),
	SPAN("java\0script:alert(1)"),
	SPAN("\x01javascript:alert(1)"),
	SPAN("&#106;avascript:alert(1)"),
	SPAN("&#x6A;&#x61;vascript:alert(1)"),
	SPAN("javascript&colon;alert(1)"),
	SPAN("javascript&#58;alert(1)"),
	SPAN("java&Tab;script&NewLine;:alert(1)"),
	SPAN("java\\script\\:alert(1)"),
	SPAN("javascript://https://x/%0aalert(1)"),
	SPAN("https:javascript:alert(1)"),
	SPAN("vbscript:msgbox(1)"),
	SPAN("VBScript:x"),
	SPAN("data:text/html,<script>alert(1)</script>"),
	SPAN("data:text/html;base64,PHNjcmlwdD4="),
	SPAN("file:///etc/passwd"),
	SPAN("//x.example/x"),
	SPAN("\\\\x.example\\x"),
	SPAN("blob:https://x"),
	SPAN("view-source:http://x"),
	SPAN("http://x\" onmouseover=\"alert(1)"),
	SPAN("http://x' onmouseover='alert(1)"),
	SPAN("http://x><script>alert(1)</script>"),
	SPAN("http://x\tonclick=y"),
	SPAN("http://x\x01\x7f\0y"),
	SPAN("https://x/&quot;onclick=&quot;y&Tab;&NewLine;"),
	SPAN("http://x `\" onclick=y` **\" onclick=z**"),
	SPAN("http://x](javascript:alert(1))"),
	SPAN("mailto:a@b?subject=\"><script>"),
	SPAN("x \"title\" onclick=y"),
	SPAN("https://x \"title\\\" onclick='y'\""),
	SPAN("https://x 'title\" onclick=\"y'"),
	SPAN("https://x (title <b> &quot;)"),
	SPAN("<https://x\" onclick=\"y>"),
	SPAN("<javascript:alert(1)>"),
	SPAN("<a@b.c\"onclick=y>"),
	SPAN("[a](javascript:alert(1))"),
	SPAN("[a](<javascript:alert(1)>)"),
	SPAN("[a](https://x 'y\"z')"),
	SPAN("[a]: javascript:alert(1)\n\n[a]"),
	SPAN("[a]: <data:text/html,x> \"t\"\n\n[b][a] ![c][a]"),
	SPAN("![a](javascript:alert(1) \"\" onload=alert(1)\")"),
	SPAN("![![![a](http://b)](http://c)](http://d)"),
	SPAN("[![<b>](data:x)](vbscript:y)"),
	SPAN("[a ![b [c](http://d) e](http://f) g](http://h)"),
	SPAN("`<b>` `` ` `` ``` ` ``` `"),
	SPAN("***__~~`<b>`~~__*** **a *b** c* ~~d **e~~ f**"),
	SPAN("\xff\xfe\x80 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82"),
	SPAN("\xe2\"\xe2<script>\xe2>"),
	SPAN("\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf"),
	SPAN("\0\0\0<\0b\0>\0"),
	SPAN("\x1b[31m\x07\x08\x0b\x0c\x1f\x7f"),
	SPAN("\r\r\n\n\r"),
	SPAN("\\<b> \\\\<b> \\&lt; \\\"x\\' \\`"),
	SPAN("| <b> | a \\| `|` |\n|---|---|\n| \"x | </td> |"),
	SPAN("- 1. > # <b>\n      * [a]: javascript:b\n   999999999. x"),
	SPAN("```\" onclick=\"x\n</code></pre><b>\n"),
	SPAN("~~~ <b> &quot; \\\"\n~~~~ <i>"),
	SPAN("    </code></pre><b>\n\n\t<b>"),
	SPAN("$$<b>$$ $x$ [[a|javascript:b]] :::<b>"),
};

/* A place in Markdown: the hostile bytes stand in place of each \1. */
static const char *const places[] = {
	"\1",
	"# \1",
	"\1\n===",
	"> \1",
	"- \1",
	"1. \1\n\n   \1",
	"**\1**",
	"~~\1~~",
	"`\1`",
	"```\1\n\1\n```",
	"    \1",
	"|\1|\n|---|\n|\1|",
	"[\1](http://x)",
	"[a](\1)",
	"[a](<\1>)",
	"[a](http://x\1)",
	"[a](http://x \"\1\")",
	"[a](http://x '\1')",
	"![\1](http://x)",
	"![a](\1)",
	"![a](http://x \"\1\")",
	"[a]: \1\n\n[a]",
	"[a]: <\1> \"\1\"\n\n[b][a] ![c][a]",
	"[\1]: http://x\n\n[\1]",
	"<\1>",
	"<http://x\1>",
	"http://x/\1",
	"&\1;",
	"\\\1",
	"<a \1>",
	"a  \n\1\\\n\1",
	"- [x] \1",
	"[![\1](\1)](\1)",
	"> - 1. # [\1](\1)",
};

static void expect_safe(struct span markdown)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	const char *flaw;
	size_t at;

	html_markdown(&out, markdown);
	assert_false(out.failed);
	flaw = html_check(buf_span(&out), &at);
	if (flaw)
		fail_msg("%s, at %zu of:\n%s\nwhich is:\n%.*s", flaw, at, buf_cstr(&out),
			 (int)markdown.len, markdown.data);
}

static void put_into(struct buf *out, const char *place, struct span bytes)
{
	for (; *place; place++) {
		if (*place == '\1')
			buf_span_add(out, bytes);
		else
			buf_char(out, *place);
	}
}

static void test_every_case_in_every_place(void **state UNUSED)
{
	size_t i;
	size_t k;

	for (i = 0; i < ARRAY_SIZE(hostile); i++) {
		for (k = 0; k < ARRAY_SIZE(places); k++) {
			CLEANUP(buf_release) struct buf text = { 0 };

			put_into(&text, places[k], hostile[i]);
			expect_safe(buf_span(&text));
		}
	}
}

/* Each case after each other: what one opens, the next may end. */
static void test_every_case_after_every_other(void **state UNUSED)
{
	size_t i;
	size_t k;

	for (i = 0; i < ARRAY_SIZE(hostile); i++) {
		for (k = 0; k < ARRAY_SIZE(hostile); k++) {
			CLEANUP(buf_release) struct buf text = { 0 };

			buf_span_add(&text, hostile[i]);
			buf_span_add(&text, hostile[k]);
			expect_safe(buf_span(&text));
		}
	}
}

/* Each start of a case: a parser that looks for the rest must not find it elsewhere. */
static void test_every_case_cut_anywhere(void **state UNUSED)
{
	size_t i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(hostile); i++) {
		for (n = 0; n < hostile[i].len; n++) {
			/* on the heap, so that a sanitizer sees a read past its end */
			CLEANUP(buf_release) struct buf text = { 0 };

			buf_span_add(&text, span_sub(hostile[i], 0, n));
			expect_safe(buf_span(&text));
		}
	}
}

/* What is repeated to reach depth, length or a table of many cells. */
static const struct {
	const char *before;
	const char *unit;
	const char *between;
	const char *unit_after;
} floods[] = {
	{ "", "> ", "", "" },
	{ "", ">", "a\n", "b\n" },
	{ "", "- ", "a\n", "\n" },
	{ "", "1. ", "a\n", "  b\n" },
	{ "", "- > ", "", "" },
	{ "", "[", "", "]" },
	{ "", "![", "", "](http://b)" },
	{ "", "[a](", "", "" },
	{ "", "[a](http://b \"", "", "" },
	{ "", "*a **b ", "", "" },
	{ "", "***", "a", "***" },
	{ "", "~~a ", "", "" },
	{ "", "`", "a", "" },
	{ "", "a``b`", "", "" },
	{ "", "<", "", "" },
	{ "", "<a ", "", "" },
	{ "", "&", "", "" },
	{ "", "&amp;", "", "" },
	{ "", "http://", "", "" },
	{ "", "http://a.b/(", "", "" },
	{ "", "http://a.b ", "", "" },
	{ "", "h-", "", "" },
	{ "", "\"", "", "" },
	{ "", "\xff", "", "" },
	{ "", "a", "", "" },
	{ "", "a\n", "", "" },
	{ "", "\n", "", "" },
	{ "", "-\n", "", "" },
	{ "", "#\n", "", "" },
	{ "", "```\n", "", "" },
	{ "", "|a", "\n|---|\n", "|a\n" },
	{ "", "|", "\n", "|---" },
	{ "[a]: http://", "b", "\n\n", "[a]" },
	{ "", "[a]: (\n", "", "" },
	{ "", "[a]: b\n", "", "[a] " },
};

static void flood(struct buf *text, size_t i, size_t size)
{
	const char *after = floods[i].unit_after;

	buf_text(text, floods[i].before);
	while (text->len < (*after ? size / 2 : size))
		buf_text(text, floods[i].unit);
	buf_text(text, floods[i].between);
	while (*after && text->len < size)
		buf_text(text, after);
}

/* Columns and rows multiply, and so do a long address and links to it. */
static void flood_table(struct buf *text, size_t size)
{
	size_t i;

	for (i = 0; i < size / 8; i++)
		buf_text(text, "|a");
	buf_char(text, '\n');
	for (i = 0; i < size / 8; i++)
		buf_text(text, "|---");
	while (text->len < size)
		buf_text(text, "\n|b");
}

static void test_floods_are_shown_in_a_size_that_is_known(void **state UNUSED)
{
	size_t i;

	for (i = 0; i <= ARRAY_SIZE(floods); i++) {
		CLEANUP(buf_release) struct buf text = { 0 };
		CLEANUP(buf_release) struct buf out = { 0 };
		const char *flaw;
		size_t at;

		if (i < ARRAY_SIZE(floods))
			flood(&text, i, HTML_MARKDOWN_MAX - 32);
		else
			flood_table(&text, HTML_MARKDOWN_MAX - 32);
		html_markdown(&out, buf_span(&text));
		assert_false(out.failed);
		assert_in_range(out.len, 0, (size_t)HTML_MARKDOWN_MAX * 40);
		flaw = html_check(buf_span(&out), &at);
		if (flaw)
			fail_msg("flood %zu: %s, at %zu", i, flaw, at);
	}
}

static double seconds_of(size_t i, size_t size)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf out = { 0 };
	struct timespec from;
	struct timespec to;

	flood(&text, i, size);
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from), 0);
	html_markdown(&out, buf_span(&text));
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to), 0);
	assert_false(out.failed);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Longer texts are not parsed, so that no text can take longer than the longest that is. */
static void test_floods_take_time_by_their_length(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(floods); i++) {
		double limit = 20e-6 * HTML_MARKDOWN_MAX; /* a sanitizer is slow */

		if (seconds_of(i, HTML_MARKDOWN_MAX - 32) > limit)
			fail_msg("flood %zu takes too long", i);
		if (seconds_of(i, 8 * HTML_MARKDOWN_MAX) > 8 * limit)
			fail_msg("flood %zu takes too long when it is longer", i);
	}
}

static void expect_plain(struct span markdown)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };

	html_markdown(&out, markdown);
	buf_text(&want, "<p>");
	html_text(&want, markdown);
	buf_text(&want, "</p>\n");
	assert_true(span_equal(buf_span(&out), buf_span(&want)));
}

static void test_past_a_limit_the_text_stays_as_it_is(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf out = { 0 };

	while (text.len <= HTML_MARKDOWN_MAX)
		buf_text(&text, "**long** ");
	expect_plain(buf_span(&text));
	text.len = HTML_MARKDOWN_MAX;
	html_markdown(&out, buf_span(&text));
	assert_non_null(strstr(buf_cstr(&out), "<strong>long</strong>"));

	buf_clear(&text);
	flood(&text, 0, 1000);
	expect_plain(buf_span(&text));
	buf_clear(&text);
	flood_table(&text, 100000);
	expect_plain(buf_span(&text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_case_in_every_place),
		cmocka_unit_test(test_every_case_after_every_other),
		cmocka_unit_test(test_every_case_cut_anywhere),
		cmocka_unit_test(test_floods_are_shown_in_a_size_that_is_known),
		cmocka_unit_test(test_floods_take_time_by_their_length),
		cmocka_unit_test(test_past_a_limit_the_text_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
