/*
 * HTML: what Markdown looks like as HTML.
 */
#include "fs/view/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LINK(address, label) "<a rel=\"noopener noreferrer\" href=\"" address "\">" label "</a>"

static void expect(const char *markdown, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	html_markdown(&out, span_of(markdown));
	assert_string_equal(buf_cstr(&out), want);
}

/* As expect(), where md4c 0.4 gives the first text and 0.5 the second. */
static void expect_either(const char *markdown, const char *html, const char *other)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	html_markdown(&out, span_of(markdown));
	if (strcmp(buf_cstr(&out), other) != 0)
		expect(markdown, html);
}

static void test_text(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	html_text(&out, SPAN("<a b=\"c\" d='e'>&amp;\r\n\t\0\x7f\x1b"));
	assert_string_equal(buf_cstr(&out), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;\n\t"
					    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	buf_clear(&out);
	html_text(&out, SPAN("\xc3\xa4\xff \xe2\x82"));
	assert_string_equal(buf_cstr(&out), "\xc3\xa4\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
}

static void test_inline(void **state UNUSED)
{
	expect("a **b** *c* `d < e` ~~f~~", "<p>a <strong>b</strong> <em>c</em> "
					    "<code>d &lt; e</code> <del>f</del></p>\n");
	expect("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>\n");
	expect("2 * 3 * 4 and a*", "<p>2 * 3 * 4 and a*</p>\n");
	expect("`` a ` b `` and ` alone", "<p><code>a ` b</code> and ` alone</p>\n");
	expect("\\*a\\* snake_case_name", "<p>*a* snake_case_name</p>\n");
	expect("a  \nb\\\nc\nd", "<p>a<br>b<br>c\nd</p>\n");
	expect("&lt;b&gt; &copy; AT&T &#65;", "<p>&lt;b&gt; &copy; AT&amp;T &#65;</p>\n");
}

static void test_links(void **state UNUSED)
{
	expect("[a **b**](https://x.y/?a=1&b=2)",
	       "<p>" LINK("https://x.y/?a=1&amp;b=2", "a <strong>b</strong>") "</p>\n");
	expect("[a](HTTP://x \"title\")", "<p>" LINK("HTTP://x", "a") "</p>\n");
	expect("[a][b] <mailto:c@d.e>\n\n[b]: https://x 'title'",
	       "<p>" LINK("https://x", "a") " " LINK("mailto:c@d.e", "mailto:c@d.e") "</p>\n");
	expect("[a](relative) [b](#part) [c](ftp://d)", "<p>a b c</p>\n");
	expect("[a](javascript:alert(1)) [b](data:text/html,x)", "<p>a b</p>\n");
	expect("[a](https://b&quot;c)", "<p>" LINK("https://b&quot;c", "a") "</p>\n");
	expect("[](https://x)", "<p>" LINK("https://x", "https://x") "</p>\n");
	expect("http:// [ ![ [a](", "<p>http:// [ ![ [a](</p>\n");
}

static void test_addresses_in_the_text_become_links(void **state UNUSED)
{
	expect("http://x.y/z.", "<p>" LINK("http://x.y/z", "http://x.y/z") ".</p>\n");
	expect_either("(https://x.y/a_(b))",
		      "<p>(" LINK("https://x.y/a_(b)", "https://x.y/a_(b)") ")</p>\n",
		      "<p>(https://x.y/a_(b))</p>\n");
	expect("`http://x.y` ahttp://x.y ftp://x.y http://",
	       "<p><code>http://x.y</code> ahttp://x.y ftp://x.y http://</p>\n");
	expect("**http://x.y**", "<p><strong>" LINK("http://x.y", "http://x.y") "</strong></p>\n");
	expect_either("http://x.y/__init__.py",
		      "<p>" LINK("http://x.y/__init__.py", "http://x.y/__init__.py") "</p>\n",
		      "<p>http://x.y/<strong>init</strong>.py</p>\n");
	expect("http://x.y:80/*a* [b](http://c)",
	       "<p>http://x.y:80/<em>a</em> " LINK("http://c", "b") "</p>\n");
}

static void test_pictures_become_links(void **state UNUSED)
{
	expect("![pic](https://x/p.png)", "<p>" LINK("https://x/p.png", "pic") "</p>\n");
	expect("![](https://x)", "<p>" LINK("https://x", "https://x") "</p>\n");
	expect("![pic](p.png)", "<p>pic</p>\n");
	expect("[![in](http://i)](http://o)", "<p>" LINK("http://o", "in") "</p>\n");
	expect("![a [b](http://c)](http://d)", "<p>" LINK("http://d", "a b") "</p>\n");
}

static void test_tags_are_text(void **state UNUSED)
{
	expect("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n");
	expect("# <b>", "<h3>&lt;b&gt;</h3>\n");
	expect("- <b>", "<ul>\n<li>&lt;b&gt;</li>\n</ul>\n");
	expect("```<b>\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n");
	expect("[<b>](https://x\"onclick=)",
	       "<p>" LINK("https://x&quot;onclick=", "&lt;b&gt;") "</p>\n");
	expect("|<b>|\n|---|\n|<i>|", "<div class=\"wide\"><table>\n<tr><th>&lt;b&gt;</th></tr>\n"
				      "<tr><td>&lt;i&gt;</td></tr>\n</table></div>\n");
}

static void test_blocks(void **state UNUSED)
{
	expect("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n");
	expect("## a\nb", "<h4>a</h4>\n<p>b</p>\n");
	expect("###### a", "<h6>a</h6>\n");
	expect("#tag", "<p>#tag</p>\n");
	expect("a\n\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>\n");
	expect("```c\nint *a;\n\n```\nx", "<pre><code>int *a;\n\n</code></pre>\n<p>x</p>\n");
	expect("```\nnever ends", "<pre><code>never ends\n</code></pre>\n");
	expect("> a\n> > b", "<blockquote>\n<p>a</p>\n<blockquote>\n<p>b</p>\n</blockquote>\n"
			     "</blockquote>\n");
	expect("| a | b |\n|---|:-:|\n| 1 | **2** |\n\nend",
	       "<div class=\"wide\"><table>\n<tr><th>a</th><th>b</th></tr>\n"
	       "<tr><td>1</td><td><strong>2</strong></td></tr>\n</table></div>\n<p>end</p>\n");
	expect("", "");
	expect("\n\n \n", "");
}

static void test_lists(void **state UNUSED)
{
	expect("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
	expect("3. a\n4. b\n\nc", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n<p>c</p>\n");
	expect("- a\n  - b\n- c", "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n"
				  "<li>c</li>\n</ul>\n");
	expect("- a\n\n  b\n\nc", "<ul>\n<li><p>a</p>\n<p>b</p>\n</li>\n</ul>\n<p>c</p>\n");
	expect("-no", "<p>-no</p>\n");
	expect("1234567890. a", "<p>1234567890. a</p>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_inline),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_addresses_in_the_text_become_links),
		cmocka_unit_test(test_pictures_become_links),
		cmocka_unit_test(test_tags_are_text),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
