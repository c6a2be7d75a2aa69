/*
 * Lists of tools: see list.h.
 */
#include "runner/mcp/list.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "runner/syntax/json_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define KEPT_MS      60000 /* a list of a service that cannot report changes */
#define WARNINGS_MAX 100

struct listing {
	struct mcp_link *link;
	struct mcp_list *list;
	json_t *own_names; /* object: names of the server, seen so far */
	json_t *cursors;   /* object: cursors seen so far */
	uint64_t now;
	size_t bytes; /* of all pages */
};

static int list_warn(struct listing *l, const char *fmt, ...) PRINTF(2, 3);

static int list_warn(struct listing *l, const char *fmt, ...)
{
	size_t count = json_array_size(l->list->warnings);
	struct err sentence = { 0 };
	char text[300];
	va_list args;

	if (count > WARNINGS_MAX)
		return 0;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, count < WARNINGS_MAX ? fmt : "and so on", args);
	va_end(args);
	(void)mcp_fail(l->link->params, &sentence, -ENOTSUP, "%s", text);
	return json_array_append_new(l->list->warnings, json_value_text(sentence.text)) ? -ENOMEM
											: 0;
}

/* Names */

/* Make the offered name. A character that providers refuse becomes _; a long name gets a hash. */
static void make_name(const char *prefix, const char *own, char *out)
{
	uint32_t hash = 2166136261u;
	size_t n = 0;
	const char *c;

	(void)snprintf(out, MCP_NAME_MAX + 1, "%s%s", prefix, own);
	for (c = own; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (n = 0; out[n]; n++) {
		if (!isalnum((unsigned char)out[n]) && !strchr("_-", out[n]))
			out[n] = '_';
	}
	if (strlen(prefix) + strlen(own) > MCP_NAME_MAX)
		(void)snprintf(out + MCP_NAME_MAX - 9, 10, "_%08" PRIx32, hash);
}

static bool is_wanted(const struct mcp_params *params, const char *own)
{
	const json_t *name;
	size_t i;

	if (!params->filter)
		return true;
	json_array_foreach(params->filter, i, name)
	{
		if (!strcmp(json_string_value(name), own))
			return true;
	}
	return false;
}

/* Pages */

static void listing_release(struct listing *l)
{
	json_decref(l->own_names);
	json_decref(l->cursors);
}

/* Whether a schema is of an object. Some servers write {} for tools without arguments. */
static bool is_of_object(const json_t *schema)
{
	const json_t *type = json_object_get(schema, "type");
	const json_t *properties = json_object_get(schema, "properties");

	if (type && (!json_is_string(type) || strcasecmp(json_string_value(type), "object") != 0))
		return false;
	return !properties || json_is_object(properties);
}

/* Add a tool, or warn that it is left out. 0 or -ENOMEM. */
static int take_tool(struct listing *l, const json_t *item)
{
	const struct mcp_link *link = l->link;
	const char *own = json_string_value(json_object_get(item, "name"));
	const char *description = json_string_value(json_object_get(item, "description"));
	const json_t *schema = json_object_get(item, "inputSchema");
	struct mcp_list *list = l->list;
	const char *reason = NULL;
	char name[MCP_NAME_MAX + 1];

	if (!own || !*own)
		return list_warn(l, "a tool without a name is left out");
	if (json_object_get(l->own_names, own))
		return list_warn(l, "%.100s is left out: another tool has the same name", own);
	if (json_object_set_new(l->own_names, own, json_true()))
		return -ENOMEM;
	if (!is_wanted(link->params, own))
		return 0;
	if (!json_is_object(schema))
		return list_warn(l, "%.100s is left out: it has no inputSchema", own);
	if (!is_of_object(schema))
		return list_warn(
			l, "%.100s is left out: its inputSchema does not describe an object", own);
	if (link->transport->check)
		reason = link->transport->check(link, schema);
	if (reason)
		return list_warn(l, "%.100s is left out: %s", own, reason);
	make_name(link->params->prefix, own, name);
	if (json_object_get(list->names, name))
		return list_warn(l, "%.100s is left out: another tool is offered as %s", own, name);
	if (json_object_set_new(list->names, name, json_string(own)))
		return -ENOMEM;
	list->tools[list->n++] = (struct mcp_tool){ .server_name = own,
						    .description = description ? description : "",
						    .parameters = schema };
	return 0;
}

/* Point each tool at its offered name, a key of `names`. No key moves from now on. */
static void point_at_names(struct mcp_list *list)
{
	const char *name;
	json_t *own;
	size_t i = 0;

	json_object_foreach(list->names, name, own)
	{
		list->tools[i++].name = name;
	}
}

static int compare_tools(const void *a, const void *b)
{
	return strcmp(((const struct mcp_tool *)a)->name, ((const struct mcp_tool *)b)->name);
}

/* Make room for *more tools; *more becomes less when that is too many. 0 or -ENOMEM. */
static int make_room(struct mcp_list *list, size_t *more)
{
	struct mcp_tool *tools;

	*more = MIN(*more, MCP_TOOLS_MAX - list->n);
	tools = reallocarray(list->tools, list->n + *more + 1, sizeof *tools);
	if (!tools)
		return -ENOMEM;
	list->tools = tools;
	return 0;
}

static int take_tools(struct listing *l, const json_t *page)
{
	const json_t *items = json_object_get(page, "tools");
	size_t count = json_array_size(items);
	size_t i;
	int r;

	if (json_array_append(l->list->pages, (json_t *)page))
		return -ENOMEM;
	r = make_room(l->list, &count);
	for (i = 0; i < count && r == 0; i++)
		r = take_tool(l, json_array_get(items, i));
	if (r == 0 && count < json_array_size(items))
		r = list_warn(l, "only the first %d tools are offered", MCP_TOOLS_MAX);
	return r;
}

/* Note until when the list may be used. */
static void take_lifetime(struct listing *l, const json_t *page)
{
	const json_t *ttl = json_object_get(page, "ttlMs");
	const struct mcp_link *link = l->link;
	double ms = -1;

	if (link->params->ttl_ms >= 0)
		ms = (double)link->params->ttl_ms;
	else if (json_is_number(ttl) && atomic_load(&link->era) == MCP_MODERN)
		ms = json_number_value(ttl);
	else if (!link->transport->has_pushes)
		ms = KEPT_MS;
	if (ms >= 0)
		l->list->until = MIN(l->list->until,
				     l->now + (uint64_t)(MIN(ms, 1e12) * NSEC_PER_MSEC));
}

static int ask_page(struct listing *l, struct span cursor, struct cancel *cancel, json_t **page,
		    struct err *err)
{
	CLEANUP(mcp_request_release) struct mcp_request rq = { .method = "tools/list" };
	CLEANUP(buf_release) struct buf members = { 0 };
	int r;

	if (cursor.data) {
		buf_text(&members, "\"cursor\":");
		json_quote(&members, cursor);
	}
	if (buf_check(&members, err) < 0)
		return -ENOMEM;
	rq.members = buf_span(&members);
	rq.timeout_ms = mcp_patience(l->link->params);
	r = l->link->transport->ask(l->link, &rq, cancel, err);
	if (r == -EREMOTEIO)
		return mcp_refused(l->link, &rq, err);
	if (r < 0)
		return r;
	l->bytes += rq.result.len;
	if (l->bytes > MCP_LIST_BYTES)
		return mcp_fail(l->link->params, err, -E2BIG,
				"answered tools/list with more than %u bytes", MCP_LIST_BYTES);
	*page = json_value_load(buf_span(&rq.result));
	if (!*page) /* the text is valid JSON */
		return err_nomem(err);
	if (!json_is_array(json_object_get(*page, "tools")))
		return mcp_fail(l->link->params, err, -EPROTO, "answered tools/list without tools");
	return 0;
}

/* Find the cursor of the next page. 1: there is one; 0: the list ends here; -ENOMEM. */
static int next_cursor(struct listing *l, const json_t *page, size_t pages, struct buf *cursor)
{
	const json_t *next = json_object_get(page, "nextCursor");
	const char *text = json_string_value(next);
	int r = 0;

	if (!text || l->list->n == MCP_TOOLS_MAX)
		return 0;
	if (json_object_get(l->cursors, text))
		r = list_warn(l, "the list of tools repeats itself");
	else if (pages == MCP_PAGES_MAX)
		r = list_warn(l, "only the first %d pages of tools are offered", MCP_PAGES_MAX);
	else
		r = json_object_set_new(l->cursors, text, json_true()) ? -ENOMEM : 1;
	buf_clear(cursor);
	buf_add(cursor, text, json_string_length(next));
	return buf_check(cursor, NULL) < 0 ? -ENOMEM : r;
}

static int read_pages(struct listing *l, struct cancel *cancel, struct err *err)
{
	CLEANUP(buf_release) struct buf cursor = { 0 };
	struct span at = { NULL, 0 };
	size_t pages = 0;
	int r = 1;

	while (r > 0) {
		json_auto_t *page = NULL;

		r = ask_page(l, at, cancel, &page, err);
		if (r < 0)
			return r;
		take_lifetime(l, page);
		r = take_tools(l, page);
		if (r == 0)
			r = next_cursor(l, page, ++pages, &cursor);
		at = buf_span(&cursor);
	}
	return r < 0 ? err_nomem(err) : 0;
}

/* Warn of names in tool_filter that the server does not have. */
static int check_filter(struct listing *l)
{
	const json_t *name;
	size_t i;
	int r = 0;

	json_array_foreach(l->link->params->filter, i, name)
	{
		const char *own = json_string_value(name);

		if (!json_object_get(l->own_names, own))
			r = list_warn(l, "tool_filter: the server has no tool %.100s", own);
		if (r < 0)
			break;
	}
	return r;
}

static struct mcp_list *list_new(const struct mcp_link *link)
{
	CLEANUP(mcp_list_unref_p) struct mcp_list *list = calloc(1, sizeof *list);

	if (!list)
		return NULL;
	list->refs = 1;
	list->until = UINT64_MAX;
	list->number = link->number;
	list->pages = json_array();
	list->names = json_object();
	list->warnings = json_array();
	if (!list->pages || !list->names || !list->warnings)
		return NULL;
	return STEAL(&list);
}

int mcp_list_read(struct mcp_link *link, struct cancel *cancel, struct mcp_list **out,
		  struct err *err)
{
	CLEANUP(mcp_list_unref_p) struct mcp_list *list = list_new(link);
	CLEANUP(listing_release) struct listing l = { .link = link, .list = list };
	int r;

	l.own_names = json_object();
	l.cursors = json_object();
	l.now = clock_monotonic();
	if (!list || !l.own_names || !l.cursors)
		return err_nomem(err);
	r = read_pages(&l, cancel, err);
	if (r < 0)
		return r;
	if (check_filter(&l) < 0)
		return err_nomem(err);
	point_at_names(list);
	if (list->n)
		qsort(list->tools, list->n, sizeof *list->tools, compare_tools);
	*out = STEAL(&list);
	return 0;
}

struct mcp_list *mcp_list_ref(struct mcp_list *list)
{
	if (list)
		atomic_fetch_add(&list->refs, 1);
	return list;
}

void mcp_list_unref(struct mcp_list *list)
{
	if (!list || atomic_fetch_sub(&list->refs, 1) > 1)
		return;
	json_decref(list->pages);
	json_decref(list->names);
	json_decref(list->warnings);
	free(list->tools);
	free(list);
}

const struct mcp_tool *mcp_list_find(const struct mcp_list *list, const char *server_name)
{
	size_t i;

	for (i = 0; list && i < list->n; i++) {
		if (!strcmp(list->tools[i].server_name, server_name))
			return &list->tools[i];
	}
	return NULL;
}
