/*
 * Tools in requests: see tool.h.
 */
#include "runner/wire/tool.h"

#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"

#include <errno.h>

int model_tool_parameters(const struct model_tool *tool, struct buf *out)
{
	jsonput_key(out, "parameters");
	return schema_copy_put_object(tool->parameters, out);
}

static int put_tool(const struct model_tool_form *form, const struct model_name_rule *names,
		    const struct model_tool *tool, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = model_name_encode(names, tool->name, &name, err);

	if (r < 0)
		return r;
	jsonput_item(out);
	buf_text(out, form->item);
	jsonput_text(out, "name", buf_span(&name));
	if (tool->description && *tool->description)
		jsonput_text(out, "description", span_of(tool->description));
	r = form->put_parameters(tool, out);
	buf_text(out, form->item_end);
	if (r == -E2BIG)
		return err_set(err, -EINVAL, "the parameters of '%.64s' are nested too deeply",
			       tool->name);
	return r;
}

int model_tools_put(const struct model_tool_form *form, const struct model_name_rule *names,
		    const struct question *q, struct buf *out, struct err *err)
{
	size_t i;
	int r = 0;

	if (!q->tool_count)
		return 0;
	jsonput_key(out, "tools");
	buf_text(out, form->list);
	for (i = 0; r == 0 && i < q->tool_count; i++)
		r = put_tool(form, names, &q->tools[i], out, err);
	buf_text(out, form->list_end);
	return r;
}
