/*
 * References: see schema_ref.h.
 */
#include "runner/syntax/schema_ref.h"

#include "base/percent.h"
#include "runner/syntax/schema_copy.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Pointers */

static const json_t *item_at(const json_t *list, const char *index)
{
	const char *c;

	for (c = index; isdigit((unsigned char)*c); c++)
		;
	if (*c || c == index || (*index == '0' && index[1]))
		return NULL;
	return json_array_get(list, strtoul(index, NULL, 10));
}

/* Go one step of a pointer. "~1" stands for '/', "~0" for '~'. */
static int take_step(const json_t **at, struct span name)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	size_t i;

	for (i = 0; i < name.len; i++) {
		char next = i + 1 < name.len ? name.data[i + 1] : 0;
		bool is_escape = name.data[i] == '~' && (next == '0' || next == '1');

		buf_char(&key, is_escape && next == '1' ? '/' : name.data[i]);
		i += is_escape;
	}
	if (!buf_cstr(&key))
		return -ENOMEM;
	*at = json_is_array(*at) ? item_at(*at, key.data) : json_object_get(*at, key.data);
	return *at ? 0 : -ENOENT;
}

static int find_pointer(const json_t *root, const char *pointer, const json_t **out)
{
	const json_t *at = root;
	int r = 0;

	while (r == 0 && *pointer) {
		size_t len = strcspn(pointer + 1, "/");

		r = take_step(&at, (struct span){ pointer + 1, len });
		pointer += 1 + len;
	}
	if (r == 0)
		*out = at;
	return r;
}

/* Anchors */

struct search {
	const char *name;
	unsigned *steps;
	const json_t *found;
};

static int match_anchor(void *arg, json_t *schema)
{
	struct search *search = arg;
	const char *anchor = json_string_value(json_object_get(schema, "$anchor"));

	if (search->steps && !*search->steps)
		return -E2BIG;
	if (search->steps)
		--*search->steps;
	if (!anchor || strcmp(anchor, search->name) != 0)
		return 0;
	search->found = schema;
	return 1;
}

static int find_anchor(const json_t *root, const char *name, unsigned *steps, const json_t **out)
{
	struct search search = { .name = name, .steps = steps };

	/* the walk wants a mutable schema, and match_anchor() does not change it */
	if (schema_each((json_t *)root, match_anchor, &search) != 1)
		return -ENOENT;
	*out = search.found;
	return 0;
}

int schema_find_ref(const json_t *root, const char *ref, unsigned *steps, const json_t **out)
{
	CLEANUP(buf_release) struct buf fragment = { 0 };
	int r;

	if (*ref++ != '#')
		return -ENOENT;
	r = percent_decode(span_of(ref), &fragment);
	if (r == -EINVAL) { /* not percent-encoded */
		buf_clear(&fragment);
		buf_text(&fragment, ref);
	}
	if (r == -ENOMEM || !buf_cstr(&fragment))
		return -ENOMEM;
	if (!*fragment.data || *fragment.data == '/')
		return find_pointer(root, fragment.data, out);
	return find_anchor(root, fragment.data, steps, out);
}
