/*
 * Lines of a log: see line.h.
 */
#include "runner/history/line.h"

#include "base/json_text.h"

static const struct {
	const char *name;
	size_t offset;
} members[] = {
	{ "content", offsetof(struct past_line, content) },
	{ "invocationId", offsetof(struct past_line, invocation) },
	{ "author", offsetof(struct past_line, author) },
	{ "longRunningToolIds", offsetof(struct past_line, long_running) },
	{ "branch", offsetof(struct past_line, branch) },
	{ "timestamp", offsetof(struct past_line, timestamp) },
	{ "actions", offsetof(struct past_line, actions) },
	{ "customMetadata", offsetof(struct past_line, metadata) },
};

static int pick_member(void *arg, struct span key, struct span value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (span_is(key, members[i].name)) {
			memcpy((char *)arg + members[i].offset, &value, sizeof value);
			break;
		}
	}
	return 0;
}

int past_pick(struct span text, struct past_line *line)
{
	return json_each(text, pick_member, line);
}

int past_by_place(const void *a, const void *b)
{
	const struct past_place *x = a;
	const struct past_place *y = b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}
