/*
 * Removing a scope: see remove.h.
 */
#include "store/remove.h"

#include "store/index/postings.h"
#include "store/memory/memory.h"
#include "store/open.h"
#include "store/timeline/loose.h"

#include <errno.h>

struct removal {
	struct ref ref;
	struct scope_info info;
};

static int remove_scope(struct store_tx *tx, void *arg)
{
	struct removal *rm = arg;
	int r = scope_load(tx, rm->ref, &rm->info);

	if (r < 0)
		return r;
	if (rm->info.members)
		return err_set(tx->err, -ENOTEMPTY, "the %s '%s' still has %s",
			       rm->ref.user ? "user" : "app", rm->info.id,
			       rm->ref.user ? "sessions" : "users");
	r = rm->info.memory ? memory_drop(tx, rm->ref, &rm->info) : 0;
	if (r < 0)
		return r;
	if (rm->ref.user && !rm->ref.session)
		postings_drop_stamp(tx, rm->ref.user);
	loose_put(tx, ref_number(rm->ref), LOOSE_REMOVED);
	return scope_unpublish(tx, rm->ref, &rm->info);
}

int scope_remove(struct store *st, struct ref ref, struct err *err)
{
	struct removal rm = { .ref = ref };
	int r = store_update(st, remove_scope, &rm, err);

	if (r == 0 && rm.info.memory)
		memory_work(st);
	if (r == 0 && loose_drop_few(st, ref_number(ref), NULL) != 0)
		store_drop_soon(st);
	return r;
}
