/*
 * Conflicts: see conflict.h.
 */
#include "store/conflict.h"

#include <errno.h>
#include <stdlib.h>

#define WAS_READ 0x8000u

struct write_head {
	uint32_t kind;
	uint32_t key;
	uint64_t value;
};

static uint64_t hash(struct span key)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	size_t i;

	for (i = 0; i < key.len; i++)
		h = (h ^ (unsigned char)key.data[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

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
}

void conflict_clear(struct conflict_set *set)
{
	struct buf stripes = set->stripes;
	struct buf writes = set->writes;

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
	note_stripe(set, hash(key), WAS_READ);
}

void conflict_note_write(struct conflict_set *set, enum write_kind kind, struct span key,
			 struct span value)
{
	struct write_head head = { kind, (uint32_t)key.len, value.len };
	uint64_t h = hash(key);

	buf_add(&set->writes, &head, sizeof head);
	buf_span_add(&set->writes, key);
	buf_span_add(&set->writes, value);
	set->has_range |= kind == WRITE_DELETE_RANGE;
	if (kind == WRITE_DELETE_RANGE)
		return;
	note_stripe(set, h, 0);
	set->written[h >> 32 & 15] |= 1ull << (h >> 40 & 63);
}

struct own {
	struct span key;
	struct span value;
	int found;
};

static void match_own(void *arg, enum write_kind kind, struct span key, struct span value)
{
	struct own *own = arg;

	if (kind == WRITE_DELETE_RANGE) {
		if (span_compare(own->key, key) >= 0 && span_compare(own->key, value) < 0)
			own->found = -ENOENT;
		return;
	}
	if (!span_equal(key, own->key))
		return;
	own->value = value;
	own->found = kind == WRITE_PUT ? 1 : -ENOENT;
}

int conflict_own(const struct conflict_set *set, struct span key, struct span *value)
{
	struct own own = { .key = key };
	uint64_t h = hash(key);

	if (!set->has_range && !(set->written[h >> 32 & 15] & 1ull << (h >> 40 & 63)))
		return 0;
	conflict_each_write(set, match_own, &own);
	*value = own.value;
	return own.found;
}

void conflict_each_write(const struct conflict_set *set, write_fn *fn, void *arg)
{
	const char *at = set->writes.data;
	const char *end = at + set->writes.len;

	while (at < end) {
		struct write_head head;
		struct span key;

		memcpy(&head, at, sizeof head);
		at += sizeof head;
		key = (struct span){ at, head.key };
		fn(arg, (enum write_kind)head.kind, key,
		   (struct span){ at + head.key, head.value });
		at += head.key + head.value;
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
