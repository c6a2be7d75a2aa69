/*
 * Messages of MCP: see message.h.
 */
#include "runner/mcp/message.h"

#include "base/json_text.h"
#include "runner/syntax/surrogate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define GUESS_MAX 4096 /* bytes at the end of a text in which an id is looked for */

void mcp_message_release(struct mcp_message *m)
{
	buf_release(&m->method);
}

/* Reading */

static int take_member(void *arg, struct span key, struct span value)
{
	struct mcp_message *m = arg;

	if (span_is(key, "id"))
		m->id = value;
	else if (span_is(key, "params"))
		m->params = value;
	else if (span_is(key, "result"))
		m->result = value;
	else if (span_is(key, "error"))
		m->error = value;
	else if (span_is(key, "method") && *value.data == '"') {
		buf_clear(&m->method);
		return json_unquote(value, &m->method);
	}
	return 0;
}

static bool is_id(struct span value)
{
	return value.len && !strchr("{[", *value.data) && !span_is(value, "null");
}

int mcp_message_read(struct span text, struct mcp_message *m)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, NULL);
	struct span whole;
	int r = json_raw(&s, &whole);

	if (r == 0)
		r = json_end(&s);
	if (r == 0 && *whole.data == '{')
		r = json_each(whole, take_member, m);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	if (!is_id(m->id))
		m->id.len = 0;
	m->kind = MCP_ANSWER;
	if (m->method.len)
		m->kind = m->id.len ? MCP_ASKS : MCP_TELLS;
	return 0;
}

int mcp_message_mend(struct span text, struct buf *out)
{
	CLEANUP(buf_release) struct buf quoted = { 0 };
	CLEANUP(buf_release) struct buf clean = { 0 };

	/* Quoting replaces invalid UTF-8; unquoting then restores the rest. */
	json_quote_lossy(&quoted, text);
	if (buf_check(&quoted, NULL) < 0 || json_unquote(buf_span(&quoted), &clean) < 0)
		return -ENOMEM;
	surrogate_drop(buf_span(&clean), out);
	return buf_check(out, NULL);
}

uint64_t mcp_message_id(struct span id)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < id.len; i++) {
		if (!isdigit((unsigned char)id.data[i]) || number > UINT64_MAX / 100)
			return 0;
		number = number * 10 + (uint64_t)(id.data[i] - '0');
	}
	return number;
}

/* Look among the members at the start of a text. */
static uint64_t guess_at_start(struct span text)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_MAX, NULL);
	CLEANUP(buf_release) struct buf key = { 0 };
	struct span value;
	bool first = true;

	if (json_open(&s, '{') < 0)
		return 0;
	while (json_key(&s, &first, &key) == 1 && json_raw(&s, &value) == 0) {
		if (span_is(buf_span(&key), "id"))
			return mcp_message_id(value);
	}
	return 0;
}

static bool cut_char(struct span *text, char c)
{
	*text = span_trim_end(*text);
	if (!text->len || text->data[text->len - 1] != c)
		return false;
	text->len--;
	return true;
}

/* `"id":7}` at the very end can only be a member of the outermost object. */
static uint64_t guess_at_end(struct span text)
{
	static const struct span key = SPAN("\"id\"");
	struct span id;

	if (!cut_char(&text, '}'))
		return 0;
	text = span_trim_end(text);
	id = span_sub(text, text.len, text.len);
	while (text.len && isdigit((unsigned char)text.data[text.len - 1])) {
		text.len--;
		id.data--;
		id.len++;
	}
	if (!cut_char(&text, ':'))
		return 0;
	text = span_trim_end(text);
	if (text.len < key.len || !span_equal(span_sub(text, text.len - key.len, text.len), key))
		return 0;
	return mcp_message_id(id);
}

uint64_t mcp_message_guess(struct span text)
{
	uint64_t id = guess_at_start(text);
	size_t from = text.len > GUESS_MAX ? text.len - GUESS_MAX : 0;

	return id ? id : guess_at_end(span_sub(text, from, text.len));
}

uint64_t mcp_message_progress(const struct mcp_message *m)
{
	struct span token;

	if (m->kind != MCP_TELLS || !span_is(buf_span(&m->method), "notifications/progress"))
		return 0;
	if (json_member(m->params, "progressToken", &token) < 0)
		return 0;
	return mcp_message_id(token);
}

void mcp_message_note(struct mcp_link *link, const struct mcp_message *m)
{
	if (m->kind == MCP_TELLS &&
	    span_is(buf_span(&m->method), "notifications/tools/list_changed"))
		atomic_store(&link->tools_changed, true);
}

/* Answers */

static int take_refusal(const struct mcp_message *m, struct mcp_refusal *refusal)
{
	struct span value;

	if (json_member(m->error, "code", &value) == 0)
		refusal->code = strtol(value.data, NULL, 10);
	if (json_member(m->error, "data", &value) == 0)
		buf_span_add(&refusal->data, value);
	if (json_member(m->error, "message", &value) == 0 &&
	    json_unquote(value, &refusal->message) == -ENOMEM)
		return -ENOMEM;
	return buf_cstr(&refusal->message) && buf_check(&refusal->data, NULL) == 0 ? -EREMOTEIO
										   : -ENOMEM;
}

int mcp_message_take(const struct mcp_link *link, const struct mcp_message *m,
		     struct mcp_request *rq, struct err *err)
{
	struct err reason = { 0 };
	int r;

	if (m->error.len && m->error.data[0] == '{') {
		r = take_refusal(m, &rq->refusal);
		return r == -ENOMEM ? err_nomem(err) : r;
	}
	if (!m->result.len || m->result.data[0] != '{')
		return mcp_fail(link->params, err, -EPROTO, "answered %s with no result object",
				rq->method);
	r = json_canonical_text(m->result, JSON_DEPTH_FREE, &rq->result, &reason);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return mcp_fail(link->params, err, -EPROTO,
				"answered %s with an invalid result: %s", rq->method, reason.text);
	return 0;
}

/* Writing */

/* `_meta` of a request: calls ask for progress; the modern era requires the rest. */
static void write_meta(struct buf *out, const struct mcp_link *link, const struct mcp_request *rq,
		       uint64_t id)
{
	buf_text(out, "\"_meta\":{");
	if (rq->name)
		buf_printf(out, "\"progressToken\":%" PRIu64, id);
	if (atomic_load(&link->era) == MCP_MODERN) {
		buf_printf(out,
			   "%s\"io.modelcontextprotocol/protocolVersion\":\"%s\""
			   ",\"io.modelcontextprotocol/clientCapabilities\":{}"
			   ",\"io.modelcontextprotocol/clientInfo\":" MCP_CLIENT_INFO,
			   rq->name ? "," : "", link->version);
	}
	buf_char(out, '}');
}

void mcp_write_request(struct buf *out, const struct mcp_link *link, const struct mcp_request *rq,
		       uint64_t id)
{
	bool needs_meta = rq->name || atomic_load(&link->era) == MCP_MODERN;

	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":{",
		   id, rq->method);
	buf_span_add(out, rq->members);
	if (needs_meta && rq->members.len)
		buf_char(out, ',');
	if (needs_meta)
		write_meta(out, link, rq, id);
	buf_text(out, "}}");
}

void mcp_write_initialized(struct buf *out)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void mcp_write_cancelled(struct buf *out, uint64_t id, const char *reason)
{
	buf_printf(out,
		   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		   "\"requestId\":%" PRIu64 ",\"reason\":\"%s\"}}",
		   id, reason);
}

void mcp_write_reply(struct buf *out, const struct mcp_message *request)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_span_add(out, request->id);
	if (span_is(buf_span(&request->method), "ping"))
		buf_text(out, ",\"result\":{}}");
	else
		buf_text(out, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
}
