/*
 * Compactions that wait: see compaction.h.
 *
 * Rows: KEY_COMPACTION session behind -> record: app, user.
 */
#include "store/turn/compaction.h"

#include "store/session/scope.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

struct request {
	struct ref session;
	uint64_t behind;
};

static int put(struct store_tx *tx, void *arg)
{
	const struct request *rq = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_COMPACTION, rq->session.session, rq->behind);
	struct scope_info info;
	int r = scope_load(tx, rq->session, &info);

	if (r < 0)
		return r == -ENOENT ? err_set(tx->err, -ESTALE, "the session was removed") : r;
	record_number(&record, rq->session.app);
	record_number(&record, rq->session.user);
	store_put(tx, &key, buf_span(&record));
	return buf_check(&record, tx->err);
}

int compaction_ask(struct store *st, struct ref session, uint64_t behind, struct err *err)
{
	struct request rq = { session, behind };

	return store_update(st, put, &rq, err);
}

static int drop(struct store_tx *tx, void *arg)
{
	const struct request *rq = arg;
	struct key key = key_2(KEY_COMPACTION, rq->session.session, rq->behind);

	store_delete(tx, &key);
	return 0;
}

int compaction_done(struct store *st, struct ref session, uint64_t behind, struct err *err)
{
	struct request rq = { session, behind };

	return store_update(st, drop, &rq, err);
}

struct pass {
	compaction_fn *fn;
	void *arg;
};

static int pass_row(void *arg, struct span key, struct span value)
{
	const struct pass *p = arg;
	struct record_reader r = { .left = value };
	struct ref ref;

	ref.app = record_take_number(&r);
	ref.user = record_take_number(&r);
	ref.session = key_first_number(key);
	return r.bad ? -EIO : p->fn(p->arg, ref, key_last_number(key));
}

static int scan(struct store_tx *tx, void *arg)
{
	struct key prefix = key_space(KEY_COMPACTION);

	return store_scan(tx, &prefix, &prefix, pass_row, arg);
}

int compaction_list(struct store *st, compaction_fn *fn, void *arg, struct err *err)
{
	struct pass p = { fn, arg };

	return store_view(st, scan, &p, err);
}
