/*
 * Extents: see extents.h. The record is: count, then for each extent the gap before it, len, bulk,
 * and `at` as its distance from start.
 */
#include "store/artifact/extents.h"

#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdlib.h>

void extents_release(struct extents *x)
{
	free(x->list);
	*x = (struct extents){ 0 };
}

static uint64_t end_of(const struct extent *e)
{
	return e->start + e->len;
}

size_t extents_find(const struct extents *x, uint64_t offset)
{
	size_t low = 0;
	size_t high = x->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&x->list[middle]) > offset)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool reserve(struct extents *x, size_t more)
{
	struct extent *list;
	size_t cap = x->cap ? x->cap : 4;

	while (cap < x->count + more)
		cap *= 2;
	if (cap == x->cap)
		return true;
	list = realloc(x->list, cap * sizeof *list);
	if (!list)
		return false;
	x->list = list;
	x->cap = cap;
	return true;
}

/* Replace `old` entries from index i by `fresh` ones; there is room. */
static void splice(struct extents *x, size_t i, size_t old, const struct extent *fresh, size_t n)
{
	memmove(&x->list[i + n], &x->list[i + old], (x->count - i - old) * sizeof *x->list);
	if (n)
		memcpy(&x->list[i], fresh, n * sizeof *fresh);
	x->count += n - old;
}

static bool continues(const struct extent *a, const struct extent *b)
{
	return end_of(a) == b->start && a->bulk == b->bulk && a->at + a->len == b->at;
}

/* Replace [from, to) by e; NULL: by nothing. Extents that reach out of the range are cut. */
static int replace(struct extents *x, uint64_t from, uint64_t to, const struct extent *e)
{
	size_t first = extents_find(x, from);
	size_t last = first;
	struct extent fresh[3];
	size_t n = 0;

	if (!reserve(x, 2))
		return -ENOMEM;
	if (first < x->count && x->list[first].start < from) {
		fresh[n] = x->list[first];
		fresh[n].len = from - fresh[n].start;
		n++;
	}
	if (e)
		fresh[n++] = *e;
	while (last < x->count && x->list[last].start < to)
		last++;
	if (last > first && end_of(&x->list[last - 1]) > to) {
		uint64_t skip = to - x->list[last - 1].start;

		fresh[n] = x->list[last - 1];
		fresh[n].start += skip;
		fresh[n].at += skip;
		fresh[n].len -= skip;
		n++;
	}
	splice(x, first, last - first, fresh, n);
	return 0;
}

/* Join extents i and i + 1, if the second one continues the first one. */
static void join(struct extents *x, size_t i)
{
	if (i + 1 >= x->count || !continues(&x->list[i], &x->list[i + 1]))
		return;
	x->list[i].len += x->list[i + 1].len;
	splice(x, i + 1, 1, NULL, 0);
}

int extents_put(struct extents *x, struct extent e)
{
	size_t i;
	int r;

	if (!e.len)
		return 0;
	if (x->count && continues(&x->list[x->count - 1], &e)) { /* writing in order */
		x->list[x->count - 1].len += e.len;
		return 0;
	}
	r = replace(x, e.start, end_of(&e), &e);
	if (r < 0)
		return r;
	i = extents_find(x, e.start);
	join(x, i);
	if (i)
		join(x, i - 1);
	return 0;
}

int extents_cut(struct extents *x, uint64_t from, uint64_t to)
{
	return from < to ? replace(x, from, to, NULL) : 0;
}

int extents_copy(struct extents *to, const struct extents *from)
{
	*to = (struct extents){ 0 };
	if (!from->count)
		return 0;
	if (!reserve(to, from->count))
		return -ENOMEM;
	memcpy(to->list, from->list, from->count * sizeof *from->list);
	to->count = from->count;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x;
	uint64_t y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

void extents_bulks(const struct extents *x, struct buf *numbers)
{
	size_t before = numbers->len;
	uint64_t *list;
	size_t count = 0;
	size_t i;

	for (i = 0; i < x->count; i++)
		if (!i || x->list[i].bulk != x->list[i - 1].bulk)
			buf_add(numbers, &x->list[i].bulk, sizeof x->list[i].bulk);
	if (numbers->failed || numbers->len == before)
		return;
	list = (uint64_t *)(void *)(numbers->data + before);
	qsort(list, (numbers->len - before) / sizeof *list, sizeof *list, compare_numbers);
	for (i = 0; i < (numbers->len - before) / sizeof *list; i++) {
		if (!count || list[count - 1] != list[i])
			list[count++] = list[i];
	}
	numbers->len = before + count * sizeof *list;
}

void extents_encode(const struct extents *x, struct buf *record)
{
	uint64_t end = 0;
	size_t i;

	record_number(record, x->count);
	for (i = 0; i < x->count; i++) {
		const struct extent *e = &x->list[i];

		record_number(record, e->start - end);
		record_number(record, e->len);
		record_number(record, e->bulk);
		record_number(record, e->at - e->start); /* mostly 0; wraps, and back */
		end = end_of(e);
	}
}

int extents_decode(struct span record, struct extents *x)
{
	struct record_reader r = { .left = record };
	uint64_t count = record_take_number(&r);
	uint64_t end = 0;

	if (r.bad || count > record.len)
		return -EIO;
	if (count && !reserve(x, count))
		return -ENOMEM;
	while (!r.bad && count--) {
		struct extent *e = &x->list[x->count];

		e->start = end + record_take_number(&r);
		e->len = record_take_number(&r);
		e->bulk = record_take_number(&r);
		e->at = e->start + record_take_number(&r);
		end = end_of(e);
		x->count++;
	}
	return r.bad ? -EIO : 0;
}
