/*
 * Conversions: see convert.h.
 */
#include "store/artifact/convert.h"

#include "store/artifact/bulk.h"
#include "store/artifact/version.h"

#include <errno.h>

/* A bulk of one version is given its row. Those of several versions have theirs. */
static int note_ref(struct store_tx *tx, uint64_t bulk)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_REF, bulk);
	int r = store_get(tx, &key, &value);

	if (r == -ENOENT) {
		bulk_put_refs(tx, bulk, 1);
		r = 0;
	}
	return r;
}

static int convert_version(struct store_tx *tx, struct span key, struct span value)
{
	CLEANUP(extents_release) struct extents map = { 0 };
	CLEANUP(buf_release) struct buf bulks = { 0 };
	struct version_info v;
	const uint64_t *list;
	size_t count;
	size_t i;
	int r = version_load(tx, key_first_number(key), key_last_number(key), &v, NULL);

	(void)value;
	if (r == 0)
		r = version_map(tx, key_first_number(key), &v, &map);
	if (r < 0)
		return r;
	extents_bulks(&map, &bulks);
	r = buf_check(&bulks, tx->err);
	list = BUF_LIST(uint64_t, &bulks, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = note_ref(tx, list[i]);
	return r;
}

int artifact_convert_refs(struct store *st, struct err *err)
{
	struct key prefix = key_space(KEY_VERSION);

	return store_convert(st, &prefix, convert_version, err);
}
