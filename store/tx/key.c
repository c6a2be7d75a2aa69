/*
 * Keys of the store: see key.h.
 */
#include "store/tx/key.h"

static void put_bytes(struct key *k, const void *data, size_t len)
{
	len = MIN(len, KEY_MAX - k->len); /* ids and names are checked to be short before */
	memcpy(k->data + k->len, data, len);
	k->len += len;
}

static void put_number(struct key *k, uint64_t value)
{
	char b[8];
	int i;

	for (i = 0; i < 8; i++)
		b[i] = (char)(value >> (56 - 8 * i));
	put_bytes(k, b, sizeof b);
}

struct key key_space(enum key_space space)
{
	struct key k = { .len = 1 };

	k.data[0] = (char)space;
	return k;
}

struct key key_1(enum key_space space, uint64_t a)
{
	struct key k = key_space(space);

	put_number(&k, a);
	return k;
}

struct key key_2(enum key_space space, uint64_t a, uint64_t b)
{
	struct key k = key_1(space, a);

	put_number(&k, b);
	return k;
}

struct key key_3(enum key_space space, uint64_t a, uint64_t b, uint64_t c)
{
	struct key k = key_2(space, a, b);

	put_number(&k, c);
	return k;
}

struct key key_dir(enum key_space space, uint64_t parent, enum key_kind kind)
{
	struct key k = key_1(space, parent);
	char c = (char)kind;

	put_bytes(&k, &c, 1);
	return k;
}

struct key key_name(uint64_t parent, enum key_kind kind, struct span name)
{
	struct key k = key_dir(KEY_NAME, parent, kind);

	put_bytes(&k, name.data, name.len);
	return k;
}

struct key key_item(uint64_t parent, enum key_kind kind, uint64_t item)
{
	struct key k = key_dir(KEY_ITEM, parent, kind);

	put_number(&k, item);
	return k;
}

struct key key_event(uint64_t session, struct span id)
{
	struct key k = key_1(KEY_EVENT, session);

	put_bytes(&k, id.data, id.len);
	return k;
}

struct key key_word(uint64_t user, struct span word)
{
	struct key k = key_1(KEY_WORD, user);

	put_bytes(&k, word.data, word.len);
	put_bytes(&k, "", 1);
	return k;
}

struct key key_posting(uint64_t user, struct span word, uint64_t link, uint64_t start)
{
	struct key k = key_word(user, word);

	put_number(&k, link);
	put_number(&k, start);
	return k;
}

struct key key_after(struct key prefix)
{
	while (prefix.len && (unsigned char)prefix.data[prefix.len - 1] == 0xff)
		prefix.len--;
	if (prefix.len)
		prefix.data[prefix.len - 1]++;
	return prefix;
}

struct key key_from(struct span bytes)
{
	struct key k = { 0 };

	put_bytes(&k, bytes.data, bytes.len);
	return k;
}

struct key key_next(struct span key)
{
	struct key k = key_from(key);

	put_bytes(&k, "", 1);
	return k;
}

static uint64_t number_at(struct span key, size_t at)
{
	uint64_t value = 0;
	size_t i;

	for (i = at; i < at + 8 && i < key.len; i++)
		value = value << 8 | (unsigned char)key.data[i];
	return value;
}

uint64_t key_last_number(struct span key)
{
	return number_at(key, key.len - 8);
}

uint64_t key_second_last_number(struct span key)
{
	return number_at(key, key.len - 16);
}

uint64_t key_first_number(struct span key)
{
	return number_at(key, 1);
}

bool key_is_item(struct span key, enum key_kind kind)
{
	return key.len == 18 && key.data[9] == (char)kind;
}

struct span key_name_of(struct span key)
{
	return span_sub(key, 10, key.len);
}

struct span key_event_id(struct span key)
{
	return span_sub(key, 9, key.len);
}
