/*
 * Agreeing with a server: a new link finds out which revision of MCP the server speaks.
 *
 * A server of the modern era answers server/discover, or refuses it with an error code
 * of that era. A server that answers otherwise must be initialized first.
 */
#include "runner/mcp/link.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "runner/mcp/message.h"

#include <errno.h>

#define NOT_FOUND          (-32601)
#define HEADER_MISMATCH    (-32020)
#define CAPABILITY_MISSING (-32021)
#define VERSION_UNKNOWN    (-32022)

#define INITIALIZE                                                                                 \
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" MCP_CLIENT_INFO

static const char *const legacy_versions[] = {
	"2025-11-25",
	"2025-06-18",
	"2025-03-26",
	"2024-11-05",
};

enum verdict {
	VERDICT_MODERN,
	VERDICT_LEGACY,
	VERDICT_SILENT, /* legacy, or slow to start */
};

/* Whether a JSON list of strings has a text. */
static bool has_text(struct span list, const char *text)
{
	struct json_scan s = json_scan_of(list, JSON_DEPTH_MAX, NULL);
	CLEANUP(buf_release) struct buf item = { 0 };
	bool first = true;

	if (json_open(&s, '[') < 0)
		return false;
	while (json_item(&s, &first) == 1) {
		buf_clear(&item);
		if (json_peek(&s) != '"' || json_take_string(&s, &item) < 0)
			return false;
		if (span_is(buf_span(&item), text))
			return true;
	}
	return false;
}

static const char *find_legacy(struct span list)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(legacy_versions); i++) {
		if (has_text(list, legacy_versions[i]))
			return legacy_versions[i];
	}
	return NULL;
}

/* Choose from the versions that a server names. */
static int choose_version(const struct mcp_link *link, struct span versions, enum verdict *verdict,
			  struct err *err)
{
	if (has_text(versions, MCP_MODERN_VERSION))
		*verdict = VERDICT_MODERN;
	else if (find_legacy(versions))
		*verdict = VERDICT_LEGACY;
	else
		return mcp_fail(link->params, err, -EPROTONOSUPPORT,
				"speaks only unknown versions of MCP: %.*s",
				(int)MIN(versions.len, 120), versions.data);
	return 0;
}

static int judge_refusal(const struct mcp_link *link, const struct mcp_request *rq,
			 enum verdict *verdict, struct err *err)
{
	struct span versions;

	switch (rq->refusal.code) {
	case VERSION_UNKNOWN:
		if (json_member(buf_span(&rq->refusal.data), "supported", &versions) == 0)
			return choose_version(link, versions, verdict, err);
		return mcp_refused(link, rq, err);
	case HEADER_MISMATCH:
	case CAPABILITY_MISSING:
		if (!rq->status)
			break; /* these codes are for HTTP alone */
		return mcp_refused(link, rq, err);
	case NOT_FOUND:
		if (rq->status != 404)
			break;
		*verdict = VERDICT_MODERN; /* a modern server without this method */
		return 0;
	default:
		break;
	}
	*verdict = VERDICT_LEGACY;
	return 0;
}

/* Whether a server says that it reports changes of the list of tools. */
static bool tells_changes(struct span result)
{
	struct span value;

	return json_member(result, "capabilities", &value) == 0 &&
	       json_member(value, "tools", &value) == 0 &&
	       json_member(value, "listChanged", &value) == 0 && span_is(value, "true");
}

/* Ask for reports of changes of the list, if the link can push them. */
static int subscribe_changes(struct mcp_link *link, struct cancel *cancel, struct err *err)
{
	static const struct mcp_request rq = MCP_LISTEN_REQUEST;
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!link->transport->has_pushes || !link->tells_changes)
		return 0;
	mcp_write_request(&text, link, &rq, atomic_fetch_add(&link->ids, 1) + 1);
	if (buf_check(&text, err) < 0)
		return -ENOMEM;
	return link->transport->send(link, buf_span(&text), cancel, err);
}

static int judge_discovery(struct mcp_link *link, struct span result, struct cancel *cancel,
			   enum verdict *verdict, struct err *err)
{
	struct span versions;
	int r;

	*verdict = VERDICT_LEGACY;
	if (json_member(result, "supportedVersions", &versions) < 0)
		return 0;
	r = choose_version(link, versions, verdict, err);
	if (r < 0 || *verdict != VERDICT_MODERN)
		return r;
	link->tells_changes = tells_changes(result);
	return subscribe_changes(link, cancel, err);
}

/* The deadline of the probe. If silence means the legacy era, half of the time is kept. */
static uint64_t end_of_probe(const struct mcp_link *link)
{
	unsigned ms = MIN(mcp_time_left(link) / 2, MCP_PROBE_MS);

	if (!link->transport->silence_is_legacy)
		return link->agree_by;
	return clock_monotonic() + ms * (uint64_t)NSEC_PER_MSEC;
}

static int probe_server(struct mcp_link *link, struct cancel *cancel, enum verdict *verdict,
			struct err *err)
{
	CLEANUP(mcp_request_release) struct mcp_request rq = { .method = "server/discover" };
	int r;

	atomic_store(&link->era, MCP_MODERN);
	(void)strcpy(link->version, MCP_MODERN_VERSION);
	rq.timeout_ms = mcp_patience(link->params);
	rq.deadline = end_of_probe(link);
	rq.must_end = true; /* a cancellation may confuse a server that knows only initialize */
	r = link->transport->ask(link, &rq, cancel, err);
	if (r == 0)
		return judge_discovery(link, buf_span(&rq.result), cancel, verdict, err);
	if (r == -EREMOTEIO)
		return judge_refusal(link, &rq, verdict, err);
	if (r == -EPROTO || rq.status >= 500)
		*verdict = VERDICT_LEGACY; /* the server may not have understood */
	else if (r == -ETIMEDOUT && link->transport->silence_is_legacy)
		*verdict = VERDICT_SILENT;
	else
		return r;
	return 0;
}

/* Read the version that the server agrees to: ours, or its own if it does not know ours. */
static int read_version(struct mcp_link *link, struct span result, struct err *err)
{
	CLEANUP(buf_release) struct buf version = { 0 };
	struct span token;
	size_t i;

	if (json_member(result, "protocolVersion", &token) < 0 ||
	    json_unquote(token, &version) < 0 || !buf_cstr(&version))
		return mcp_fail(link->params, err, -EPROTO,
				"answered initialize without protocolVersion");
	for (i = 0; i < ARRAY_SIZE(legacy_versions); i++) {
		if (!strcmp(legacy_versions[i], version.data)) {
			(void)strcpy(link->version, version.data);
			return 0;
		}
	}
	return mcp_fail(link->params, err, -EPROTONOSUPPORT,
			"speaks version %.40s of MCP, which is not supported", version.data);
}

int mcp_agree_legacy(struct mcp_link *link, struct cancel *cancel, struct err *err)
{
	CLEANUP(mcp_request_release) struct mcp_request rq = { .method = "initialize" };
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	atomic_store(&link->era, MCP_LEGACY);
	link->version[0] = 0;
	rq.members = SPAN(INITIALIZE);
	rq.timeout_ms = mcp_patience(link->params);
	rq.deadline = link->agree_by;
	rq.must_end = true;
	r = link->transport->ask(link, &rq, cancel, err);
	if (r == -EREMOTEIO)
		(void)mcp_refused(link, &rq, err);
	if (r == -EPROTO && (rq.status == 400 || rq.status == 404 || rq.status == 405))
		return mcp_fail(
			link->params, err, r,
			"answered initialize with %d; the HTTP+SSE transport of 2024 is not "
			"supported",
			rq.status);
	if (r == 0)
		r = read_version(link, buf_span(&rq.result), err);
	if (r < 0)
		return r;
	link->tells_changes = tells_changes(buf_span(&rq.result));
	mcp_write_initialized(&text);
	if (buf_check(&text, err) < 0)
		return -ENOMEM;
	return link->transport->send(link, buf_span(&text), cancel, err);
}

int mcp_agree(struct mcp_link *link, struct cancel *cancel, struct err *err)
{
	enum verdict verdict = VERDICT_LEGACY;
	enum verdict again = VERDICT_LEGACY;
	int r = probe_server(link, cancel, &verdict, err);

	if (r == 0 && verdict != VERDICT_MODERN)
		r = mcp_agree_legacy(link, cancel, err);
	/* A modern server may have been slow to start. */
	if (r == -EREMOTEIO && verdict == VERDICT_SILENT &&
	    probe_server(link, cancel, &again, NULL) == 0 && again == VERDICT_MODERN)
		return 0;
	return r;
}
