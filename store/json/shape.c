/*
 * The codec that walks ADK's JSON along tables: see shape.h.
 */
#include "store/json/shape.h"

#include "store/json/scalar.h"

#include <ctype.h>
#include <errno.h>

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

/* Whether an object comes. */
static int expect_object(struct json_scan *s)
{
	int kind = json_peek(s);

	if (kind >= 0 && kind != '{')
		return json_fail(s, "expected an object");
	return MIN(kind, 0);
}

static int skip(struct json_scan *s)
{
	struct span ignored;

	return json_raw(s, &ignored);
}

typedef int take_fn(struct json_scan *s, const struct field *item, struct buf *out);

/* A list whose items are taken by one function. */
static int take_list(struct json_scan *s, take_fn *take, const struct field *item, struct buf *out)
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
		r = take(s, item, out);
		if (r < 0)
			return r;
	}
	buf_char(out, ']');
	return r;
}

static void put_key(struct buf *object, const struct buf *key)
{
	buf_char(object, object->len ? ',' : '{');
	json_quote(object, buf_span(key));
	buf_char(object, ':');
}

/* Append the members that put_key() began, each name once: the last one counts. */
static int put_object(struct json_scan *s, struct buf *object, struct buf *out)
{
	int r;

	buf_text(object, object->len ? "}" : "{}");
	r = buf_check(object, s->err);
	return r < 0 ? r : json_canonical_text(buf_span(object), JSON_DEPTH_MAX, out, s->err);
}

/* Convert a key to camelCase. 1: the key was snake_case, and its camelCase form came before. */
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

static int take_opaque(struct json_scan *s, const struct field *item, struct buf *out);

static int take_opaque_object(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf object = { 0 };
	CLEANUP(buf_release) struct buf camel = { 0 }; /* keys that came as such, quoted */
	bool first = true;
	int n = 0;
	int r = json_open(s, '{');

	if (r < 0)
		return r;
	while ((r = json_key(s, &first, &key)) == 1) {
		int kind = json_peek(s);

		if (kind < 0)
			return kind;
		if (kind != 'n' && ++n > SHAPE_NAMES_MAX)
			return json_fail(s, "more than %d members", SHAPE_NAMES_MAX);
		r = kind == 'n' ? 1 : note_spelling(&key, &camel);
		if (r < 0)
			return err_nomem(s->err);
		if (r > 0) { /* null means absent, and camelCase wins over snake_case */
			r = skip(s);
		} else {
			put_key(&object, &key);
			/* The only bytes inside of an opaque object. */
			if (kind == '"' && span_is(buf_span(&key), "sdkBlob"))
				r = scalar_take(s, FIELD_BYTES, &object);
			else
				r = take_opaque(s, NULL, &object);
		}
		if (r < 0)
			return r;
	}
	return r < 0 ? r : put_object(s, &object, out);
}

static int take_opaque(struct json_scan *s, const struct field *item, struct buf *out)
{
	int kind = json_peek(s);

	(void)item;
	if (kind < 0)
		return kind;
	if (kind == '{')
		return take_opaque_object(s, out);
	return kind == '[' ? take_list(s, take_opaque, NULL, out) : json_canonical(s, out);
}

static int take_value(struct json_scan *s, const struct field *field, struct buf *out);

/* A map from names of the user to values of one kind. */
static int take_map(struct json_scan *s, const struct field *value, struct buf *out)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf object = { 0 };
	bool first = true;
	int r = json_open(s, '{');

	if (r < 0)
		return r;
	while ((r = json_key(s, &first, &key)) == 1) {
		if (memchr(key.data ? key.data : "", 0, key.len))
			return json_fail(s, "a NUL in a name");
		put_key(&object, &key);
		r = take_value(s, value, &object);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : put_object(s, &object, out);
}

/* Whether a list without its end, `["a","b"`, holds a quoted id. */
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

		r = scalar_take(s, FIELD_ID, &id);
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

static int take_scalar(struct json_scan *s, const struct field *item, struct buf *out)
{
	return scalar_take(s, item->kind, out);
}

/* Take a value of the user, which has a limit of its own on its depth. */
static int take_free(struct json_scan *s, int depth, struct buf *out)
{
	int outside = s->depth;
	int r;

	s->depth = MIN(outside, depth);
	r = json_canonical(s, out);
	s->depth = outside;
	return r;
}

static int take_value(struct json_scan *s, const struct field *field, struct buf *out)
{
	static const struct field integer = { .kind = FIELD_INT };
	static const struct field opaque = { .kind = FIELD_OPAQUE };
	static const struct field route = { .kind = FIELD_ROUTE };
	const struct field shape = { .kind = FIELD_SHAPE, .shape = field->shape };
	int r;

	switch (field->kind) {
	case FIELD_FREE:
		return take_free(s, JSON_DEPTH_FREE, out);
	case FIELD_FREE_OBJECT:
		r = expect_object(s);
		return r < 0 ? r : take_free(s, JSON_DEPTH_FREE + 1, out);
	case FIELD_OPAQUE:
		r = expect_object(s);
		return r < 0 ? r : take_opaque_object(s, out);
	case FIELD_OPAQUE_LIST:
		return take_list(s, take_value, &opaque, out);
	case FIELD_SHAPE:
		return shape_canonical(s, field->shape, out);
	case FIELD_SHAPE_LIST:
		return take_list(s, take_value, &shape, out);
	case FIELD_SHAPE_MAP:
		return take_map(s, &shape, out);
	case FIELD_OPAQUE_MAP:
		return take_map(s, &opaque, out);
	case FIELD_INT_MAP:
		return take_map(s, &integer, out);
	case FIELD_ID_SET:
		return take_id_set(s, out);
	case FIELD_ROUTE:
		if (json_peek(s) == '[')
			return take_list(s, take_scalar, &route, out);
		return scalar_take(s, FIELD_ROUTE, out);
	default:
		return scalar_take(s, field->kind, out);
	}
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
	int r = json_peek(s);

	if (r < 0)
		return r;
	if (r == 'n') {
		if (field->flags & FIELD_NOT_NULL)
			return json_fail(s, "null is not allowed");
		set->value[row].len = 0;
		return skip(s);
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
			r = skip(s);
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
