/*
 * Words: see words.h.
 */
#include "store/index/words.h"

#include "base/utf8.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <wctype.h>

#define SLOTS_AT_START 256

/* The classes of Unicode. If they cannot be loaded, each character beyond ASCII is a letter. */
static locale_t unicode;

static void load_unicode(void)
{
	unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

enum char_class {
	CLASS_OTHER,  /* ends a word */
	CLASS_LETTER, /* a letter or digit of a script with blanks */
	CLASS_ALONE,  /* a letter of a script without blanks: a word alone */
	CLASS_MARK,   /* a combining accent: ignored */
};

/* Characters of scripts without blanks, in ascending order. */
static const struct {
	uint32_t from;
	uint32_t to;
} alone[] = {
	{ 0x0e01, 0x0e3a },   { 0x0e40, 0x0e4e }, /* Thai */
	{ 0x0e81, 0x0ecd },   { 0x0edc, 0x0edf }, /* Lao */
	{ 0x1000, 0x103f },   { 0x1050, 0x108f }, /* Burmese */
	{ 0x1780, 0x17d3 },                       /* Khmer */
	{ 0x3005, 0x3007 },   { 0x3041, 0x3096 }, /* signs that stand for Han; Hiragana */
	{ 0x309d, 0x309f },   { 0x30a1, 0x30fa }, /* Katakana */
	{ 0x30fc, 0x30ff },   { 0x31f0, 0x31ff }, /* ... */
	{ 0x3400, 0x4dbf },   { 0x4e00, 0x9fff }, /* Han */
	{ 0xf900, 0xfaff },   { 0xff66, 0xff9f }, /* ...; Katakana of half width */
	{ 0x20000, 0x3ffff },                     /* more Han */
};

static bool stands_alone(uint32_t c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alone) && c >= alone[i].from; i++) {
		if (c <= alone[i].to)
			return true;
	}
	return false;
}

static enum char_class class_of(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ? CLASS_LETTER
									: CLASS_OTHER;
	if (c >= 0x300 && c <= 0x36f)
		return CLASS_MARK;
	if (stands_alone(c))
		return CLASS_ALONE;
	return !unicode || iswalnum_l((wint_t)c, unicode) ? CLASS_LETTER : CLASS_OTHER;
}

/* Letters that differ in case only become one. */
static uint32_t fold(uint32_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c + ('a' - 'A');
	if (c >= 0xff01 && c <= 0xff5e) /* ASCII of full width */
		return fold(c - 0xfee0);
	if (c < 0x80 || !unicode)
		return c;
	/* Twice, because a capital may have two small forms, such as those of sigma. */
	return (uint32_t)towlower_l(towupper_l((wint_t)c, unicode), unicode);
}

/* A word that grows. */
struct growing {
	size_t len;
	char data[WORD_MAX];
	bool is_cut;
};

static void put_char(struct growing *g, uint32_t c)
{
	char b[UTF8_LEN_MAX];
	size_t n = utf8_encode(c, b);

	g->is_cut |= g->len + n > sizeof g->data;
	if (g->is_cut)
		return;
	memcpy(g->data + g->len, b, n);
	g->len += n;
}

/* Words are shorter than 128 bytes: their length is one byte of the record. */
static struct span word_at(const struct words *w, uint32_t slot)
{
	const char *at = w->list.data + slot - 1;

	return (struct span){ at + 1, (size_t)*at };
}

static uint32_t *slot_of(const struct words *w, struct span word)
{
	size_t count;
	uint32_t *slots = BUF_LIST(uint32_t, &w->slots, &count);
	size_t i = span_hash(word) & (count - 1);

	while (slots[i] && !span_equal(word_at(w, slots[i]), word))
		i = (i + 1) & (count - 1);
	return &slots[i];
}

/* Twice the slots, at least half of them free. */
static int grow(struct words *w, struct err *err)
{
	size_t count = MAX(w->slots.len / sizeof(uint32_t) * 2, SLOTS_AT_START);
	struct buf slots = { 0 };
	struct span left = buf_span(&w->list);
	struct span word;

	if (!buf_reserve(&slots, count * sizeof(uint32_t)))
		return err_nomem(err);
	slots.len = count * sizeof(uint32_t);
	memset(slots.data, 0, slots.len);
	buf_release(&w->slots);
	w->slots = slots;
	while (words_take(&left, &word))
		*slot_of(w, word) = (uint32_t)(word.data - w->list.data);
	return 0;
}

static bool is_full(const struct words *w)
{
	return w->max ? w->count >= w->max : w->list.len + WORD_MAX + 1 > WORDS_BYTES_MAX;
}

static int add_word(struct words *w, struct growing *g, struct err *err)
{
	struct span word = { g->data, g->len };
	uint32_t *slot;

	g->len = 0;
	g->is_cut = false;
	if (!word.len || is_full(w))
		return 0;
	if ((w->count + 1) * 2 > w->slots.len / sizeof *slot && grow(w, err) < 0)
		return -ENOMEM;
	slot = slot_of(w, word);
	if (*slot)
		return 0;
	*slot = (uint32_t)w->list.len + 1;
	w->count++;
	record_text(&w->list, word);
	return buf_check(&w->list, err);
}

/* A character without blanks around it, and the pair that it makes with the one before. */
static int add_alone(struct words *w, uint32_t before, uint32_t c, struct err *err)
{
	struct growing g = { 0 };
	int r;

	put_char(&g, c);
	r = add_word(w, &g, err);
	if (r < 0 || !before)
		return r;
	put_char(&g, before);
	put_char(&g, c);
	return add_word(w, &g, err);
}

int words_add(struct words *w, struct span text, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct growing g = { 0 };
	uint32_t before = 0; /* the last character, if it stood alone */
	int r = 0;

	(void)pthread_once(&once, load_unicode);
	while (r == 0 && text.len && !is_full(w)) {
		uint32_t taken = utf8_take(&text);
		uint32_t c = taken == UTF8_INVALID ? ' ' : fold(taken);
		enum char_class class = class_of(c);

		if (class == CLASS_MARK)
			continue;
		if (class == CLASS_LETTER)
			put_char(&g, c);
		else
			r = add_word(w, &g, err);
		if (r == 0 && class == CLASS_ALONE)
			r = add_alone(w, before, c, err);
		before = class == CLASS_ALONE ? c : 0;
	}
	return r < 0 ? r : add_word(w, &g, err);
}

bool words_take(struct span *list, struct span *word)
{
	struct record_reader r = { .left = *list };

	if (!r.left.len)
		return false;
	*word = record_take_text(&r);
	*list = r.left;
	return !r.bad;
}

void words_release(struct words *w)
{
	buf_release(&w->list);
	buf_release(&w->slots);
}
