/*
 * MCP servers: see mcp.h. Inside the gate one caller connects, or reads the list
 * of tools; the others wait for the outcome.
 */
#include "base/clock.h"
#include "base/json_text.h"
#include "base/mutex.h"
#include "runner/mcp/gate.h"
#include "runner/mcp/list.h"
#include "runner/mcp/message.h"

#include <errno.h>
#include <stdlib.h>

struct mcp_server {
	/* fixed */
	const struct mcp_params *params;
	struct mcp_home home;
	struct mcp_gate gate;

	struct mutex lock;
	struct mcp_link *link GUARDED_BY(lock);    /* can be asked; NULL: none */
	struct mcp_link *retired GUARDED_BY(lock); /* lost, and ending */
	uint64_t numbers GUARDED_BY(lock);
	struct mcp_list *list GUARDED_BY(lock); /* the latest, or NULL */
};

/* A link and a list, as a caller gets them from a server. */
struct wanted {
	struct mcp_server *server;
	struct mcp_link *link; /* in use by the caller */
	struct mcp_list *list; /* a reference */
};

/* Links */

static const struct mcp_transport *const transports[] = {
	[MCP_TRANSPORT_STDIO] = &mcp_stdio,
	[MCP_TRANSPORT_HTTP] = &mcp_http,
};

static void retire_locked(struct mcp_server *server, struct mcp_link *link) REQUIRES(server->lock)
{
	link->next = server->retired;
	server->retired = link;
}

/* The link that can be asked, which the caller then uses. False: there is none. */
static bool find_link(void *arg)
{
	struct wanted *w = arg;
	struct mcp_server *server = w->server;
	struct mcp_link *link;

	mutex_lock(&server->lock);
	link = server->link;
	if (link && link->transport->is_over(link)) {
		retire_locked(server, link);
		server->link = NULL;
		link = NULL;
	}
	if (link)
		link->users++;
	mutex_unlock(&server->lock);
	w->link = link;
	return link;
}

static void put_link(struct mcp_server *server, struct mcp_link *link)
{
	mutex_lock(&server->lock);
	link->users--;
	mutex_unlock(&server->lock);
}

/* Take out a retired link that has ended and that nobody uses. NULL: none. */
static struct mcp_link *take_ended(struct mcp_server *server)
{
	struct mcp_link **at;
	struct mcp_link *link;

	mutex_lock(&server->lock);
	for (at = &server->retired; (link = *at); at = &link->next) {
		if (!link->users && link->transport->has_ended(link))
			break;
	}
	if (link)
		*at = link->next;
	mutex_unlock(&server->lock);
	return link;
}

static void free_ended(struct mcp_server *server)
{
	struct mcp_link *link;

	while ((link = take_ended(server)))
		link->transport->free(link);
}

static void adopt_link(struct mcp_server *server, struct mcp_link *link, bool is_good)
{
	mutex_lock(&server->lock);
	link->number = ++server->numbers;
	if (is_good) {
		link->users = 1;
		server->link = link;
	} else {
		retire_locked(server, link);
	}
	mutex_unlock(&server->lock);
}

typedef int agree_fn(struct mcp_link *link, struct cancel *cancel, struct err *err);

/* Connect until a deadline (monotonic ns). The caller is inside the gate, and uses w->link then. */
static int connect_by(struct wanted *w, agree_fn *agree, uint64_t deadline, struct cancel *cancel,
		      struct err *err)
{
	struct mcp_server *server = w->server;
	struct mcp_link *link;
	int r;

	free_ended(server);
	r = transports[server->params->transport]->open(server->params, &server->home, &link, err);
	if (r < 0)
		return r;
	link->agree_by = deadline;
	r = agree(link, cancel, err);
	adopt_link(server, link, r == 0);
	if (r < 0)
		link->transport->stop(link);
	else
		w->link = link;
	return r;
}

/* Connect a second time to a server that gave up after a request that it does not know. */
static int make_link(void *arg, struct cancel *cancel, struct err *err)
{
	struct wanted *w = arg;
	uint64_t patience = mcp_patience(w->server->params) * (uint64_t)NSEC_PER_MSEC;
	uint64_t deadline = clock_monotonic() + patience;
	int r = connect_by(w, mcp_agree, deadline, cancel, err);

	if (r == -EPIPE || r == -ESTALE || r == -ECONNRESET)
		r = connect_by(w, mcp_agree_legacy, deadline, cancel, err);
	return r == -ESTALE ? -EPIPE : r;
}

static int get_link(struct wanted *w, struct cancel *cancel, struct err *err)
{
	return mcp_gate_once(&w->server->gate, cancel, find_link, make_link, w, err);
}

/* Lists */

/* A reference to the list, if the list is good for the link. */
static bool find_list(void *arg)
{
	struct wanted *w = arg;
	struct mcp_server *server = w->server;
	uint64_t now = clock_monotonic();

	w->list = NULL;
	mutex_lock(&server->lock);
	if (server->list && server->list->number == w->link->number && now < server->list->until &&
	    !atomic_load(&w->link->tools_changed))
		w->list = mcp_list_ref(server->list);
	mutex_unlock(&server->lock);
	return w->list;
}

static void keep_list(struct mcp_server *server, struct mcp_list *list)
{
	struct mcp_list *before;

	mutex_lock(&server->lock);
	before = server->list;
	server->list = mcp_list_ref(list);
	mutex_unlock(&server->lock);
	mcp_list_unref(before);
}

static int make_list(void *arg, struct cancel *cancel, struct err *err)
{
	struct wanted *w = arg;
	struct mcp_link *link = w->link;
	int r;

	if (link->transport->listen)
		link->transport->listen(link);
	/* Clear the flag first: the list may miss a change from here on. */
	atomic_store(&link->tools_changed, false);
	r = mcp_list_read(link, cancel, &w->list, err);
	if (r == 0)
		keep_list(w->server, w->list);
	else
		atomic_store(&link->tools_changed, true);
	return r;
}

static int get_list(struct mcp_server *server, struct cancel *cancel, struct mcp_list **out,
		    struct err *err)
{
	struct wanted w = { .server = server };
	int tries;
	int r = -ESTALE;

	for (tries = 0; tries < 2 && r == -ESTALE; tries++) {
		r = get_link(&w, cancel, err);
		if (r < 0)
			return r;
		r = mcp_gate_once(&server->gate, cancel, find_list, make_list, &w, err);
		put_link(server, w.link);
	}
	*out = w.list;
	return r;
}

int mcp_tools(struct mcp_server *server, struct cancel *cancel, mcp_tool_fn *fn, void *arg,
	      struct err *err)
{
	CLEANUP(mcp_list_unref_p) struct mcp_list *list = NULL;
	size_t i;
	int r = get_list(server, cancel, &list, err);

	for (i = 0; r == 0 && i < list->n; i++)
		r = fn(arg, &list->tools[i]);
	return r;
}

static struct mcp_list *latest_list(struct mcp_server *server)
{
	struct mcp_list *list;

	mutex_lock(&server->lock);
	list = mcp_list_ref(server->list);
	mutex_unlock(&server->lock);
	return list;
}

json_t *mcp_warnings(struct mcp_server *server)
{
	CLEANUP(mcp_list_unref_p) struct mcp_list *list = latest_list(server);

	return list ? json_deep_copy(list->warnings) : json_array();
}

/* Calls */

/* Copy a member of a result, except the protocol's own. */
static int copy_member(void *arg, struct span key, struct span value)
{
	struct buf *out = arg;

	if (span_is(key, "_meta") || span_is(key, "resultType"))
		return 0;
	if (out->data[out->len - 1] != '{')
		buf_char(out, ',');
	json_quote(out, key);
	buf_char(out, ':');
	buf_span_add(out, value);
	return buf_check(out, NULL);
}

static int copy_result(struct span result, struct buf *out, struct err *err)
{
	buf_char(out, '{');
	if (buf_check(out, NULL) < 0 || json_each(result, copy_member, out) < 0)
		return err_nomem(err);
	buf_char(out, '}');
	return buf_check(out, err);
}

/*
 * Find out whether a result is complete. 0: yes; 1: call again with the state that
 * was appended to `members`; -EPROTO.
 */
static int judge_result(const struct mcp_link *link, struct span result, struct buf *members,
			struct err *err)
{
	struct span type;
	struct span value;

	if (atomic_load(&link->era) == MCP_LEGACY || json_member(result, "resultType", &type) < 0 ||
	    span_is(type, "\"complete\""))
		return 0;
	if (!span_is(type, "\"input_required\""))
		return mcp_fail(link->params, err, -EPROTO, "gave a result of an unknown type");
	if (json_member(result, "inputRequests", &value) == 0 ||
	    json_member(result, "requestState", &value) < 0)
		return mcp_fail(link->params, err, -EPROTO, "asked for input during a call");
	buf_text(members, ",\"requestState\":");
	buf_span_add(members, value);
	return buf_check(members, err) < 0 ? -ENOMEM : 1;
}

/* A call that is being made. */
struct made {
	const struct mcp_call *call;
	struct span args;   /* of the call, canonical */
	struct buf members; /* of params */
	struct buf *result;
};

static void made_release(struct made *made)
{
	buf_release(&made->members);
}

static int ask_once(struct mcp_link *link, const struct made *made, const struct mcp_list *list,
		    struct mcp_request *rq, struct cancel *cancel, struct err *err)
{
	const struct mcp_call *call = made->call;
	const struct mcp_tool *tool = mcp_list_find(list, call->tool);
	int r;

	*rq = (struct mcp_request){
		.method = "tools/call",
		.members = buf_span(&made->members),
		.name = call->tool,
		.schema = tool ? tool->parameters : NULL,
		.args = made->args,
		.timeout_ms = call->timeout_ms ? call->timeout_ms : MCP_CALL_MS,
	};
	r = link->transport->ask(link, rq, cancel, err);
	return r == -EREMOTEIO ? mcp_refused(link, rq, err) : r;
}

static int call_over(struct mcp_link *link, struct made *made, const struct mcp_list *list,
		     struct cancel *cancel, struct err *err)
{
	size_t plain = made->members.len;
	int rounds;

	for (rounds = 0; rounds <= MCP_ROUNDS_MAX; rounds++) {
		CLEANUP(mcp_request_release) struct mcp_request rq = { 0 };
		int r = ask_once(link, made, list, &rq, cancel, err);

		made->members.len = plain;
		if (r < 0)
			return r;
		r = judge_result(link, buf_span(&rq.result), &made->members, err);
		if (r < 0)
			return r;
		if (r == 0)
			return copy_result(buf_span(&rq.result), made->result, err);
	}
	return mcp_fail(link->params, err, -EPROTO, "asked to repeat a call too often");
}

/* Make a call. Try again if the link had ended before the call reached the server. */
static int call_server(struct mcp_server *server, struct made *made, struct cancel *cancel,
		       struct err *err)
{
	struct wanted w = { .server = server };
	int tries;
	int r = -ESTALE;

	for (tries = 0; tries < 2 && r == -ESTALE; tries++) {
		CLEANUP(mcp_list_unref_p) struct mcp_list *list = NULL;

		r = get_link(&w, cancel, err);
		if (r < 0)
			return r;
		list = latest_list(server);
		r = call_over(w.link, made, list, cancel, err);
		put_link(server, w.link);
	}
	return r;
}

int mcp_call(struct mcp_server *server, const struct mcp_call *call, struct cancel *cancel,
	     struct buf *result, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf found = { 0 };
	CLEANUP(made_release) struct made made = { .call = call, .result = &found };
	struct span args = call->args.len ? call->args : SPAN("{}");
	int r = json_canonical_text(args, JSON_DEPTH_FREE, &text, err);

	if (r < 0)
		return r == -ENODATA ? -EINVAL : r;
	if (text.data[0] != '{')
		return err_set(err, -EINVAL, "the arguments must be an object");
	made.args = buf_span(&text);
	buf_text(&made.members, "\"name\":");
	json_quote_lossy(&made.members, span_of(call->tool));
	buf_text(&made.members, ",\"arguments\":");
	buf_span_add(&made.members, made.args);
	r = buf_check(&made.members, err);
	if (r == 0)
		r = call_server(server, &made, cancel, err);
	if (r < 0)
		return r;
	buf_span_add(result, buf_span(&found));
	return buf_check(result, err);
}

/* Life */

struct mcp_server *mcp_server_new(const struct mcp_params *params, const char *folder)
{
	struct mcp_server *server = calloc(1, sizeof *server);

	if (!server)
		return NULL;
	server->params = params;
	server->home.folder = folder;
	if (mcp_gate_init(&server->gate) < 0) {
		free(server);
		return NULL;
	}
	mutex_init(&server->lock);
	return server;
}

void mcp_server_enclose(struct mcp_server *server, const struct sandbox *sandbox,
			const char *agents)
{
	server->home.sandbox = sandbox;
	server->home.agents = agents;
}

/* Ask all links to end before waiting for the first. */
static void end_links(struct mcp_link *list)
{
	struct mcp_link *link;

	for (link = list; link; link = link->next)
		link->transport->stop(link);
	while ((link = list)) {
		list = link->next;
		link->transport->free(link);
	}
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	mutex_lock(&server->lock);
	if (server->link)
		retire_locked(server, server->link);
	mutex_unlock(&server->lock);
	end_links(server->retired);
	mcp_list_unref(server->list);
	mutex_release(&server->lock);
	mcp_gate_release(&server->gate);
	free(server);
}
