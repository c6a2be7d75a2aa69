/*
 * Seals: see seal.h.
 */
#include "store/session/seal.h"

#include "store/tx/record.h"

#include <errno.h>

int seal_load(struct store_tx *tx, uint64_t session, uint64_t *offset)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_SEAL, session);
	struct record_reader r;
	int e = store_get(tx, &key, &value);

	if (e < 0)
		return e;
	r = (struct record_reader){ .left = buf_span(&value) };
	*offset = record_take_number(&r);
	return r.bad ? err_set(tx->err, -EIO, "the store has a damaged record") : 0;
}

void seal_save(struct store_tx *tx, uint64_t session, uint64_t offset)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_SEAL, session);

	record_number(&value, offset);
	store_put(tx, &key, buf_span(&value));
}

void seal_delete(struct store_tx *tx, uint64_t session)
{
	struct key key = key_1(KEY_SEAL, session);

	store_delete(tx, &key);
}
