/*
 * HTML: whatever Markdown is converted, only tags of ours come out, and all are closed.
 */
#include "fs/view/html.h"
#include "fuzz.h"
#include "tests/unit/fs/view/html_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	const char *flaw;
	size_t at;

	html_markdown(&out, (struct span){ (const char *)data, size });
	CHECK(!out.failed);
	flaw = html_check(buf_span(&out), &at);
	if (flaw)
		fprintf(stderr, "%s at %zu of: %s\n", flaw, at, buf_cstr(&out));
	CHECK(!flaw);
	return 0;
}
