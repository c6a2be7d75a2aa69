/*
 * Records: see record.h.
 */
#include "store/tx/record.h"

void record_number(struct buf *out, uint64_t value)
{
	char b[10];
	size_t n = 0;

	while (value >= 0x80) {
		b[n++] = (char)(value | 0x80);
		value >>= 7;
	}
	b[n++] = (char)value;
	buf_add(out, b, n);
}

void record_text(struct buf *out, struct span text)
{
	record_number(out, text.len);
	buf_span_add(out, text);
}

uint64_t record_take_number(struct record_reader *r)
{
	uint64_t value = 0;
	size_t i;

	if (!r->left.len)
		return 0; /* written by an older version */
	for (i = 0; i < r->left.len && i < 10; i++) {
		value |= (uint64_t)(r->left.data[i] & 0x7f) << (7 * i);
		if (!(r->left.data[i] & 0x80)) {
			r->left = span_sub(r->left, i + 1, r->left.len);
			return value;
		}
	}
	r->bad = true;
	return 0;
}

struct span record_take_text(struct record_reader *r)
{
	uint64_t len = record_take_number(r);
	struct span text = { "", 0 };

	if (r->bad || len > r->left.len) {
		r->bad = true;
		return text;
	}
	text = span_sub(r->left, 0, len);
	r->left = span_sub(r->left, len, r->left.len);
	return text;
}

static uint64_t number_of(const struct record_field *f, const void *member)
{
	uint64_t number;
	uint32_t small;

	if (f->size == sizeof(bool))
		return *(const bool *)member;
	if (f->size == sizeof small) {
		memcpy(&small, member, sizeof small);
		return small;
	}
	memcpy(&number, member, sizeof number);
	return number;
}

static void set_number(const struct record_field *f, void *member, uint64_t number)
{
	uint32_t small = (uint32_t)number;

	if (f->size == sizeof(bool))
		*(bool *)member = number;
	else if (f->size == sizeof small)
		memcpy(member, &small, sizeof small);
	else
		memcpy(member, &number, sizeof number);
}

void record_put(const struct record_field *fields, const void *object, struct buf *out)
{
	const struct record_field *f;

	for (f = fields; f->kind; f++) {
		const char *member = (const char *)object + f->at;

		if (f->kind == RECORD_TEXT)
			record_text(out, span_of(member));
		else
			record_number(out, f->kind == RECORD_GONE ? 0 : number_of(f, member));
	}
}

void record_take(const struct record_field *fields, struct record_reader *r, void *object)
{
	const struct record_field *f;

	for (f = fields; f->kind; f++) {
		char *member = (char *)object + f->at;
		struct span text;

		if (f->kind == RECORD_GONE) {
			(void)record_take_number(r);
			continue;
		}
		if (f->kind == RECORD_NUMBER) {
			set_number(f, member, record_take_number(r));
			continue;
		}
		text = record_take_text(r);
		if (text.len >= f->size) {
			r->bad = true;
			text.len = 0;
		}
		memcpy(member, text.data, text.len);
		member[text.len] = 0;
	}
}
