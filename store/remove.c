/*
 * Removing a scope: see remove.h.
 */
#include "store/remove.h"

#include "store/artifact/artifact.h"
#include "store/index/postings.h"
#include "store/memory/memory.h"

#include <errno.h>

struct removal {
	struct ref ref;
	struct scope_info info;
	struct buf bulks; /* numbers of bulks without a reference */
};

static int remove_scope(struct store_tx *tx, void *arg)
{
	struct removal *rm = arg;
	int r = scope_load(tx, rm->ref, &rm->info);

	buf_clear(&rm->bulks);
	if (r < 0)
		return r;
	if (rm->info.members)
		return err_set(tx->err, -ENOTEMPTY, "the %s '%s' still has %s",
			       rm->ref.user ? "user" : "app", rm->info.id,
			       rm->ref.user ? "sessions" : "users");
	r = artifact_remove_all(tx, ref_number(rm->ref), &rm->bulks);
	if (r == 0 && rm->info.memory)
		r = memory_drop(tx, rm->ref, &rm->info);
	if (r < 0)
		return r;
	if (rm->ref.user && !rm->ref.session)
		postings_drop_stamp(tx, rm->ref.user);
	return scope_unpublish(tx, rm->ref, &rm->info);
}

int scope_remove(struct store *st, struct ref ref, struct err *err)
{
	struct removal rm = { .ref = ref };
	int r = store_update(st, remove_scope, &rm, err);

	if (r == 0)
		artifact_remove_bulks(st, &rm.bulks);
	if (r == 0 && rm.info.memory)
		memory_work(st);
	buf_release(&rm.bulks);
	return r;
}
