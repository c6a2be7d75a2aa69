/*
 * Results of calls: see result.h.
 */
#include "runner/wire/result.h"

#include "base/json_text.h"

#include <errno.h>

int model_result_media(const struct part *response, struct content **media)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span parts = span_of(response->more);
	int r = parts.len ? json_member(parts, "functionResponse", &parts) : -ENOENT;

	*media = NULL;
	if (r == 0)
		r = json_member(parts, "parts", &parts);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	buf_text(&text, "{\"parts\":");
	buf_span_add(&text, parts);
	buf_char(&text, '}');
	r = buf_check(&text, NULL);
	return r < 0 ? r : content_from_stored(buf_span(&text), media);
}
