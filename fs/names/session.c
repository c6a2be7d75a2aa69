/*
 * sessions/<id>: a conversation.
 *
 * Writing input starts a turn; output and events follow the turn; status says
 * whether a turn is running. The table is at the end.
 */
#include "base/json_text.h"
#include "fs/draft/text.h"
#include "fs/names/artifacts.h"
#include "fs/names/attachments.h"
#include "fs/names/ctl.h"
#include "fs/names/events.h"
#include "fs/names/input.h"
#include "fs/names/scopes.h"
#include "fs/names/state.h"
#include "fs/names/stream.h"
#include "fs/names/turns.h"
#include "fs/tree/handle.h"
#include "fs/view/view.h"
#include "store/json/time.h"
#include "store/session/log.h"
#include "store/session/state.h"
#include "store/turn/turn.h"

#include <errno.h>
#include <stdlib.h>

/* A file that follows the turns is as new as the latest change of a turn. */
static int turn_stamp(const struct place *at, struct scope_info *info, struct node_stat *st,
		      struct err *err)
{
	int r = scope_stat(at->fs->store, at->ref, info, err);

	if (r == 0)
		st->mtime = MAX(info->turn_stamp, at->fs->mounted);
	return r;
}

static int status_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;

	return turn_stamp(at, &info, st, err);
}

static int session_output_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	struct turn_info turn;
	int r = turn_stamp(at, &info, st, err);

	if (r < 0)
		return r;
	st->size = 0;
	if (!info.turns)
		return 0;
	r = turn_stat(at->fs->store, at->ref, info.turns, &turn, err);
	if (r == 0)
		st->size = stream_output_size(at, &turn);
	return r;
}

static int input_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	(void)at;
	(void)err;
	st->size = 0;
	return 0;
}

/* The text of session.json before and after its list of events, which is the log with commas. */
struct frame {
	struct scope_info session;
	struct buf head;
	struct buf tail;
	uint64_t events_size;
};

static void frame_release(struct frame *f)
{
	buf_release(&f->head);
	buf_release(&f->tail);
}

static int make_frame(const struct place *at, struct frame *f, struct err *err)
{
	struct store *st = at->fs->store;
	struct scopes scopes;
	int r = scope_stat_all(st, at->ref, &scopes, err);

	if (r < 0)
		return r;
	f->session = scopes.session;
	buf_text(&f->head, "{\"id\":");
	json_quote(&f->head, span_of(f->session.id));
	buf_text(&f->head, ",\"appName\":");
	json_quote(&f->head, span_of(scopes.app.id));
	buf_text(&f->head, ",\"userId\":");
	json_quote(&f->head, span_of(scopes.user.id));
	buf_text(&f->head, ",\"state\":");
	r = state_map(st, at->ref, &f->head, err);
	buf_text(&f->head, ",\"events\":[");
	buf_text(&f->tail, "],\"lastUpdateTime\":");
	time_print(&f->tail, f->session.updated);
	buf_text(&f->tail, "}\n");
	f->events_size = f->session.log_size ? f->session.log_size - 1 : 0;
	if (r == 0)
		r = buf_check(&f->head, err);
	return r < 0 ? r : buf_check(&f->tail, err);
}

static int session_json_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	CLEANUP(frame_release) struct frame f = { 0 };
	int r = make_frame(at, &f, err);

	if (r == 0)
		r = state_map_stat(at, st, err);
	if (r < 0)
		return r;
	st->mtime = MAX(st->mtime, f.session.log_stamp);
	st->size = f.head.len + f.events_size + f.tail.len;
	return 0;
}

static void add_range(struct buf *out, const struct buf *text, uint64_t offset, size_t size)
{
	if (offset < text->len)
		buf_add(out, text->data + offset, MIN(size, text->len - offset));
}

/* An open of session.json: it shows the session as of its latest read at offset 0. */
struct reading {
	struct frame frame;
	bool is_made;
};

static int session_json_open(struct handle *h, struct err *err)
{
	h->state = calloc(1, sizeof(struct reading));
	return h->state ? 0 : err_nomem(err);
}

static void session_json_release(struct handle *h, struct err *err)
{
	struct reading *rd = h->state;

	(void)err;
	if (rd)
		frame_release(&rd->frame);
	free(rd);
}

static const struct file_ops session_json_ops = { .open = session_json_open,
						  .release = session_json_release };

static int read_framed(const struct place *at, const struct frame *f, uint64_t offset, size_t size,
		       struct buf *out, struct err *err)
{
	uint64_t end = offset + size;
	uint64_t before = f->head.len + f->events_size;
	int r = 0;

	add_range(out, &f->head, offset, size);
	if (end > f->head.len && offset < before) {
		uint64_t from = offset > f->head.len ? offset - f->head.len : 0;
		uint64_t to = MIN(end - f->head.len, f->events_size);
		size_t i = out->len;

		r = session_read(at->fs->store, at->ref, from, to - from, out, err);
		for (; i < out->len; i++) {
			if (out->data[i] == '\n')
				out->data[i] = ',';
		}
	}
	if (r == 0 && out->len < size)
		add_range(out, &f->tail, offset > before ? offset - before : 0, size - out->len);
	return r < 0 ? r : buf_check(out, err);
}

static int session_json_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
			     struct err *err)
{
	struct reading *rd;
	int r = 0;

	mutex_lock(&h->lock);
	rd = h->state;
	if (!rd->is_made || !offset) {
		frame_release(&rd->frame);
		rd->frame = (struct frame){ 0 };
		r = make_frame(&h->at, &rd->frame, err);
		rd->is_made = r == 0;
	}
	if (r == 0)
		r = read_framed(&h->at, &rd->frame, offset, size, out, err);
	mutex_unlock(&h->lock);
	return r;
}

/* Keep in the order of the manual page. */
static const struct node_type session_entries[] = {
	{ .name = "input",
	  .id = ID_INPUT,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_STREAM,
	  .help = "write a message: a turn starts",
	  .stat = input_stat,
	  .file = &input_ops },
	{ .name = "input.json",
	  .id = ID_INPUT_JSON,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_STREAM,
	  .help = "write a message as an ADK Content or run request",
	  .stat = input_stat,
	  .file = &input_json_ops },
	{ .name = "attachments",
	  .id = ID_ATTACHMENTS,
	  .mode = S_IFDIR | 0700,
	  .news = NEWS_ATTACHMENTS,
	  .help = "files put here are sent with the next message",
	  .members = attachments_members,
	  .stat = attachments_dir_stat,
	  .dir = &attachments_ops },
	{ .name = "output",
	  .id = ID_OUTPUT,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_STREAM,
	  .news = NEWS_TURN | NEWS_PROGRESS,
	  .help = "the answer of the latest turn, as it comes; the read ends with the turn",
	  .stat = session_output_stat,
	  .file = &session_output_ops },
	{ .name = "status",
	  .id = ID_STATUS,
	  .mode = S_IFREG | 0400,
	  .news = NEWS_TURN,
	  .help = "idle, queued N, running N or failed N",
	  .stat = status_stat,
	  .show = stream_status },
	{ .name = "wait",
	  .id = ID_WAIT,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_STREAM,
	  .news = NEWS_TURN,
	  .help = "a read waits until no turn is running or queued, then returns the status",
	  .stat = status_stat,
	  .show = stream_status,
	  .file = &session_wait_ops },
	{ .name = "events.jsonl",
	  .id = ID_EVENTS,
	  .mode = S_IFREG | 0600,
	  .news = NEWS_LOG,
	  .help = "the log, one ADK event on each line; append with >>",
	  .stat = events_stat,
	  .read = events_read,
	  .grows = events_grow,
	  .file = &events_ops },
	{ .name = "session.json",
	  .id = ID_SESSION_JSON,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_SHOWS_ABOVE | NODE_DIRECT,
	  .news = NEWS_LOG | NEWS_STATE,
	  .help = "the ADK session object",
	  .stat = session_json_stat,
	  .read = session_json_read,
	  .file = &session_json_ops },
	{ .name = "state",
	  .id = ID_STATE_DIR,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_SHOWS_ABOVE,
	  .news = NEWS_STATE_NAMES,
	  .help = "the session's state, a JSON value in each file; links to the app's and user's",
	  .members = state_members,
	  .stat = state_dir_stat,
	  .dir = &state_dir_ops },
	{ .name = "state.json",
	  .id = ID_STATE_JSON,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_SHOWS_ABOVE,
	  .news = NEWS_STATE,
	  .help = "all state values in one JSON object",
	  .stat = state_map_stat,
	  .show = state_map_show,
	  .file = &text_ops,
	  .text = &state_map_rules },
	{ .name = "artifacts",
	  .id = ID_ARTIFACTS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_SHOWS_ABOVE,
	  .news = NEWS_ARTIFACTS,
	  .help = "the session's files, with all their versions",
	  .entries = artifacts_entries,
	  .members = artifacts_members,
	  .stat = artifacts_top_stat,
	  .dir = &artifacts_ops },
	{ .name = "turns",
	  .id = ID_TURNS,
	  .mode = S_IFDIR | 0700,
	  .news = NEWS_TURN_NAMES,
	  .help = "one directory for each turn; turns/latest is the newest",
	  .entries = turns_entries,
	  .members = &turn_dir,
	  .stat = turns_dir_stat,
	  .dir = &turns_dir_ops },
	{ .name = "transcript.md",
	  .id = ID_TRANSCRIPT_MD,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_LAZY,
	  .news = NEWS_LOG | NEWS_TURN,
	  .help = "the conversation as Markdown",
	  .stat = view_stat,
	  .show = transcript_md_show,
	  .read = view_read },
	{ .name = "transcript.html",
	  .id = ID_TRANSCRIPT_HTML,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_LAZY,
	  .news = NEWS_LOG | NEWS_TURN,
	  .help = "the conversation for a browser",
	  .stat = view_stat,
	  .show = transcript_html_show,
	  .read = view_read },
	{ .name = "trace.json",
	  .id = ID_TRACE,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_LAZY,
	  .news = NEWS_LOG | NEWS_TURN,
	  .help = "when turns, models and tools ran, for chrome://tracing and Perfetto",
	  .stat = view_stat,
	  .show = trace_show,
	  .read = view_read },
	{ .name = "usage.json",
	  .id = ID_USAGE,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_LAZY,
	  .news = NEWS_LOG | NEWS_TURN,
	  .help = "tokens, by model and by turn",
	  .stat = view_stat,
	  .show = usage_show,
	  .read = view_read },
	{ .name = "ctl",
	  .id = ID_CTL,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_STREAM,
	  .help = "write a verb: cancel, rewind, fork, compact",
	  .stat = input_stat,
	  .file = &ctl_ops,
	  .verbs = ctl_session_verbs },
	{ .name = ".errors",
	  .id = ID_ERRORS,
	  .mode = S_IFREG | 0400,
	  .help = "why recent operations here were refused",
	  .stat = scope_errors_stat,
	  .show = scope_errors_show },
	{ 0 },
};

const struct node_type session_dir = {
	.name = "<session>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.entries = session_entries,
	.stat = scope_dir_stat,
};
