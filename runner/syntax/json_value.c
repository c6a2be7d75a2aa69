/*
 * JSON values: see json_value.h.
 */
#include "runner/syntax/json_value.h"

#include "base/json_text.h"

json_t *json_value_text(const char *text)
{
	CLEANUP(buf_release) struct buf json = { 0 };

	if (!text)
		return json_null();
	json_quote_lossy(&json, span_of(text));
	if (buf_check(&json, NULL) < 0)
		return NULL;
	return json_loadb(json.data, json.len, JSON_DECODE_ANY, NULL);
}

json_t *json_value_load(struct span text)
{
	json_error_t at;
	json_t *tree = json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &at);

	if (tree || json_error_code(&at) != json_error_numeric_overflow)
		return tree;
	return json_loadb(text.data, text.len,
			  JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}
