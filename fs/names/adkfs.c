/*
 * .adkfs: the daemon: its options, its counters, and the turns of all sessions.
 * A file that could show one user to another is for the daemon's user only.
 */
#include "fs/names/adkfs.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "fs/names/turns.h"
#include "fs/tree/closing.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"
#include "runner/model/ask.h"
#include "runner/model/record.h"
#include "runner/process/sandbox.h"
#include "runner/runner.h"
#include "runner/syntax/json_value.h"
#include "store/json/message.h"
#include "store/json/time.h"
#include "store/session/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int version_show(const struct place *at, struct buf *out, struct err *err)
{
	(void)at;
	buf_text(out, ADKFS_VERSION "\n");
	return buf_check(out, err);
}

static uint64_t count_requests(const struct fs *fs, enum request_kind kind)
{
	return atomic_load(&fs->requests[kind]);
}

static uint64_t uptime_seconds(const struct fs *fs)
{
	return (uint64_t)((clock_now() - fs->started) / USEC_PER_SEC);
}

static int stats_show(const struct place *at, struct buf *out, struct err *err)
{
	struct fs *fs = at->fs;
	struct runner_stats turns;

	runner_stats(fs->runner, &turns);
	buf_printf(out,
		   "{\"version\":\"%s\",\"pid\":%ld,\"engine\":\"%s\",\"uptimeSeconds\":%" PRIu64
		   ",\"inodes\":%zu,\"parked\":%u,",
		   ADKFS_VERSION, (long)getpid(), store_engine(fs->store), uptime_seconds(fs),
		   inodes_count(&fs->inodes), park_count(&fs->park));
	buf_printf(out,
		   "\"requests\":{\"lookup\":%" PRIu64 ",\"read\":%" PRIu64 ",\"write\":%" PRIu64
		   ",\"other\":%" PRIu64 "},",
		   count_requests(fs, REQUEST_LOOKUP), count_requests(fs, REQUEST_READ),
		   count_requests(fs, REQUEST_WRITE), count_requests(fs, REQUEST_OTHER));
	buf_printf(out,
		   "\"turns\":{\"running\":%u,\"waiting\":%u,\"ended\":%" PRIu64
		   ",\"failed\":%" PRIu64 "},\"modelCalls\":%" PRIu64 ",\"toolCalls\":%" PRIu64
		   "}\n",
		   turns.running, turns.waiting, turns.turns, turns.failed, turns.model_calls,
		   turns.tool_calls);
	return buf_check(out, err);
}

struct member {
	const char *name;
	json_t *value; /* taken by show_members(); NULL: out of memory */
};

static json_t *show_members(const struct member *members, size_t n)
{
	json_t *all = json_object();
	int r = 0;
	size_t i;

	for (i = 0; i < n; i++)
		r |= json_object_set_new(all, members[i].name, members[i].value);
	if (r == 0)
		return all;
	json_decref(all);
	return NULL;
}

static json_t *show_limits(const struct fs *fs)
{
	const struct member members[] = {
		{ "turnsRunning", json_integer(fs->turns_max) },
		{ "turnsOfSession", json_integer(RUNNER_QUEUE_MAX) },
		{ "modelCallsOfTurn", json_integer(RUNNER_CALLS_MAX) },
		{ "messageBytes", json_integer(MESSAGE_MAX) },
		{ "stateValueBytes", json_integer(STATE_VALUE_MAX) },
		{ "eventBytes", json_integer(EVENT_LINE_MAX) },
		{ "parkedRequests", json_integer(PARK_MAX) },
		{ "inputWaitMs", json_integer(CLOSING_WAIT_MS) },
	};

	return show_members(members, ARRAY_SIZE(members));
}

/* The sandbox of programs; if it is off, the reason why. */
static json_t *show_sandbox(const struct fs *fs)
{
	const char *reason = sandbox_is_on(fs->sandbox) ? NULL : sandbox_reason(fs->sandbox);
	const struct member members[] = {
		{ "kind", json_string(sandbox_name(fs->sandbox)) },
		{ "reason", json_value_text(reason) },
	};

	return show_members(members, ARRAY_SIZE(members));
}

static json_t *show_users(const struct fs *fs)
{
	const struct member members[] = {
		{ "others", json_boolean(owners_shared(fs->owners)) },
		{ "logins", json_boolean(owners_system(fs->owners)) },
		{ "mapped", json_integer((json_int_t)owners_count(fs->owners)) },
	};

	return show_members(members, ARRAY_SIZE(members));
}

static json_t *show_config(const struct fs *fs)
{
	const struct member members[] = {
		{ "mountpoint", json_value_text(fs->mountpoint) },
		{ "store", json_value_text(store_folder(fs->store)) },
		{ "engine", json_string(store_engine(fs->store)) },
		{ "durability", json_string(durability_name(store_durability(fs->store))) },
		{ "agents", json_value_text(fs->agents) },
		{ "mountOptions", json_value_text(fs->fuse_options) },
		{ "threads", json_integer(fs->threads) },
		{ "sandbox", show_sandbox(fs) },
		{ "record", json_value_text(record_where()) },
		{ "users", show_users(fs) },
		{ "limits", show_limits(fs) },
		{ "settings", model_show_settings() },
	};

	return show_members(members, ARRAY_SIZE(members));
}

int adkfs_show_json(json_t *value, struct buf *out, struct err *err)
{
	char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;

	json_decref(value);
	if (!text)
		return err_nomem(err);
	buf_printf(out, "%s\n", text);
	free(text);
	return buf_check(out, err);
}

/* The daemon's options and settings. Secrets are shown only as present. */
static int config_show(const struct place *at, struct buf *out, struct err *err)
{
	return adkfs_show_json(show_config(at->fs), out, err);
}

/* A value of a metric. Values with the same name must follow each other. */
struct metric {
	const char *name;
	const char *type;
	const char *help;
	const char *labels; /* may be NULL */
	uint64_t value;
};

static void show_metric(struct buf *out, const struct metric *m, bool is_first)
{
	if (is_first)
		buf_printf(out, "# HELP %s %s.\n# TYPE %s %s\n", m->name, m->help, m->name,
			   m->type);
	buf_text(out, m->name);
	if (m->labels)
		buf_printf(out, "{%s}", m->labels);
	buf_printf(out, " %" PRIu64 "\n", m->value);
}

static uint64_t free_bytes(const struct fs *fs)
{
	struct statvfs st;

	return statvfs(store_folder(fs->store), &st) < 0 ? 0 : (uint64_t)st.f_bavail * st.f_frsize;
}

#define REQUESTS "adkfs_requests_total", "counter", "Requests of the kernel by kind"
#define TURNS    "adkfs_turns", "gauge", "Turns that have not ended"
#define ENDED    "adkfs_turns_ended_total", "counter", "Turns that ended since the start"

/* The counters in the text format of Prometheus. */
static int metrics_show(const struct place *at, struct buf *out, struct err *err)
{
	struct fs *fs = at->fs;
	struct runner_stats t;
	size_t i;

	runner_stats(fs->runner, &t);
	const struct metric metrics[] = {
		{ "adkfs_build_info", "gauge", "The daemon's version",
		  "version=\"" ADKFS_VERSION "\"", 1 },
		{ "adkfs_uptime_seconds", "gauge", "Since the start", NULL, uptime_seconds(fs) },
		{ REQUESTS, "kind=\"lookup\"", count_requests(fs, REQUEST_LOOKUP) },
		{ REQUESTS, "kind=\"read\"", count_requests(fs, REQUEST_READ) },
		{ REQUESTS, "kind=\"write\"", count_requests(fs, REQUEST_WRITE) },
		{ REQUESTS, "kind=\"other\"", count_requests(fs, REQUEST_OTHER) },
		{ TURNS, "status=\"running\"", t.running },
		{ TURNS, "status=\"queued\"", t.waiting },
		{ ENDED, "status=\"done\"", t.turns - MIN(t.failed, t.turns) },
		{ ENDED, "status=\"failed\"", t.failed },
		{ "adkfs_model_calls_total", "counter", "Calls of models", NULL, t.model_calls },
		{ "adkfs_tool_calls_total", "counter", "Calls of tools", NULL, t.tool_calls },
		{ "adkfs_inodes", "gauge", "Inodes that the kernel holds", NULL,
		  inodes_count(&fs->inodes) },
		{ "adkfs_parked_requests", "gauge", "Requests that wait", NULL,
		  park_count(&fs->park) },
		{ "adkfs_store_free_bytes", "gauge", "Free where the store lies", NULL,
		  free_bytes(fs) },
	};

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		show_metric(out, &metrics[i],
			    i == 0 || strcmp(metrics[i].name, metrics[i - 1].name) != 0);
	return buf_check(out, err);
}

/* The lines of turns.jsonl. Turns of one session often follow each other, so names are cached. */
struct turn_lines {
	struct fs *fs;
	struct buf *out;
	struct ref session; /* the session that `names` describes */
	struct buf names;
};

static void add_name(struct buf *names, const char *what, const char *id)
{
	buf_printf(names, "\"%s\":", what);
	json_quote(names, span_of(id));
	buf_char(names, ',');
}

static int need_names(struct turn_lines *lines, struct ref ref)
{
	struct scopes scopes;
	int r;

	if (lines->names.len && lines->session.session == ref.session)
		return 0;
	buf_clear(&lines->names);
	r = scope_stat_all(lines->fs->store, ref, &scopes, NULL);
	if (r == 0) {
		add_name(&lines->names, "app", scopes.app.id);
		add_name(&lines->names, "user", scopes.user.id);
		add_name(&lines->names, "session", scopes.session.id);
	}
	lines->session = r == 0 ? ref : (struct ref){ 0 };
	return r;
}

/* Append a line; a turn whose session was removed has no line. */
static int add_turn(void *arg, struct ref session, uint64_t n)
{
	struct turn_lines *lines = arg;
	struct buf *out = lines->out;
	struct turn_info info;
	int64_t until;

	if (turn_stat(lines->fs->store, session, n, &info, NULL) < 0 ||
	    need_names(lines, session) < 0)
		return 0;
	until = info.state == TURN_RUNNING ? clock_now() : info.ended;
	buf_char(out, '{');
	buf_span_add(out, buf_span(&lines->names));
	buf_printf(out, "\"turn\":%" PRIu64 ",\"status\":\"%s\"", n, turns_word(info.state));
	if (info.agent[0]) {
		buf_text(out, ",\"agent\":");
		json_quote(out, span_of(info.agent));
	}
	if (info.started) {
		buf_text(out, ",\"started\":");
		time_print(out, info.started);
		buf_printf(out, ",\"durationMs\":%" PRId64,
			   until > info.started ? (until - info.started) / 1000 : 0);
	}
	if (info.error[0]) {
		buf_text(out, ",\"error\":");
		json_quote_lossy(out, span_of(info.error));
	}
	buf_text(out, "}\n");
	return buf_check(out, NULL);
}

static int turns_show(const struct place *at, struct buf *out, struct err *err)
{
	struct turn_lines lines = { .fs = at->fs, .out = out };
	int r = runner_turns(at->fs->runner, add_turn, &lines, err);

	buf_release(&lines.names);
	return r < 0 ? r : buf_check(out, err);
}

const struct node_type adkfs_entries[] = {
	{ .name = "version",
	  .id = ID_VERSION,
	  .mode = S_IFREG | 0444,
	  .help = "the version of the daemon",
	  .show = version_show },
	{ .name = "config.json",
	  .id = ID_CONFIG,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_FRESH,
	  .help = "the options and settings of the daemon",
	  .show = config_show },
	{ .name = "stats.json",
	  .id = ID_STATS,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_VOLATILE,
	  .help = "the present counts",
	  .show = stats_show },
	{ .name = "metrics",
	  .id = ID_METRICS,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_VOLATILE,
	  .help = "the present counts, for Prometheus",
	  .show = metrics_show },
	{ .name = "turns.jsonl",
	  .id = ID_TURNS_JSONL,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_VOLATILE,
	  .help = "turns of all sessions: running, queued, or ended recently",
	  .show = turns_show },
	{ 0 },
};
