/*
 * The members of a checked JSON object, and the bytes of a string: see json_text.h.
 */
#include "base/json_text.h"

#include <errno.h>

int json_each(struct span object, json_member_fn *fn, void *arg)
{
	struct json_scan s = json_scan_of(object, JSON_DEPTH_MAX, NULL);
	CLEANUP(buf_release) struct buf key = { 0 };
	bool first = true;
	struct span value;
	int r = json_open(&s, '{');

	if (r < 0)
		return r;
	while ((r = json_key(&s, &first, &key)) == 1) {
		r = json_raw(&s, &value);
		if (r < 0)
			return r;
		r = fn(arg, buf_span(&key), value);
		if (r)
			return r;
	}
	return r;
}

struct wanted {
	struct span name;
	struct span *value;
};

static int match_member(void *arg, struct span key, struct span value)
{
	struct wanted *w = arg;

	if (!span_equal(key, w->name))
		return 0;
	*w->value = value;
	return 1;
}

int json_member(struct span object, const char *name, struct span *value)
{
	struct wanted w = { span_of(name), value };
	int r = json_each(object, match_member, &w);

	if (r < 0)
		return r;
	return r ? 0 : -ENOENT;
}

int json_unquote(struct span token, struct buf *out)
{
	struct json_scan s = json_scan_of(token, 1, NULL);

	return json_take_string(&s, out);
}
