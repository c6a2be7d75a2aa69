/*
 * Records of turns: see info.h.
 *
 * Rows: KEY_TURN session n -> turn_fields.
 */
#include "store/turn/info.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

#define NUMBER(member) RECORD_NUMBER(struct turn_info, member)
#define TEXT(member)   RECORD_TEXT(struct turn_info, member)

static const struct record_field turn_fields[] = {
	NUMBER(number), NUMBER(state),      NUMBER(created),     NUMBER(started),
	NUMBER(ended),  NUMBER(stamp),      NUMBER(first),       NUMBER(last),
	NUMBER(bytes),  NUMBER(input_size), NUMBER(output_size), TEXT(invocation),
	TEXT(agent),    TEXT(error),        NUMBER(calls),       { 0 },
};

void turn_encode(const struct turn_info *t, struct buf *out)
{
	record_put(turn_fields, t, out);
}

int turn_decode(struct span record, uint64_t n, struct turn_info *t)
{
	struct record_reader r = { .left = record };

	*t = (struct turn_info){ .n = n };
	record_take(turn_fields, &r, t);
	return r.bad ? -EIO : 0;
}

int turn_load(struct store_tx *tx, struct ref ref, uint64_t n, struct turn_info *t)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_TURN, ref.session, n);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "there is no turn %llu", (unsigned long long)n);
	return r < 0 ? r : turn_decode(buf_span(&record), n, t);
}
