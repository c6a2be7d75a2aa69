/*
 * Calls: see call.h.
 *
 * Rows: KEY_CALL session n sequence -> call_fields, token counts, call_texts;
 * KEY_CALL_STDERR session n sequence -> bytes.
 */
#include "store/turn/call.h"

#include "base/clock.h"
#include "base/name.h"
#include "base/utf8.h"
#include "store/session/log.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

#define NUMBER(member) RECORD_NUMBER(struct call_info, member)
#define TEXT(member)   RECORD_TEXT(struct call_info, member)

/* The record of a call: these members, */
static const struct record_field call_fields[] = {
	NUMBER(kind),        NUMBER(number),
	NUMBER(stamp),       NUMBER(started),
	NUMBER(ended),       NUMBER(first),
	NUMBER(said.at),     NUMBER(said.len),
	NUMBER(said.part),   NUMBER(answer.at),
	NUMBER(answer.len),  NUMBER(answer.part),
	NUMBER(stderr_size), { 0 },
};

/* then the number of token counts, the counts, and these members. */
static const struct record_field call_texts[] = {
	TEXT(id), TEXT(name), TEXT(file_name), TEXT(agent), { 0 },
};

static void encode(const struct call_info *c, struct buf *out)
{
	size_t i;

	record_put(call_fields, c, out);
	record_number(out, TOKENS_COUNTS);
	for (i = 0; i < TOKENS_COUNTS; i++)
		record_number(out, c->tokens.count[i]);
	record_put(call_texts, c, out);
}

static int decode(struct span record, uint64_t n, uint64_t seq, struct call_info *c)
{
	struct record_reader r = { .left = record };
	uint64_t counts;
	uint64_t i;

	*c = (struct call_info){ .n = n, .seq = seq };
	record_take(call_fields, &r, c);
	counts = record_take_number(&r);
	for (i = 0; i < counts && !r.bad && r.left.len; i++) {
		uint64_t count = record_take_number(&r);

		if (i < TOKENS_COUNTS)
			c->tokens.count[i] = count;
	}
	record_take(call_texts, &r, c);
	return r.bad ? -EIO : 0;
}

/* A text into a field, cut at a whole character. */
static void copy_text(char *field, size_t size, const char *text)
{
	(void)snprintf(field, size, "%s", text ? text : "");
	field[utf8_prefix(span_of(field), NULL)] = 0;
}

static void save(struct session_tx *s, struct call_info *c)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_3(KEY_CALL, s->ref.session, c->n, c->seq);

	c->stamp = s->stamp;
	encode(c, &record);
	store_put(s->tx, &key, buf_span(&record));
}

static int tell(struct session_tx *s, uint64_t turn, const struct call_info *c,
		enum change_kind kind)
{
	struct change *change = store_add_change(s->tx, kind, s->ref);

	if (!change)
		return err_nomem(s->tx->err);
	change->parent = turn;
	change->item = c->number;
	change->turn = c->n;
	copy_text(change->name, sizeof change->name, c->file_name);
	return 0;
}

/* A pass over the calls of one turn. */
struct pass {
	struct ref ref;
	struct call_place after;
	call_fn *fn;
	void *arg;
};

static int pass_row(void *arg, struct span key, struct span value)
{
	struct pass *p = arg;
	struct call_info info;
	int r = decode(value, p->after.n, key_last_number(key), &info);

	return r < 0 ? r : p->fn(p->arg, &info);
}

static int scan(struct store_tx *tx, void *arg)
{
	struct pass *p = arg;
	struct key prefix = key_2(KEY_CALL, p->ref.session, p->after.n);
	struct key from = key_3(KEY_CALL, p->ref.session, p->after.n, p->after.seq + 1);

	return store_scan(tx, &from, &prefix, pass_row, p);
}

int call_list(struct store *st, struct ref session, struct call_place after, call_fn *fn, void *arg,
	      struct err *err)
{
	struct pass p = { session, after, fn, arg };

	return store_view(st, scan, &p, err);
}

struct forking {
	struct store_tx *tx;
	struct ref from;
	struct ref to;
	uint64_t cut;
};

static int copy_stderr(const struct forking *f, const struct call_info *c)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct key key = key_3(KEY_CALL_STDERR, f->from.session, c->n, c->seq);
	int r = store_get(f->tx, &key, &text);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	key = key_3(KEY_CALL_STDERR, f->to.session, c->n, c->seq);
	store_put(f->tx, &key, buf_span(&text));
	return 0;
}

/* In the copy, a call whose answer comes after the cut never ends. */
static int copy_call(void *arg, const struct call_info *info)
{
	struct forking *f = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct call_info c = *info;
	struct key key = key_3(KEY_CALL, f->to.session, c.n, c.seq);
	int r = 0;

	if (c.said.at + c.said.len > f->cut)
		return 0;
	if (c.number)
		c.number = store_tx_number(f->tx);
	if (info->number && !c.number)
		return -EIO;
	if (c.answer.at + c.answer.len > f->cut) {
		c.answer = (struct call_line){ 0 };
		c.ended = 0;
		c.stderr_size = 0;
	} else {
		r = copy_stderr(f, &c);
	}
	c.stamp = clock_stamp();
	encode(&c, &record);
	store_put(f->tx, &key, buf_span(&record));
	return r;
}

int call_fork(struct store_tx *tx, struct ref from, struct ref to, uint64_t n, uint64_t cut)
{
	struct forking f = { tx, from, to, cut };
	struct pass p = { from, { .n = n }, copy_call, &f };

	return scan(tx, &p);
}

typedef bool call_is_fn(const struct call_info *info, const char *text);

/* A call of a tool that is looked for, by one of its texts. */
struct search {
	call_is_fn *is_it;
	const char *text;
	struct call_info *out;
};

static bool has_file_name(const struct call_info *info, const char *text)
{
	return !strcmp(info->file_name, text);
}

static bool is_running(const struct call_info *info, const char *text)
{
	return !info->ended && !strcmp(info->id, text);
}

static bool is_unanswered(const struct call_info *info, const char *text)
{
	return !info->answer.len && !strcmp(info->id, text);
}

static int check_call(void *arg, const struct call_info *info)
{
	struct search *search = arg;

	if (info->kind != CALL_TOOL || !search->is_it(info, search->text))
		return 0;
	*search->out = *info;
	return 1;
}

int call_find(struct store *st, struct ref session, uint64_t n, const char *file_name,
	      struct call_info *out, struct err *err)
{
	struct search search = { has_file_name, file_name, out };
	int r = call_list(st, session, (struct call_place){ .n = n }, check_call, &search, err);

	return r < 0 ? r : r ? 0 : err_set(err, -ENOENT, "the turn has no call %s", file_name);
}

struct request {
	struct ref ref;
	struct call_info info;
};

static int load(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_3(KEY_CALL, rq->ref.session, rq->info.n, rq->info.seq);
	int r = store_get(tx, &key, &record);

	return r < 0 ? r : decode(buf_span(&record), rq->info.n, rq->info.seq, &rq->info);
}

int call_stat(struct store *st, struct ref session, uint64_t n, uint64_t seq, struct call_info *out,
	      struct err *err)
{
	struct request rq = { session, { .n = n, .seq = seq } };
	int r = store_view(st, load, &rq, err);

	if (r == -ENOENT)
		return err_set(err, r, "the call was removed");
	if (r == 0)
		*out = rq.info;
	return r;
}

/* Take a part out of a stored line. */
static int take_part(struct span line, uint64_t index, struct part *part)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	struct span json;
	int r = json_member(line, "content", &json);

	if (r == 0)
		r = content_from_stored(json, &content);
	if (r < 0)
		return r;
	if (index >= content->count)
		return -EIO;
	*part = content->parts[index];
	content->parts[index] = (struct part){ .kind = PART_TEXT };
	return 0;
}

int call_part(struct store *st, struct ref session, const struct call_line *where,
	      struct part *part, struct err *err)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	int r;

	if (!where->len)
		return -ENOENT;
	r = session_read(st, session, where->at, where->len, &line, err);
	if (r == 0 && take_part(buf_span(&line), where->part, part) < 0)
		r = err_set(err, -EIO, "the log has no such call at its place");
	return r;
}

struct text_request {
	struct key key;
	struct buf *out;
};

static int load_text(struct store_tx *tx, void *arg)
{
	struct text_request *rq = arg;

	return store_get(tx, &rq->key, rq->out);
}

int call_stderr(struct store *st, struct ref session, const struct call_info *info, struct buf *out,
		struct err *err)
{
	struct text_request rq = { key_3(KEY_CALL_STDERR, session.session, info->n, info->seq),
				   out };
	int r = info->stderr_size ? store_view(st, load_text, &rq, err) : 0;

	return r < 0 ? r : buf_check(out, err);
}

/* In the transaction of a turn. */

void calls_release(struct calls_tx *c)
{
	buf_release(&c->tools);
}

static int note_tool(void *arg, const struct call_info *info)
{
	struct calls_tx *c = arg;

	if (info->kind == CALL_TOOL)
		buf_add(&c->tools, info, sizeof *info);
	return buf_check(&c->tools, NULL);
}

/* Read the turn's calls once. Later calls are added to the list, because scans miss own writes. */
static int need_tools(struct calls_tx *c)
{
	struct pass p = { c->s->ref, { .n = c->t->n }, note_tool, c };
	int r = c->loaded ? 0 : scan(c->s->tx, &p);

	c->loaded = true;
	return r;
}

/* Find the first call for which is_it() says yes. NULL: none. */
static struct call_info *find_tool(struct calls_tx *c, call_is_fn *is_it, const char *text)
{
	size_t count;
	struct call_info *list = BUF_LIST(struct call_info, &c->tools, &count);
	size_t i;

	for (i = 0; i < count; i++) {
		if (is_it(&list[i], text))
			return &list[i];
	}
	return NULL;
}

/* Choose the name of a call's directory: the id, if it can be a name and is free. */
static void choose_name(struct calls_tx *c, struct call_info *info)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	unsigned tries = 0;

	if (name_encode(span_of(info->id), NAME_PLAIN, &name, NULL) == 0 && buf_cstr(&name))
		copy_text(info->file_name, sizeof info->file_name, name.data);
	while (!info->file_name[0] || find_tool(c, has_file_name, info->file_name)) {
		(void)snprintf(info->file_name, sizeof info->file_name, "call-%llu%.*u",
			       (unsigned long long)info->seq, tries ? 1 : 0, tries);
		tries++;
	}
}

static int add_model(struct calls_tx *c, const struct call_report *report,
		     const struct call_line *line)
{
	struct call_info info = { .n = c->t->n,
				  .seq = ++c->t->calls,
				  .kind = CALL_MODEL,
				  .started = report->started,
				  .ended = report->started + (int64_t)(report->nsec / 1000),
				  .said = *line };

	if (report->first_nsec)
		info.first = report->started + (int64_t)(report->first_nsec / 1000);
	tokens_add_json(&info.tokens, report->usage);
	copy_text(info.name, sizeof info.name, report->model);
	copy_text(info.agent, sizeof info.agent, report->agent);
	save(c->s, &info);
	return 0;
}

static int add_tool(struct calls_tx *c, const struct call_report *report)
{
	struct span text = report->stderr_text;
	char id[sizeof((struct call_info *)0)->id];
	struct call_info *info;
	int r = need_tools(c);

	copy_text(id, sizeof id, report->id);
	info = find_tool(c, is_running, id);
	if (r < 0 || !info)
		return r;
	info->ended = info->started + (int64_t)(report->nsec / 1000);
	text = span_sub(text, text.len - MIN(text.len, CALL_STDERR_MAX), text.len);
	info->stderr_size = text.len;
	if (text.len) {
		struct key key = key_3(KEY_CALL_STDERR, c->s->ref.session, info->n, info->seq);

		store_put(c->s->tx, &key, text);
	}
	save(c->s, info);
	return tell(c->s, c->t->number, info, CHANGE_CALL);
}

int calls_add_report(struct calls_tx *c, const struct call_report *report,
		     const struct call_line *line)
{
	return report->kind == CALL_MODEL ? add_model(c, report, line) : add_tool(c, report);
}

static int add_call(struct calls_tx *c, const struct event *e, const struct part *p,
		    const struct call_line *line)
{
	struct call_info info = {
		.n = c->t->n, .seq = ++c->t->calls, .kind = CALL_TOOL, .said = *line
	};
	CLEANUP(buf_release) struct buf agent = { 0 };
	int r = event_text(e, EVENT_AUTHOR, &agent);

	if (r < 0 || !buf_cstr(&agent))
		return err_nomem(c->s->tx->err);
	r = need_tools(c);
	if (r < 0)
		return r;
	info.number = store_tx_number(c->s->tx);
	if (!info.number)
		return -EIO;
	info.started = event_time(e);
	copy_text(info.id, sizeof info.id, p->id);
	copy_text(info.name, sizeof info.name, p->name);
	copy_text(info.agent, sizeof info.agent, agent.data);
	choose_name(c, &info);
	save(c->s, &info);
	buf_add(&c->tools, &info, sizeof info);
	if (c->tools.failed)
		return err_nomem(c->s->tx->err);
	return tell(c->s, c->t->number, &info, CHANGE_CALL_ADDED);
}

static int end_call(struct calls_tx *c, struct call_info *info, const struct event *e,
		    const struct call_line *line)
{
	info->answer = *line;
	if (!info->ended)
		info->ended = event_time(e);
	save(c->s, info);
	return tell(c->s, c->t->number, info, CHANGE_CALL);
}

static bool has_id(const struct call_info *info, const char *id)
{
	return info->kind == CALL_TOOL && !strcmp(info->id, id);
}

/*
 * A response may come turns after its call, and after an earlier response: the latest one counts.
 * A response to an unknown call is an event and nothing else.
 */
static int add_answer(struct calls_tx *c, const struct event *e, const struct part *p,
		      const struct call_line *line)
{
	char id[sizeof((struct call_info *)0)->id];
	struct call_info earlier;
	struct call_info *info;
	struct search search = { has_id, id, &earlier };
	struct pass p_earlier = { c->s->ref, { .n = c->t->n }, check_call, &search };
	int r = need_tools(c);

	copy_text(id, sizeof id, p->id);
	info = find_tool(c, is_unanswered, id);
	if (!info)
		info = find_tool(c, has_id, id);
	if (r < 0 || info)
		return r < 0 ? r : end_call(c, info, e, line);
	while (r == 0 && --p_earlier.after.n && c->t->n - p_earlier.after.n < CALL_LOOK_BACK)
		r = scan(c->s->tx, &p_earlier);
	return r <= 0 ? r : end_call(c, &earlier, e, line);
}

int calls_add_event(struct calls_tx *c, const struct event *e, const struct content *content,
		    struct call_line line)
{
	int r = 0;

	for (line.part = 0; r == 0 && line.part < content->count; line.part++) {
		const struct part *p = &content->parts[line.part];

		if (p->kind == PART_CALL)
			r = add_call(c, e, p, &line);
		else if (p->kind == PART_RESPONSE)
			r = add_answer(c, e, p, &line);
	}
	return r;
}
