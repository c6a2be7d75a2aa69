/*
 * HTML: Markdown of a model, and that nothing of it is more than text.
 */
#include "fs/view/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *markdown, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	html_markdown(&out, span_of(markdown));
	assert_string_equal(buf_cstr(&out), want);
}

static void test_text(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	html_text(&out, SPAN("<a b=\"c\" d='e'>&amp;\r\n\t\0\x7f\x1b"));
	assert_string_equal(buf_cstr(&out), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;\n\t"
					    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_inline(void **state UNUSED)
{
	expect("a **b** *c* `d < e` f", "<p>a <strong>b</strong> <em>c</em> "
					"<code>d &lt; e</code> f</p>\n");
	expect("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>\n");
	expect("2 * 3 * 4 and a*", "<p>2 * 3 * 4 and a*</p>\n");
	expect("`` a ` b `` and ` alone", "<p><code>a ` b</code> and ` alone</p>\n");
	expect("\\*a\\* snake_case_name", "<p>*a* snake_case_name</p>\n");
	expect("****", "<hr>\n");
	expect("a ** b", "<p>a ** b</p>\n");
}

static void test_links(void **state UNUSED)
{
	static const char open[] = "<p><a rel=\"noopener noreferrer\" href=\"";
	CLEANUP(buf_release) struct buf want = { 0 };

	buf_printf(&want, "%shttps://x.y/?a=1&amp;b=2\">a <strong>b</strong></a></p>\n", open);
	expect("[a **b**](https://x.y/?a=1&b=2)", buf_cstr(&want));
	buf_clear(&want);
	buf_printf(&want, "%shttp://x.y/z\">http://x.y/z</a>.</p>\n", open);
	expect("http://x.y/z.", buf_cstr(&want));
	buf_clear(&want);
	buf_printf(&want, "%shttps://x/p.png\">pic</a></p>\n", open);
	expect("![pic](https://x/p.png)", buf_cstr(&want));
	expect("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n");
	expect("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>\n");
	expect("[a](relative)", "<p>[a](relative)</p>\n");
	expect("http:// [ ![ [a](", "<p>http:// [ ![ [a](</p>\n");
}

static void test_tags_are_text(void **state UNUSED)
{
	expect("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n");
	expect("# <b>", "<h3>&lt;b&gt;</h3>\n");
	expect("- <b>", "<ul><li><p>&lt;b&gt;</p>\n</li>\n</ul>\n");
	expect("> <b>", "<blockquote><p>&lt;b&gt;</p>\n</blockquote>\n");
	expect("```<b>\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n");
	expect("[<b>](https://x\"onclick=)",
	       "<p><a rel=\"noopener noreferrer\" href=\"https://x&quot;onclick=\">&lt;b&gt;</a>"
	       "</p>\n");
	expect("|<b>|\n|-|\n|<i>|", "<div class=\"wide\"><table>\n<tr><th>&lt;b&gt;</th></tr>\n"
				    "<tr><td>&lt;i&gt;</td></tr>\n</table></div>\n");
}

static void test_blocks(void **state UNUSED)
{
	expect("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n");
	expect("## a\nb", "<h4>a</h4>\n<p>b</p>\n");
	expect("#tag", "<p>#tag</p>\n");
	expect("a\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>\n");
	expect("```c\nint *a;\n\n```\nx", "<pre><code>int *a;\n\n</code></pre>\n<p>x</p>\n");
	expect("~~~\n```\n~~~~", "<pre><code>```\n</code></pre>\n");
	expect("```\nnever ends", "<pre><code>never ends\n</code></pre>\n");
	expect("> a\n> > b", "<blockquote><p>a</p>\n<blockquote><p>b</p>\n</blockquote>\n"
			     "</blockquote>\n");
	expect("| a | b |\n|---|:-:|\n| 1 | **2** |\nend",
	       "<div class=\"wide\"><table>\n<tr><th>a</th><th>b</th></tr>\n"
	       "<tr><td>1</td><td><strong>2</strong></td></tr>\n</table></div>\n<p>end</p>\n");
	expect("", "");
	expect("\n\n \n", "");
}

static void test_lists(void **state UNUSED)
{
	expect("- a\n- b", "<ul><li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n");
	expect("3. a\n4. b\nc", "<ol start=\"3\"><li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ol>\n"
				"<p>c</p>\n");
	expect("- a\n  - b\n- c", "<ul><li><p>a</p>\n<ul><li><p>b</p>\n</li>\n</ul>\n</li>\n"
				  "<li><p>c</p>\n</li>\n</ul>\n");
	expect("  - a\n  - b", "<ul><li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n");
	expect("- a\n\n  b\n\nc", "<ul><li><p>a</p>\n<p>b</p>\n</li>\n</ul>\n<p>c</p>\n");
	expect("-no", "<p>-no</p>\n");
	expect("1234567890. a", "<p>1234567890. a</p>\n");
}

static void test_depth(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf deep = { 0 };
	CLEANUP(buf_release) struct buf out = { 0 };
	int i;

	for (i = 0; i < 100000; i++)
		buf_text(&deep, i % 2 ? "> " : "- ");
	html_markdown(&out, buf_span(&deep));
	assert_false(out.failed);
	assert_true(out.len > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),   cmocka_unit_test(test_inline),
		cmocka_unit_test(test_links),  cmocka_unit_test(test_tags_are_text),
		cmocka_unit_test(test_blocks), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
