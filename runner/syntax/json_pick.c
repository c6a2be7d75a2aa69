/*
 * Picking: see json_pick.h.
 */
#include "runner/syntax/json_pick.h"

#include <stdlib.h>

struct picker {
	const struct jsonpick *members;
	void *into;
};

static int pick_member(void *arg, struct span key, struct span value)
{
	struct picker *p = arg;
	const struct jsonpick *m;

	for (m = p->members; m->name; m++) {
		if (span_is(key, m->name))
			*(struct span *)(void *)((char *)p->into + m->at) = value;
	}
	return 0;
}

int jsonpick_object(struct span object, const struct jsonpick *members, void *into)
{
	struct picker p = { members, into };

	return jsonpick_is(object, '{') ? json_each(object, pick_member, &p) : 0;
}

int jsonpick_list(struct span list, jsonpick_fn *fn, void *arg)
{
	struct json_scan s = json_scan_of(list, JSON_DEPTH_MAX, NULL);
	struct span item;
	bool first = true;
	int r;

	if (!jsonpick_is(list, '['))
		return 0;
	r = json_open(&s, '[');
	while (r == 0 && (r = json_item(&s, &first)) == 1) {
		r = json_raw(&s, &item);
		if (r == 0)
			r = fn(arg, item);
	}
	return r;
}

long long jsonpick_count(struct span value)
{
	char digits[24] = "";
	long long count;
	char *end;

	if (!value.len || value.len >= sizeof digits || value.data[0] < '0' || value.data[0] > '9')
		return -1;
	memcpy(digits, value.data, value.len);
	count = strtoll(digits, &end, 10);
	if (*end == '.')
		end += 1 + strspn(end + 1, "0");
	return *end || count > JSONPICK_COUNT_MAX ? -1 : count;
}
