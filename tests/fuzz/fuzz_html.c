/*
 * HTML: whatever is said, only tags of ours come out, and all are closed.
 */
#include "base/utf8.h"
#include "fs/view/html.h"
#include "fuzz.h"

#include <stdio.h>

#define OPEN_MAX 64

static const char *const tags[] = { "p",          "h3",  "h4",     "h5", "h6",  "ul", "ol",
				    "li",         "a",   "strong", "em", "pre", "hr", "code",
				    "blockquote", "div", "table",  "tr", "th",  "td" };

/* The row of the tag whose name ends at a blank or '>'. */
static size_t tag_at(const char *at)
{
	size_t n = strcspn(at, " >");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		if (strlen(tags[i]) == n && !memcmp(at, tags[i], n))
			return i;
	}
	CHECK(!"a tag of ours");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct span text = { (const char *)data, size };
	size_t open[OPEN_MAX];
	size_t depth = 0;
	const char *at;

	if (!utf8_is_valid(text))
		return 0;
	html_markdown(&out, text);
	CHECK(utf8_is_valid(buf_span(&out)));
	for (at = buf_cstr(&out); (at = strchr(at, '<')); at++) {
		bool closes = at[1] == '/';
		size_t tag = tag_at(at + 1 + closes);

		CHECK(strchr(at, '>'));
		if (closes) {
			CHECK(depth && open[--depth] == tag);
		} else if (strcmp(tags[tag], "hr") != 0) {
			CHECK(depth < OPEN_MAX);
			open[depth++] = tag;
		}
	}
	CHECK(depth == 0);
	return 0;
}
