/*
 * Words: each once, short, without case, and found again in what they were taken from.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "store/index/words.h"

/* A word by itself is that word. Of two characters that stand alone it is three. */
static void check_word(struct span word)
{
	CLEANUP(words_release) struct words again = { 0 };
	struct span left;
	struct span own;
	bool found = false;

	CHECK(word.len && word.len <= WORD_MAX);
	CHECK(utf8_is_valid(word));
	CHECK(!memchr(word.data, 0, word.len));
	CHECK(words_add(&again, word, NULL) == 0);
	CHECK(again.count >= 1 && again.count <= 3);
	for (left = buf_span(&again.list); words_take(&left, &own);)
		found |= span_equal(own, word);
	CHECK(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	CLEANUP(words_release) struct words words = { 0 };
	CLEANUP(words_release) struct words few = { .max = 3 };
	struct span left;
	struct span word;
	size_t count = 0;

	CHECK(words_add(&words, text, NULL) == 0);
	for (left = buf_span(&words.list); words_take(&left, &word); count++)
		check_word(word);
	CHECK(!left.len && count == words.count);
	CHECK(words_add(&words, text, NULL) == 0);
	CHECK(count == words.count);
	CHECK(words_add(&few, text, NULL) == 0);
	CHECK(few.count == MIN(count, 3));
	return 0;
}
