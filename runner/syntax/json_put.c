/*
 * Putting: see json_put.h.
 */
#include "runner/syntax/json_put.h"

#include "base/json_text.h"

#include <errno.h>
#include <stdlib.h>

void jsonput_item(struct buf *out)
{
	if (out->len && !strchr("{[", out->data[out->len - 1]))
		buf_char(out, ',');
}

void jsonput_key(struct buf *out, const char *name)
{
	jsonput_item(out);
	buf_printf(out, "\"%s\":", name);
}

void jsonput_text(struct buf *out, const char *name, struct span text)
{
	jsonput_key(out, name);
	json_quote_lossy(out, text);
}

void jsonput_raw(struct buf *out, const char *name, struct span json)
{
	jsonput_key(out, name);
	buf_span_add(out, json);
}

int jsonput_value(struct buf *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	if (!text)
		return -ENOMEM;
	buf_text(out, text);
	free(text);
	return buf_check(out, NULL);
}
