/*
 * Waiting: see waiting.h.
 *
 * Rows: KEY_QUEUE session n, KEY_COMPACTION session n -> record: app, user.
 */
#include "store/turn/waiting.h"

#include "store/session/scope.h"
#include "store/tx/record.h"

#include <errno.h>

void waiting_put(struct store_tx *tx, enum key_space space, struct ref session, uint64_t n)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(space, session.session, n);

	record_number(&record, session.app);
	record_number(&record, session.user);
	store_put(tx, &key, buf_span(&record));
}

struct listing {
	waiting_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	const struct listing *l = arg;
	struct record_reader r = { .left = value };
	struct ref ref;

	ref.app = record_take_number(&r);
	ref.user = record_take_number(&r);
	ref.session = key_first_number(key);
	return r.bad ? -EIO : l->fn(l->arg, ref, key_last_number(key));
}

int waiting_list(struct store *st, enum key_space space, waiting_fn *fn, void *arg, struct err *err)
{
	struct key prefix = key_space(space);
	struct listing l = { fn, arg };

	return store_rows(st, &prefix, &prefix, emit, &l, err);
}

struct request {
	struct ref session;
	uint64_t n;
};

static int put(struct store_tx *tx, void *arg)
{
	const struct request *rq = arg;
	struct scope_info info;
	int r = scope_need(tx, rq->session, &info);

	if (r == 0)
		waiting_put(tx, KEY_COMPACTION, rq->session, rq->n);
	return r;
}

int compaction_ask(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	struct request rq = { session, n };

	return store_update(st, put, &rq, err);
}

static int drop(struct store_tx *tx, void *arg)
{
	const struct request *rq = arg;
	struct key key = key_2(KEY_COMPACTION, rq->session.session, rq->n);

	store_delete(tx, &key);
	return 0;
}

int compaction_done(struct store *st, struct ref session, uint64_t n, struct err *err)
{
	struct request rq = { session, n };

	return store_update(st, drop, &rq, err);
}

int compaction_list(struct store *st, waiting_fn *fn, void *arg, struct err *err)
{
	return waiting_list(st, KEY_COMPACTION, fn, arg, err);
}
