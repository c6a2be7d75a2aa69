/*
 * Structured answers: see output.h.
 */
#include "runner/turn/output.h"

#include "base/json_text.h"
#include "runner/model/ask.h"
#include "runner/syntax/json_value.h"
#include "runner/syntax/schema.h"

#include <errno.h>

bool output_is_native(const struct agent *agent)
{
	struct question rq = { .folder = agent->tree->folder, .settings = agent->tree->settings };

	return model_find(agent->model, &rq.provider, &rq.name, NULL) == 0 &&
	       model_takes_schema(&rq);
}

/* Models like to put JSON into a fence. */
static struct span without_fence(struct span text)
{
	const char *end;

	text = span_trim(text);
	if (text.len < 6 || memcmp(text.data, "```", 3) != 0 ||
	    memcmp(text.data + text.len - 3, "```", 3) != 0)
		return text;
	end = memchr(text.data, '\n', text.len);
	if (!end || end + 1 > text.data + text.len - 3)
		return text;
	return (struct span){ end + 1, (size_t)(text.data + text.len - 3 - (end + 1)) };
}

int output_check(const struct agent *agent, struct span text, struct buf *value, struct err *err)
{
	json_auto_t *tree = NULL;
	int r = json_canonical_text(without_fence(text), JSON_DEPTH_FREE, value, err);

	if (r == -ENODATA)
		return err_set(err, -EINVAL, "the JSON is cut off");
	if (r < 0)
		return r;
	tree = json_value_load(buf_span(value));
	if (!tree)
		return err_set(err, -EINVAL, "the JSON cannot be checked");
	return schema_check(agent->output_schema, tree, err);
}
