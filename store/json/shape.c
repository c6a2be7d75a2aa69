/*
 * The codec that walks ADK's JSON along tables: see shape.h.
 */
#include "store/json/shape.h"

#include "store/json/base64.h"
#include "store/json/time.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c);
}

/*
 * snake_case to camelCase: drop each '_' between two letters or digits, and
 * upper-case the second. Any other stays, so that a name made so stays as it is.
 */
static void to_camel(struct buf *key)
{
	char *name = key->data;
	size_t to = 0;
	size_t i;

	for (i = 0; i < key->len; i++) {
		if (name[i] == '_' && i > 0 && i + 1 < key->len && is_alnum(name[i - 1]) &&
		    is_alnum(name[i + 1]))
			name[to++] = (char)toupper((unsigned char)name[++i]);
		else
			name[to++] = name[i];
	}
	key->len = to;
}

static bool is_snake(struct span key)
{
	size_t i;

	if (!memchr(key.data, '_', key.len))
		return false;
	for (i = 0; i < key.len; i++) {
		if (isupper((unsigned char)key.data[i]))
			return false;
	}
	return true;
}

static int take_string(struct json_scan *s, struct buf *out, size_t limit)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = json_take_string(s, &text);

	if (r < 0)
		return r;
	if (text.len > limit)
		return json_fail(s, "longer than %zu bytes", limit);
	if (limit < SIZE_MAX && memchr(text.data ? text.data : "", 0, text.len))
		return json_fail(s, "a NUL in an id");
	json_quote(out, buf_span(&text));
	return 0;
}

static int take_bool(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind < 0)
		return kind;
	if (kind != 't' && kind != 'f')
		return json_fail(s, "expected true or false");
	return json_canonical(s, out);
}

/* The token of a number, also when it is written as a string. */
static int number_token(struct json_scan *s, struct buf *scratch, struct span *token)
{
	int kind = json_peek(s);
	int r;

	if (kind < 0)
		return kind;
	if (kind == '0')
		return json_raw(s, token);
	if (kind != '"')
		return json_fail(s, "expected a number");
	r = json_take_string(s, scratch);
	*token = buf_span(scratch);
	return r;
}

static int take_int(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf scratch = { 0 };
	struct span token;
	char text[JSON_NUMBER_MAX + 1];
	char *end;
	long long value;
	int r = number_token(s, &scratch, &token);

	if (r < 0)
		return r;
	if (!token.len || token.len >= sizeof text || memchr(token.data, 0, token.len))
		return json_fail(s, "expected an integer");
	memcpy(text, token.data, token.len);
	text[token.len] = 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end == '.' && end[1] == '0')
		end += 1 + strspn(end + 1, "0");
	if (!isdigit((unsigned char)text[text[0] == '-']) || *end || errno ||
	    isspace((unsigned char)text[0]) || text[0] == '+')
		return json_fail(s, "expected an integer");
	buf_printf(out, "%lld", value);
	return 0;
}

static int take_time(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf scratch = { 0 };
	struct span token;
	int64_t usec;
	int r = number_token(s, &scratch, &token);

	if (r < 0)
		return r;
	if (time_parse(token, &usec) < 0)
		return json_fail(s, "expected a time in seconds since 1970");
	time_print(out, usec);
	return 0;
}

static int take_bytes(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf bytes = { 0 };
	int r = json_take_string(s, &text);

	if (r < 0)
		return r;
	r = base64_decode(buf_span(&text), &bytes);
	if (r < 0)
		return r == -ENOMEM ? err_nomem(s->err) : json_fail(s, "bad base64");
	buf_char(out, '"');
	base64_encode(out, buf_span(&bytes), BASE64_URL_SAFE);
	buf_char(out, '"');
	return 0;
}

static int take_upper(struct json_scan *s, struct buf *out)
{
	static const char *const known[] = {
		"STOP",
		"MAX_TOKENS",
		"SAFETY",
		"RECITATION",
		"LANGUAGE",
		"OTHER",
		"BLOCKLIST",
		"PROHIBITED_CONTENT",
		"SPII",
		"MALFORMED_FUNCTION_CALL",
		"IMAGE_SAFETY",
		"UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS",
		"IMAGE_PROHIBITED_CONTENT",
		"NO_IMAGE",
		"IMAGE_RECITATION",
		"IMAGE_OTHER",
		"FINISH_REASON_UNSPECIFIED",
	};
	CLEANUP(buf_release) struct buf word = { 0 };
	int r = json_take_string(s, &word);
	size_t i;

	if (r < 0)
		return r;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (word.len == strlen(known[i]) && !strncasecmp(word.data, known[i], word.len)) {
			buf_printf(out, "\"%s\"", known[i]);
			return 0;
		}
	}
	json_quote(out, buf_span(&word));
	return 0;
}

static int take_object(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind < 0)
		return kind;
	if (kind != '{')
		return json_fail(s, "expected an object");
	return json_canonical(s, out);
}

static int take_opaque(struct json_scan *s, struct buf *out);

typedef int take_fn(struct json_scan *s, const struct shape *shape, struct buf *out);

/* A list whose items are taken by one function. */
static int take_list(struct json_scan *s, take_fn *take, const struct shape *shape, struct buf *out)
{
	bool first = true;
	size_t n = 0;
	int r = json_open(s, '[');

	if (r < 0)
		return r;
	buf_char(out, '[');
	while ((r = json_item(s, &first)) == 1) {
		if (n++)
			buf_char(out, ',');
		r = take(s, shape, out);
		if (r < 0)
			return r;
	}
	buf_char(out, ']');
	return r;
}

static int take_opaque_item(struct json_scan *s, const struct shape *shape, struct buf *out)
{
	int kind = json_peek(s);

	(void)shape;
	if (kind >= 0 && kind != '{')
		return json_fail(s, "expected an object");
	return kind < 0 ? kind : take_opaque(s, out);
}

static int take_any_opaque(struct json_scan *s, const struct shape *shape, struct buf *out)
{
	(void)shape;
	return take_opaque(s, out);
}

static int take_opaque_list(struct json_scan *s, struct buf *out)
{
	return take_list(s, take_opaque_item, NULL, out);
}

/* Bring a key into camelCase. 1: it was snake_case, and its camelCase form came before. */
static int note_spelling(struct buf *key, struct buf *camel)
{
	CLEANUP(buf_release) struct buf quoted = { 0 };
	bool snake = is_snake(buf_span(key));

	if (snake)
		to_camel(key);
	buf_char(&quoted, '\n');
	json_quote(&quoted, buf_span(key));
	if (quoted.failed)
		return -ENOMEM;
	if (snake)
		return camel->len && memmem(camel->data, camel->len, quoted.data, quoted.len);
	buf_span_add(camel, buf_span(&quoted));
	return buf_check(camel, NULL);
}

static int take_opaque_object(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf raw = { 0 };
	CLEANUP(buf_release) struct buf camel = { 0 }; /* keys that came as such, quoted */
	struct span null;
	bool first = true;
	int n = 0;
	int r = json_open(s, '{');

	if (r < 0)
		return r;
	buf_char(&raw, '{');
	while ((r = json_key(s, &first, &key)) == 1) {
		int kind = json_peek(s);

		if (kind < 0)
			return kind;
		if (kind == 'n') {
			r = json_raw(s, &null);
			if (r < 0)
				return r;
			continue;
		}
		if (++n > SHAPE_NAMES_MAX)
			return json_fail(s, "more than %d members", SHAPE_NAMES_MAX);
		r = note_spelling(&key, &camel);
		if (r < 0)
			return err_nomem(s->err);
		if (r > 0) { /* camelCase of it was there: that one wins */
			r = json_raw(s, &null);
			if (r < 0)
				return r;
			continue;
		}
		if (raw.len > 1)
			buf_char(&raw, ',');
		json_quote(&raw, buf_span(&key));
		buf_char(&raw, ':');
		/* The one byte field that lies inside an opaque object. */
		if (kind == '"' && span_is(buf_span(&key), "sdkBlob"))
			r = take_bytes(s, &raw);
		else
			r = take_opaque(s, &raw);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	buf_char(&raw, '}');
	r = buf_check(&raw, s->err);
	if (r < 0)
		return r;
	/* Write each name once, even when the object had both of its spellings. */
	return json_canonical_text(buf_span(&raw), JSON_DEPTH_MAX, out, s->err);
}

static int take_opaque(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind < 0)
		return kind;
	if (kind == '{')
		return take_opaque_object(s, out);
	return kind == '[' ? take_list(s, take_any_opaque, NULL, out) : json_canonical(s, out);
}

static int take_value(struct json_scan *s, const struct field *field, struct buf *out);

/* A map from names of the user to values of one kind. */
static int take_map(struct json_scan *s, const struct field *value, struct buf *out)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf raw = { 0 };
	bool first = true;
	int r = json_open(s, '{');

	if (r < 0)
		return r;
	buf_char(&raw, '{');
	while ((r = json_key(s, &first, &key)) == 1) {
		if (memchr(key.data ? key.data : "", 0, key.len))
			return json_fail(s, "a NUL in a name");
		if (raw.len > 1)
			buf_char(&raw, ',');
		json_quote(&raw, buf_span(&key));
		buf_char(&raw, ':');
		r = take_value(s, value, &raw);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	buf_char(&raw, '}');
	r = buf_check(&raw, s->err);
	if (r < 0)
		return r;
	return json_canonical_text(buf_span(&raw), JSON_DEPTH_MAX, out, s->err);
}

/* Whether the list that was begun in text, `["a","b"`, holds the quoted id already. */
static bool id_is_listed(struct span text, struct span quoted)
{
	struct json_scan s = json_scan_of(text, 2, NULL);
	struct span item;
	bool first = true;

	if (json_open(&s, '[') < 0)
		return false;
	while (json_item(&s, &first) == 1 && json_raw(&s, &item) == 0) {
		if (span_equal(item, quoted))
			return true;
	}
	return false;
}

static int take_id_set(struct json_scan *s, struct buf *out)
{
	size_t from = out->len;
	bool first = true;
	int n = 0;
	int r = json_open(s, '[');

	if (r < 0)
		return r;
	buf_char(out, '[');
	while ((r = json_item(s, &first)) == 1) {
		CLEANUP(buf_release) struct buf id = { 0 };

		r = take_string(s, &id, 255);
		if (r < 0)
			return r;
		if (++n > SHAPE_NAMES_MAX)
			return json_fail(s, "more than %d ids", SHAPE_NAMES_MAX);
		if (id_is_listed(span_sub(buf_span(out), from, out->len), buf_span(&id)))
			continue;
		if (out->len > from + 1)
			buf_char(out, ',');
		buf_span_add(out, buf_span(&id));
	}
	buf_char(out, ']');
	return r;
}

static bool has_any(const char *from, const char *to, const char *characters)
{
	while (from < to && !strchr(characters, *from))
		from++;
	return from < to;
}

static int take_route_item(struct json_scan *s, const struct shape *shape, struct buf *out)
{
	int kind = json_peek(s);
	const char *from = s->at;
	int r;

	(void)shape;
	if (kind < 0)
		return kind;
	if (kind == '{' || kind == '[' || kind == 'n')
		return json_fail(s, "expected a bool, an integer, a string or a list of them");
	r = json_canonical(s, out);
	if (r == 0 && kind == '0' && has_any(from, s->at, ".eE"))
		return json_fail(s, "expected an integer");
	return r;
}

static int take_route(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);

	if (kind == '[')
		return take_list(s, take_route_item, NULL, out);
	return take_route_item(s, NULL, out);
}

/* Below a free value the depth has a limit of its own. */
static int take_free(struct json_scan *s, int depth,
		     int (*take)(struct json_scan *s, struct buf *out), struct buf *out)
{
	int outside = s->depth;
	int inside = MIN(outside, depth);
	int r;

	s->depth = inside;
	r = take(s, out);
	s->depth = outside;
	return r;
}

static int take_value(struct json_scan *s, const struct field *field, struct buf *out)
{
	static const struct field int_value = { .kind = FIELD_INT };
	static const struct field opaque_value = { .kind = FIELD_OPAQUE };
	struct field shape_value = { .kind = FIELD_SHAPE, .shape = field->shape };
	int kind;

	switch (field->kind) {
	case FIELD_STRING:
		return take_string(s, out, SIZE_MAX);
	case FIELD_ID:
		return take_string(s, out, 255);
	case FIELD_BOOL:
		return take_bool(s, out);
	case FIELD_NUMBER:
		kind = json_peek(s);
		if (kind >= 0 && kind != '0')
			return json_fail(s, "expected a number");
		return json_canonical(s, out);
	case FIELD_INT:
		return take_int(s, out);
	case FIELD_TIME:
		return take_time(s, out);
	case FIELD_BYTES:
		return take_bytes(s, out);
	case FIELD_UPPER:
		return take_upper(s, out);
	case FIELD_FREE:
		return take_free(s, JSON_DEPTH_FREE, json_canonical, out);
	case FIELD_FREE_OBJECT:
		return take_free(s, JSON_DEPTH_FREE + 1, take_object, out);
	case FIELD_OPAQUE:
		kind = json_peek(s);
		if (kind >= 0 && kind != '{')
			return json_fail(s, "expected an object");
		return take_opaque(s, out);
	case FIELD_OPAQUE_LIST:
		return take_opaque_list(s, out);
	case FIELD_SHAPE:
		return shape_canonical(s, field->shape, out);
	case FIELD_SHAPE_LIST:
		return take_list(s, shape_canonical, field->shape, out);
	case FIELD_SHAPE_MAP:
		return take_map(s, &shape_value, out);
	case FIELD_OPAQUE_MAP:
		return take_map(s, &opaque_value, out);
	case FIELD_INT_MAP:
		return take_map(s, &int_value, out);
	case FIELD_ID_SET:
		return take_id_set(s, out);
	case FIELD_ROUTE:
		return take_route(s, out);
	}
	return json_fail(s, "a field of an unknown kind");
}

/* The row of a key in either spelling; *camel tells which it was. */
static const struct field *find_field(const struct shape *shape, struct buf *key, bool *camel)
{
	const struct field *f;

	*camel = !is_snake(buf_span(key));
	if (!*camel)
		to_camel(key);
	for (f = shape->fields; f->name; f++) {
		if (span_is(buf_span(key), f->name))
			return f;
	}
	return NULL;
}

/* Parse the value of a member: append it to `text`, and note its place in the set. */
static int take_member(struct json_scan *s, const struct shape *shape, const struct field *field,
		       struct fieldset *set, struct buf *text)
{
	size_t row = (size_t)(field - shape->fields);
	size_t at = text->len;
	struct span null;
	int r = json_peek(s);

	if (r < 0)
		return r;
	if (r == 'n') {
		if (field->flags & FIELD_NOT_NULL)
			return json_fail(s, "null is not allowed");
		set->value[row].len = 0;
		return json_raw(s, &null);
	}
	r = take_value(s, field, text);
	if (r < 0)
		return r;
	set->value[row].at = at;
	set->value[row].len = text->len - at;
	if ((field->flags & FIELD_DROP_EMPTY) && text->len - at == 2)
		set->value[row].len = 0;
	return 0;
}

/* Prefix the error with the name of the member, unless it is there already. */
static void name_member(struct err *err, const char *name)
{
	size_t n = strlen(name);

	if (err && (strncmp(err->text, name, n) != 0 || strncmp(err->text + n, ": ", 2) != 0))
		err_wrap(err, "%s", name);
}

int shape_fields(struct json_scan *s, const struct shape *shape, struct fieldset *set,
		 struct buf *text)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	bool spelled_camel[SHAPE_FIELDS_MAX] = { false };
	const struct field *f;
	bool first = true;
	int r = json_open(s, '{');

	*set = (struct fieldset){ 0 };
	if (r < 0)
		return err_wrap(s->err, "%s", shape->name), r;
	while ((r = json_key(s, &first, &key)) == 1) {
		size_t row;
		bool camel;

		f = find_field(shape, &key, &camel);
		if (!f) {
			r = json_fail(s, "unknown key '%.*s'", (int)MIN(key.len, 60), key.data);
			break;
		}
		row = (size_t)(f - shape->fields);
		if (spelled_camel[row] && !camel) { /* camelCase wins over snake_case */
			struct span ignored;

			r = json_raw(s, &ignored);
		} else {
			spelled_camel[row] = camel;
			r = take_member(s, shape, f, set, text);
		}
		if (r < 0) {
			if (r == -EINVAL)
				name_member(s->err, f->name);
			break;
		}
	}
	if (r < 0) {
		if (r == -EINVAL)
			err_wrap(s->err, "%s", shape->name);
		return r;
	}
	for (f = shape->fields; f->name; f++) {
		if ((f->flags & FIELD_REQUIRED) && !set->value[f - shape->fields].len)
			return json_fail(s, "%s: '%s' is missing", shape->name, f->name);
	}
	return buf_check(text, s->err);
}

int shape_canonical(struct json_scan *s, const struct shape *shape, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fieldset set;
	size_t from = out->len;
	size_t i;
	int r = shape_fields(s, shape, &set, &text);

	if (r < 0)
		return r;
	buf_char(out, '{');
	for (i = 0; shape->fields[i].name; i++) {
		if (!set.value[i].len)
			continue;
		buf_printf(out, "%s\"%s\":", out->len > from + 1 ? "," : "", shape->fields[i].name);
		buf_add(out, text.data + set.value[i].at, set.value[i].len);
	}
	buf_char(out, '}');
	return buf_check(out, s->err);
}

int shape_canonical_text(struct span text, const struct shape *shape, struct buf *out,
			 struct err *err)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, err);
	int r = shape_canonical(&s, shape, out);

	return r < 0 ? r : json_end(&s);
}
