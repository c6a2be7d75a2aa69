/*
 * Merging: see json_merge.h.
 */
#include "base/json_merge.h"

#include <errno.h>

struct search {
	struct span key;
	struct span value;
	bool found;
};

static int compare_member(void *arg, struct span key, struct span value)
{
	struct search *s = arg;

	if (!span_equal(key, s->key))
		return 0;
	s->value = value;
	s->found = true;
	return 1;
}

/* Unlike json_member(), this finds keys with a NUL in them too. */
static bool find_member(struct span object, struct span key, struct span *value)
{
	struct search s = { .key = key };

	(void)!json_each(object, compare_member, &s);
	*value = s.value;
	return s.found;
}

struct merging {
	struct span other;
	struct buf *out;
	bool only_new; /* skip the members of `other`, which are written */
	bool first;
};

static int write_member(void *arg, struct span key, struct span value)
{
	struct merging *m = arg;
	struct span newer;
	bool found = find_member(m->other, key, &newer);

	if (found && m->only_new)
		return 0;
	if (!m->first)
		buf_char(m->out, ',');
	m->first = false;
	json_quote(m->out, key);
	buf_char(m->out, ':');
	if (found)
		return json_merge(value, newer, m->out);
	buf_span_add(m->out, value);
	return 0;
}

int json_merge(struct span a, struct span b, struct buf *out)
{
	struct merging m = { .other = b, .out = out, .first = true };
	int r;

	if (!a.len || !b.len || a.data[0] != '{' || b.data[0] != '{') {
		buf_span_add(out, b.len ? b : a);
		return buf_check(out, NULL);
	}
	buf_char(out, '{');
	r = json_each(a, write_member, &m);
	if (r == 0) {
		m.other = a;
		m.only_new = true;
		r = json_each(b, write_member, &m);
	}
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, NULL);
}
