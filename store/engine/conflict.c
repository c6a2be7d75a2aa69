/*
 * Conflicts: see conflict.h.
 */
#include "store/engine/conflict.h"

#include <errno.h>
#include <stdlib.h>

#define WAS_READ      0x8000u
#define INDEX_FROM    64 /* writes: for fewer, looking at each is as fast */
#define SLOTS_AT_ONCE 512

/* A slot of the index; offset + 1 in writes, 0: free. */
struct own_slot {
	uint64_t hash;
	uint64_t place;
};

struct write_head {
	uint32_t kind;
	uint32_t key;
	uint64_t value;
};

void conflict_table_init(struct conflict_table *table) NO_THREAD_ANALYSIS /* nobody else is there */
{
	size_t i;

	table->commits = 0;
	for (i = 0; i < CONFLICT_STRIPES; i++) {
		mutex_init(&table->stripe[i].lock);
		table->stripe[i].commit = 0;
	}
}

void conflict_table_release(struct conflict_table *table)
{
	size_t i;

	for (i = 0; i < CONFLICT_STRIPES; i++)
		mutex_release(&table->stripe[i].lock);
}

void conflict_begin(struct conflict_table *table, struct conflict_set *set)
{
	set->start = atomic_load(&table->commits);
}

void conflict_release(struct conflict_set *set)
{
	buf_release(&set->stripes);
	buf_release(&set->writes);
	buf_release(&set->ranges);
	buf_release(&set->index);
}

void conflict_clear(struct conflict_set *set)
{
	struct buf stripes = set->stripes;
	struct buf writes = set->writes;

	buf_release(&set->ranges);
	buf_release(&set->index);
	buf_clear(&stripes);
	buf_clear(&writes);
	*set = (struct conflict_set){ .stripes = stripes, .writes = writes };
}

static void note_stripe(struct conflict_set *set, uint64_t h, unsigned flag)
{
	uint16_t stripe = (uint16_t)(h % CONFLICT_STRIPES | flag);

	buf_add(&set->stripes, &stripe, sizeof stripe);
}

void conflict_note_read(struct conflict_set *set, struct span key)
{
	note_stripe(set, span_hash(key), WAS_READ);
}

/* Take the write at *at, and move *at to the next one. */
static enum write_kind take_write(const struct conflict_set *set, size_t *at, struct span *key,
				  struct span *value)
{
	const char *from = set->writes.data + *at;
	struct write_head head;

	memcpy(&head, from, sizeof head);
	*key = (struct span){ from + sizeof head, head.key };
	*value = (struct span){ from + sizeof head + head.key, head.value };
	*at += sizeof head + head.key + head.value;
	return (enum write_kind)head.kind;
}

static struct own_slot *slots_of(const struct conflict_set *set, size_t *count)
{
	*count = set->index.len / sizeof(struct own_slot);
	return BUF_LIST(struct own_slot, &set->index, NULL);
}

/* The slot of a key: its own, or the free one that it would get. */
static struct own_slot *find_slot(const struct conflict_set *set, uint64_t h, struct span key)
{
	size_t count;
	struct own_slot *slots = slots_of(set, &count);
	size_t i = h & (count - 1);

	for (; slots[i].place; i = (i + 1) & (count - 1)) {
		size_t at = slots[i].place - 1;
		struct span own;
		struct span value;

		if (slots[i].hash != h)
			continue;
		(void)take_write(set, &at, &own, &value);
		if (span_equal(own, key))
			break;
	}
	return &slots[i];
}

static void index_write(struct conflict_set *set, size_t place)
{
	size_t at = place;
	struct span key;
	struct span value;
	struct own_slot *slot;

	if (take_write(set, &at, &key, &value) == WRITE_DELETE_RANGE)
		return;
	slot = find_slot(set, span_hash(key), key);
	set->keys += !slot->place;
	*slot = (struct own_slot){ span_hash(key), place + 1 };
}

/* Make the index anew, for more keys. Without memory, writes are looked at one by one. */
static void grow_index(struct conflict_set *set)
{
	size_t len = MAX(set->index.len * 4, SLOTS_AT_ONCE * sizeof(struct own_slot));
	size_t at = 0;

	buf_release(&set->index);
	set->keys = 0;
	if (!buf_reserve(&set->index, len))
		return;
	memset(set->index.data, 0, len);
	set->index.len = len;
	while (at < set->writes.len) {
		struct span key;
		struct span value;
		size_t place = at;

		(void)take_write(set, &at, &key, &value);
		index_write(set, place);
	}
}

void conflict_note_write(struct conflict_set *set, enum write_kind kind, struct span key,
			 struct span value)
{
	struct write_head head = { kind, (uint32_t)key.len, value.len };
	uint64_t h = span_hash(key);
	uint64_t place = set->writes.len;

	buf_add(&set->writes, &head, sizeof head);
	buf_span_add(&set->writes, key);
	buf_span_add(&set->writes, value);
	if (set->writes.failed)
		return;
	if (kind == WRITE_DELETE_RANGE) {
		buf_add(&set->ranges, &place, sizeof place);
		set->writes.failed |= set->ranges.failed;
		return;
	}
	note_stripe(set, h, 0);
	set->written[h >> 32 & 15] |= 1ull << (h >> 40 & 63);
	set->points++;
	if (set->points < INDEX_FROM)
		return;
	if (set->keys * 2 >= set->index.len / sizeof(struct own_slot))
		grow_index(set);
	else
		index_write(set, place);
}

/* The place of the latest write of a key; SIZE_MAX: there is none. */
static size_t find_point(const struct conflict_set *set, uint64_t h, struct span wanted)
{
	size_t found = SIZE_MAX;
	size_t at = 0;

	if (!(set->written[h >> 32 & 15] & 1ull << (h >> 40 & 63)))
		return SIZE_MAX;
	if (set->index.len)
		return find_slot(set, h, wanted)->place - 1; /* which is SIZE_MAX for a free one */
	while (at < set->writes.len) {
		struct span key;
		struct span value;
		size_t place = at;

		if (take_write(set, &at, &key, &value) != WRITE_DELETE_RANGE &&
		    span_equal(key, wanted))
			found = place;
	}
	return found;
}

/* Whether a range that was deleted after a place in `writes` has the key. SIZE_MAX: any range. */
static bool is_in_range(const struct conflict_set *set, size_t after, struct span wanted)
{
	size_t i;

	for (i = 0; i < set->ranges.len; i += sizeof(uint64_t)) {
		struct span from;
		struct span to;
		uint64_t place;
		size_t at;

		memcpy(&place, set->ranges.data + i, sizeof place);
		at = place;
		if (after != SIZE_MAX && place < after)
			continue;
		(void)take_write(set, &at, &from, &to);
		if (span_compare(wanted, from) >= 0 && span_compare(wanted, to) < 0)
			return true;
	}
	return false;
}

int conflict_own(const struct conflict_set *set, struct span key, struct span *value)
{
	size_t place = find_point(set, span_hash(key), key);
	struct span own;
	size_t at = place;

	if (is_in_range(set, place, key))
		return -ENOENT;
	if (place == SIZE_MAX)
		return 0;
	return take_write(set, &at, &own, value) == WRITE_PUT ? 1 : -ENOENT;
}

void conflict_each_write(const struct conflict_set *set, write_fn *fn, void *arg)
{
	size_t at = 0;

	while (at < set->writes.len) {
		struct span key;
		struct span value;
		enum write_kind kind = take_write(set, &at, &key, &value);

		fn(arg, kind, key, value);
	}
}

static int compare_stripes(const void *a, const void *b)
{
	const uint16_t *x = a;
	const uint16_t *y = b;

	return (int)(*x & ~WAS_READ) - (int)(*y & ~WAS_READ);
}

/* Sort, and join the entries of one stripe; returns how many are left. */
static size_t unique_stripes(uint16_t *list, size_t n)
{
	size_t kept = 0;
	size_t i;

	if (n)
		qsort(list, n, sizeof *list, compare_stripes);
	for (i = 0; i < n; i++) {
		if (kept && compare_stripes(&list[kept - 1], &list[i]) == 0)
			list[kept - 1] |= list[i];
		else
			list[kept++] = list[i];
	}
	return kept;
}

/* The number of locks depends on the data, which the analysis cannot follow. */
int conflict_commit(struct conflict_table *table, struct conflict_set *set, apply_fn *apply,
		    void *arg) NO_THREAD_ANALYSIS
{
	uint16_t *list = (uint16_t *)(void *)set->stripes.data;
	size_t n = unique_stripes(list, set->stripes.len / sizeof *list);
	bool lost = false;
	size_t i;
	int r = 0;

	if (set->stripes.failed || set->writes.failed)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct conflict_stripe *stripe = &table->stripe[list[i] & ~WAS_READ];

		mutex_lock(&stripe->lock);
		lost |= (list[i] & WAS_READ) && stripe->commit > set->start;
	}
	if (lost)
		r = -EAGAIN;
	else
		r = apply(arg);
	if (r == 0) {
		uint64_t commit = atomic_fetch_add(&table->commits, 1) + 1;

		for (i = 0; i < n; i++)
			table->stripe[list[i] & ~WAS_READ].commit = commit;
	}
	for (i = n; i-- > 0;)
		mutex_unlock(&table->stripe[list[i] & ~WAS_READ].lock);
	return r;
}
