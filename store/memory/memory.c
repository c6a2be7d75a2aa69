/*
 * Memory: see memory.h.
 *
 * Rows: KEY_ITEM user 'M' link -> entry_fields. When the link was made, the session's log ended
 * at `limit`. Lines before `indexed` and lines from `limit` on are in the index
 * (index/postings.h). KEY_INDEXING link -> record: app, user; there while there is work: to make
 * the index if the link is there, else to remove it. The session's record has its link, and the
 * user's record has the stamp of the list of links.
 */
#include "store/memory/memory.h"

#include "base/clock.h"
#include "store/index/postings.h"
#include "store/json/time.h"
#include "store/session/log.h"
#include "store/session/session.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>

#define POSTINGS_AT_ONCE 2000       /* postings in a transaction, besides those of the last line */
#define BYTES_AT_ONCE    (1u << 20) /* bytes of the log in a transaction */
#define BYTES_WAITED_FOR (8u << 20) /* bytes of the log that memory_remember() indexes itself */
#define JOBS_AT_ONCE     64

/* The record of a link. */
struct entry {
	uint64_t session;
	uint64_t stamp;
	uint64_t indexed;
	uint64_t limit;
};

#define NUMBER(member) RECORD_NUMBER(struct entry, member)

static const struct record_field entry_fields[] = {
	NUMBER(session), NUMBER(stamp), NUMBER(indexed), NUMBER(limit), { 0 },
};

static int load_entry(struct store_tx *tx, uint64_t user, uint64_t link, struct entry *e)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(user, KEY_MEMORY, link);
	struct record_reader r;
	int code = store_get(tx, &key, &record);

	if (code < 0)
		return code;
	r = (struct record_reader){ .left = buf_span(&record) };
	record_take(entry_fields, &r, e);
	return r.bad ? err_set(tx->err, -EIO, "the store has a damaged record") : 0;
}

static void save_entry(struct store_tx *tx, uint64_t user, uint64_t link, const struct entry *e)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(user, KEY_MEMORY, link);

	record_put(entry_fields, e, &record);
	store_put(tx, &key, buf_span(&record));
}

int memory_load(struct store_tx *tx, uint64_t user, uint64_t number, struct memory_link *out)
{
	struct entry e;
	int r = load_entry(tx, user, number, &e);

	if (r < 0)
		return r;
	*out = (struct memory_link){ .number = number, .session = e.session, .stamp = e.stamp };
	return 0;
}

/* Note that the index of a link must be made or removed. */
static void put_job(struct store_tx *tx, struct ref session, uint64_t link)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_1(KEY_INDEXING, link);

	record_number(&record, session.app);
	record_number(&record, session.user);
	store_put(tx, &key, buf_span(&record));
}

static void drop_job(struct store_tx *tx, uint64_t link)
{
	struct key key = key_1(KEY_INDEXING, link);

	store_delete(tx, &key);
}

static int tell(struct store_tx *tx, enum change_kind kind, struct ref session, uint64_t link,
		const char *id)
{
	struct change *change = postings_changed(tx, kind, session);

	if (!change)
		return err_nomem(tx->err);
	change->item = link;
	(void)snprintf(change->name, sizeof change->name, "%s", id);
	return 0;
}

/* Work on the rows of one link, a transaction at a time. */
struct job {
	struct ref ref; /* the session; while the link is gone, only app and user are known */
	uint64_t link;
	struct key from; /* the next row to remove */
	uint64_t bytes;  /* bytes of the log that were indexed */
	bool more;
};

/* Lines of the log on their way into the index. */
struct lines {
	struct store_tx *tx;
	struct job *job;
	uint64_t at;
	uint64_t start;
	size_t postings;
};

struct line_members {
	struct span content;
	struct span timestamp;
};

static int pick_member(void *arg, struct span key, struct span value)
{
	struct line_members *m = arg;

	if (span_is(key, "content"))
		m->content = value;
	else if (span_is(key, "timestamp"))
		m->timestamp = value;
	return 0;
}

static int index_line(void *arg, struct span text)
{
	struct lines *lines = arg;
	struct line_members m = { 0 };
	struct posting line = { lines->job->link, lines->at, text.len + 1, 0 };
	size_t count;
	int r = json_each(text, pick_member, &m);

	if (r == 0)
		r = time_parse(m.timestamp, &line.time);
	if (r == 0)
		r = postings_add(lines->tx, lines->job->ref.user, &line, m.content, &count);
	if (r < 0)
		return r;
	lines->at += line.len;
	lines->postings += count;
	return lines->postings >= POSTINGS_AT_ONCE || lines->at - lines->start >= BYTES_AT_ONCE;
}

static int index_some(struct store_tx *tx, struct job *job, struct entry *e)
{
	struct lines lines = { tx, job, e->indexed, e->indexed, 0 };
	struct ref session = job->ref;
	struct log_range range;
	int r;

	session.session = e->session;
	range = (struct log_range){ session, e->indexed, e->limit };
	r = e->indexed < e->limit ? session_lines(tx->st, range, index_line, &lines, tx->err) : 0;
	if (r < 0)
		return err_set(tx->err, r, "the log of the session cannot be indexed");
	if (lines.at == e->indexed && e->indexed < e->limit)
		return -EAGAIN; /* the session was removed, and the link with it */
	job->bytes += lines.at - e->indexed;
	e->indexed = lines.at;
	job->more = e->indexed < e->limit;
	if (!job->more)
		drop_job(tx, job->link);
	save_entry(tx, job->ref.user, job->link, e);
	return postings_changed(tx, CHANGE_MEMORY, session) ? 0 : err_nomem(tx->err);
}

static int drop_some(struct store_tx *tx, struct job *job)
{
	int r = postings_drop(tx, job->ref.user, job->link, &job->from, POSTINGS_AT_ONCE);

	if (r < 0)
		return r;
	job->more = r;
	if (!job->more)
		drop_job(tx, job->link);
	return 0;
}

/* A step of a job, tried until it wins. */
struct step {
	const struct job *before;
	struct job after;
};

static int take_step(struct store_tx *tx, void *arg)
{
	struct step *step = arg;
	struct job *job = &step->after;
	struct entry e;
	int r;

	*job = *step->before;
	r = load_entry(tx, job->ref.user, job->link, &e);
	if (r == -ENOENT)
		return drop_some(tx, job);
	return r < 0 ? r : index_some(tx, job, &e);
}

/* Work through up to `bytes` of the log. stop: checked after each step; NULL is fine. */
static int work(struct store *st, struct job *job, uint64_t bytes, struct memory_worker *stop,
		struct err *err)
{
	bool is_over = false;
	int r;

	job->from = key_1(KEY_WORDS, job->link);
	do {
		struct step step = { .before = job };

		r = store_update(st, take_step, &step, err);
		if (r == 0)
			*job = step.after;
		if (stop) {
			mutex_lock(&stop->lock);
			is_over = stop->stopping;
			mutex_unlock(&stop->lock);
		}
	} while (r == 0 && job->more && job->bytes < bytes && !is_over);
	return r;
}

/* Links. */

struct request {
	struct ref ref; /* the session, or the user */
	uint64_t number;
	struct memory_link link;
};

static int load_session(struct store_tx *tx, struct ref ref, struct memory_link *link)
{
	struct ref session = { ref.app, ref.user, link->session };
	struct scope_info info;
	int r = scope_load(tx, session, &info);

	if (r == 0)
		memcpy(link->id, info.id, sizeof link->id);
	return r;
}

static int remember(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info session;
	struct scope_info user;
	struct entry e = { .session = rq->ref.session, .stamp = clock_stamp() };
	struct ref up = ref_parent(rq->ref);
	int r = scope_load(tx, rq->ref, &session);

	if (r == 0)
		r = scope_load(tx, up, &user);
	if (r < 0)
		return r;
	if (session.memory)
		return err_set(tx->err, -EEXIST, "the session '%s' is remembered already",
			       session.id);
	e.limit = session.log_size;
	session.memory = rq->number;
	user.memory_stamp = e.stamp;
	scope_save(tx, rq->ref, &session);
	scope_save(tx, up, &user);
	save_entry(tx, up.user, rq->number, &e);
	if (e.limit)
		put_job(tx, rq->ref, rq->number);
	rq->link = (struct memory_link){ rq->number, e.session, e.stamp, "" };
	memcpy(rq->link.id, session.id, sizeof rq->link.id);
	return tell(tx, CHANGE_MEMORY_ADDED, rq->ref, rq->number, session.id);
}

int memory_remember(struct store *st, struct ref session, struct memory_link *out, struct err *err)
{
	struct request rq = { .ref = session };
	struct job job = { .ref = session };
	int r;

	rq.number = store_new_number(st, err);
	if (!rq.number)
		return -EIO;
	r = store_update(st, remember, &rq, err);
	if (r < 0)
		return r;
	if (out)
		*out = rq.link;
	job.link = rq.number;
	/* The link is there. If this fails, the worker tries again. */
	if (work(st, &job, BYTES_WAITED_FOR, NULL, NULL) < 0 || job.more)
		memory_work(st);
	return 0;
}

int memory_drop(struct store_tx *tx, struct ref session, const struct scope_info *info)
{
	struct key key = key_item(session.user, KEY_MEMORY, info->memory);
	struct scope_info user;
	int r = scope_load(tx, ref_parent(session), &user);

	if (r < 0)
		return r;
	store_delete(tx, &key);
	put_job(tx, session, info->memory);
	user.memory_stamp = clock_stamp();
	scope_save(tx, ref_parent(session), &user);
	return tell(tx, CHANGE_MEMORY_REMOVED, session, info->memory, info->id);
}

static int forget(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info session;
	int r = scope_load(tx, rq->ref, &session);

	if (r < 0)
		return r;
	if (!session.memory)
		return err_set(tx->err, -ENOENT, "the session '%s' is not remembered", session.id);
	r = memory_drop(tx, rq->ref, &session);
	session.memory = 0;
	scope_save(tx, rq->ref, &session);
	return r;
}

int memory_forget(struct store *st, struct ref session, struct err *err)
{
	struct request rq = { .ref = session };
	int r = store_update(st, forget, &rq, err);

	if (r == 0)
		memory_work(st);
	return r;
}

static int find_number(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	int r = memory_load(tx, rq->ref.user, rq->number, &rq->link);

	if (r == -ENOENT)
		return err_set(tx->err, r, "the session is not remembered any more");
	return r < 0 ? r : load_session(tx, rq->ref, &rq->link);
}

int memory_stat(struct store *st, struct ref user, uint64_t number, struct memory_link *out,
		struct err *err)
{
	struct request rq = { .ref = user, .number = number };
	int r = store_view(st, find_number, &rq, err);

	if (r == 0)
		*out = rq.link;
	return r;
}

static int find_stamp(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	return postings_stamp(tx, rq->ref.user, &rq->number);
}

int memory_stamp(struct store *st, struct ref user, uint64_t *stamp, struct err *err)
{
	struct request rq = { .ref = user };
	int r = store_view(st, find_stamp, &rq, err);

	if (r == 0)
		*stamp = rq.number;
	return r;
}

struct listing {
	struct store_tx *tx;
	struct ref user;
	uint64_t after;
	memory_link_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct record_reader reader = { .left = value };
	struct memory_link link = { .number = key_last_number(key) };
	int r;

	link.session = record_take_number(&reader);
	link.stamp = record_take_number(&reader);
	if (reader.bad)
		return -EIO;
	r = load_session(l->tx, l->user, &link);
	return r < 0 ? r : l->fn(l->arg, &link);
}

static int list(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;
	struct key prefix = key_dir(KEY_ITEM, l->user.user, KEY_MEMORY);
	struct key from = key_item(l->user.user, KEY_MEMORY, l->after + 1);

	l->tx = tx;
	return store_scan(tx, &from, &prefix, emit, l);
}

int memory_list(struct store *st, struct ref user, uint64_t after, memory_link_fn *fn, void *arg,
		struct err *err)
{
	struct listing l = { NULL, user, after, fn, arg };

	return store_view(st, list, &l, err);
}

/* The thread. */

struct jobs {
	uint64_t after;
	size_t count;
	struct job job[JOBS_AT_ONCE];
};

static int note_job(void *arg, struct span key, struct span value)
{
	struct jobs *jobs = arg;
	struct job *job = &jobs->job[jobs->count];
	struct record_reader r = { .left = value };

	*job = (struct job){ .link = key_last_number(key) };
	job->ref.app = record_take_number(&r);
	job->ref.user = record_take_number(&r);
	jobs->after = job->link;
	return ++jobs->count == JOBS_AT_ONCE;
}

static bool wait_for_work(struct memory_worker *worker)
{
	bool stopping;

	mutex_lock(&worker->lock);
	while (!worker->has_work && !worker->stopping)
		cond_wait(&worker->wake, &worker->lock);
	worker->has_work = false;
	stopping = worker->stopping;
	mutex_unlock(&worker->lock);
	return !stopping;
}

static void work_all(struct store *st)
{
	struct key prefix = key_space(KEY_INDEXING);
	struct jobs jobs = { 0 };
	int r;
	size_t i;

	do {
		struct key from = key_1(KEY_INDEXING, jobs.after + 1);

		jobs.count = 0;
		r = store_rows(st, &from, &prefix, note_job, &jobs, NULL);
		/* A job that fails stays, and the next wake tries it again. */
		for (i = 0; r >= 0 && i < jobs.count; i++)
			(void)!work(st, &jobs.job[i], UINT64_MAX, store_memory(st), NULL);
	} while (r > 0);
}

static void *run(void *arg)
{
	struct store *st = arg;

	while (wait_for_work(store_memory(st)))
		work_all(st);
	return NULL;
}

void memory_init(struct memory_worker *worker)
{
	mutex_init(&worker->lock);
	cond_init(&worker->wake);
}

void memory_release(struct memory_worker *worker)
{
	cond_release(&worker->wake);
	mutex_release(&worker->lock);
}

int memory_start(struct store *st, struct err *err)
{
	struct memory_worker *worker = store_memory(st);
	int r = -pthread_create(&worker->thread, NULL, run, st);
	worker->runs = r == 0;
	return r < 0 ? err_errno(err, r, "the thread of the memory cannot start") : 0;
}

void memory_stop(struct store *st)
{
	struct memory_worker *worker = store_memory(st);

	mutex_lock(&worker->lock);
	worker->stopping = true;
	mutex_unlock(&worker->lock);
	cond_wake_all(&worker->wake);
	if (worker->runs)
		(void)pthread_join(worker->thread, NULL);
	worker->runs = false;
}

void memory_work(struct store *st)
{
	struct memory_worker *worker = store_memory(st);

	mutex_lock(&worker->lock);
	worker->has_work = true;
	mutex_unlock(&worker->lock);
	cond_wake_one(&worker->wake);
}
