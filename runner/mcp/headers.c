/*
 * Headers that repeat a message: see headers.h.
 */
#include "runner/mcp/headers.h"

#include "base/json_text.h"
#include "base/net/http.h"
#include "runner/mcp/link.h"
#include "store/json/base64.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MARK        "x-mcp-header"
#define ENCODED     "=?base64?"
#define ENCODED_END "?="

/* Schemas */

static const char *mark_of(const json_t *schema)
{
	return json_string_value(json_object_get(schema, MARK));
}

static bool can_be_header(const json_t *schema)
{
	const char *type = json_string_value(json_object_get(schema, "type"));

	return type &&
	       (!strcmp(type, "string") || !strcmp(type, "integer") || !strcmp(type, "boolean"));
}

static const char *note_name(json_t *seen, const char *mark)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	const char *c;

	for (c = mark; *c; c++)
		buf_char(&name, *c >= 'A' && *c <= 'Z' ? (char)(*c | 32) : *c);
	if (!buf_cstr(&name))
		return "out of memory";
	if (json_object_get(seen, name.data))
		return "two of its " MARK " names are equal";
	return json_object_set_new(seen, name.data, json_true()) ? "out of memory" : NULL;
}

static const char *check_mark(json_t *seen, const json_t *schema, bool is_property)
{
	const char *mark = mark_of(schema);

	if (!json_object_get(schema, MARK))
		return NULL;
	if (!mark || !http_is_token(span_of(mark)))
		return "an " MARK " is not a valid header name";
	if (!is_property)
		return "an " MARK " does not belong to a property";
	if (!can_be_header(schema))
		return "an " MARK " belongs to a property that is not a string, integer or boolean";
	return note_name(seen, mark);
}

/* Whether a member of a schema holds values, not schemas. */
static bool is_value(const char *key)
{
	static const char *const values[] = { "default", "const", "enum", "examples", "required" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		if (!strcmp(values[i], key))
			return true;
	}
	return false;
}

/*
 * Check a schema and all schemas in it. is_reached: only `properties` lead to the schema;
 * is_property: the schema is that of a property. The depth is bounded, since the depth of
 * messages is.
 */
static const char *check_schema(json_t *seen, const json_t *schema, bool is_reached,
				bool is_property);

static const char *check_each(json_t *seen, const json_t *schemas, bool is_reached)
{
	const char *reason = NULL;
	const char *key;
	json_t *schema;
	size_t i;

	json_array_foreach(schemas, i, schema)
	{
		if (!reason)
			reason = check_schema(seen, schema, false, false);
	}
	json_object_foreach((json_t *)schemas, key, schema)
	{
		if (!reason)
			reason = check_schema(seen, schema, is_reached, is_reached);
	}
	return reason;
}

static const char *check_schema(json_t *seen, const json_t *schema, bool is_reached,
				bool is_property)
{
	const char *reason = check_mark(seen, schema, is_property);
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)schema, key, member)
	{
		if (reason)
			break;
		if (!strcmp(key, "properties"))
			reason = check_each(seen, member, is_reached);
		else if (!is_value(key) && json_is_object(member))
			reason = check_schema(seen, member, false, false);
		else if (!is_value(key) && json_is_array(member))
			reason = check_each(seen, member, false);
	}
	return reason;
}

const char *mcp_headers_check(const json_t *parameters)
{
	json_auto_t *seen = json_object(); /* names, in lower case */

	return seen ? check_schema(seen, parameters, true, false) : "out of memory";
}

/* Values */

static bool is_plain(struct span text)
{
	size_t i;

	if (!text.len || text.data[0] == ' ' || text.data[text.len - 1] == ' ')
		return false;
	if (text.len >= sizeof ENCODED - 1 && !strncasecmp(text.data, ENCODED, sizeof ENCODED - 1))
		return false;
	for (i = 0; i < text.len; i++) {
		if (text.data[i] < 0x20 || text.data[i] > 0x7e)
			return false;
	}
	return true;
}

int mcp_headers_text(struct http_request *http, const char *name, struct span text)
{
	CLEANUP(buf_release) struct buf value = { 0 };

	if (is_plain(text)) {
		buf_span_add(&value, text);
	} else {
		buf_text(&value, ENCODED);
		base64_encode(&value, text, BASE64_STANDARD);
		buf_text(&value, ENCODED_END);
	}
	if (!buf_cstr(&value))
		return -ENOMEM;
	return http_request_header(http, "%s: %s", name, value.data);
}

/* Add an integer in decimal, even if the call writes 1.0 or 1e3. */
static int add_number(struct http_request *http, const char *name, struct span token)
{
	char text[400];
	double value;

	if (!memchr(token.data, '.', token.len) && !memchr(token.data, 'e', token.len) &&
	    !memchr(token.data, 'E', token.len))
		return mcp_headers_text(http, name, token);
	value = strtod(token.data, NULL); /* reads to the end of the token at most */
	(void)snprintf(text, sizeof text, "%.0f", value);
	return mcp_headers_text(http, name, span_of(text));
}

/* Add a value; one that cannot be a header is left out. */
static int add_value(struct http_request *http, const char *mark, struct span token)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	char name[256];

	(void)snprintf(name, sizeof name, "Mcp-Param-%.200s", mark);
	switch (token.data[0]) {
	case '"':
		if (json_unquote(token, &text) < 0)
			return -ENOMEM;
		return mcp_headers_text(http, name, buf_span(&text));
	case 't':
	case 'f':
		return mcp_headers_text(http, name, token);
	case '{':
	case '[':
	case 'n':
		return 0;
	default:
		return add_number(http, name, token);
	}
}

static int add_values(struct http_request *http, const json_t *schema, struct span args)
{
	const json_t *properties = json_object_get(schema, "properties");
	const char *key;
	json_t *property;
	int r = 0;

	json_object_foreach((json_t *)properties, key, property)
	{
		const char *mark = mark_of(property);
		struct span value;

		if (json_member(args, key, &value) < 0)
			continue;
		if (mark)
			r = add_value(http, mark, value);
		else if (value.data[0] == '{')
			r = add_values(http, property, value);
		if (r < 0)
			break;
	}
	return r;
}

int mcp_headers_add(struct http_request *http, const json_t *parameters, struct span args)
{
	return parameters ? add_values(http, parameters, args) : 0;
}
