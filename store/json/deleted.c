/*
 * Deleted state keys: see deleted.h.
 */
#include "store/json/deleted.h"

#include "base/json_text.h"

#include <errno.h>
#include <stdlib.h>

void deleted_release(struct deleted *d)
{
	buf_release(&d->text);
	buf_release(&d->keys);
}

static struct deleted_key *keys_of(const struct deleted *d, size_t *count)
{
	return BUF_LIST(struct deleted_key, &d->keys, count);
}

static struct span name_of(const struct deleted *d, const struct deleted_key *key)
{
	return (struct span){ d->text.data + key->at, key->len };
}

static int by_name(const void *a, const void *b, void *arg)
{
	return span_compare(name_of(arg, a), name_of(arg, b));
}

static void drop_repeated(struct deleted *d)
{
	size_t count;
	struct deleted_key *keys = keys_of(d, &count);
	size_t kept = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!kept || by_name(&keys[kept - 1], &keys[i], d))
			keys[kept++] = keys[i];
	}
	d->keys.len = kept * sizeof *keys;
}

static int read_keys(struct span list, struct deleted *d, struct err *err)
{
	struct json_scan s = json_scan_of(list, 4, err);
	bool first = true;
	int r = json_open(&s, '[');

	while (r >= 0 && (r = json_item(&s, &first)) == 1) {
		struct deleted_key key = { .at = d->text.len };

		r = json_take_string(&s, &d->text);
		key.len = d->text.len - key.at;
		buf_add(&d->keys, &key, sizeof key);
	}
	if (r < 0)
		return r;
	r = buf_check(&d->text, err);
	return r < 0 ? r : buf_check(&d->keys, err);
}

int deleted_read(struct span metadata, struct deleted *out, struct err *err)
{
	struct span list;
	size_t count;
	int r;

	*out = (struct deleted){ 0 };
	if (!metadata.len || json_member(metadata, DELETED_MEMBER, &list) < 0)
		return 0;
	r = read_keys(list, out, err);
	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	(void)keys_of(out, &count);
	if (count)
		qsort_r(out->keys.data, count, sizeof(struct deleted_key), by_name, out);
	drop_repeated(out);
	return 0;
}

struct deleted_key *deleted_find(const struct deleted *d, struct span key)
{
	size_t end;
	struct deleted_key *keys = keys_of(d, &end);
	size_t from = 0;

	while (from < end) {
		size_t at = from + (end - from) / 2;
		int order = span_compare(key, name_of(d, &keys[at]));

		if (order == 0)
			return &keys[at];
		if (order < 0)
			end = at;
		else
			from = at + 1;
	}
	return NULL;
}

bool deleted_unmet(const struct deleted *d, size_t *at, struct span *name)
{
	size_t count;
	const struct deleted_key *keys = keys_of(d, &count);

	while (*at < count) {
		const struct deleted_key *key = &keys[(*at)++];

		*name = name_of(d, key);
		if (!key->met)
			return true;
	}
	return false;
}
