/*
 * Secrets: see secrets.h.
 */
#include "runner/secrets.h"

#define SECRET_MIN 8 /* bytes */
#define BLANK      '*'

void secrets_add(struct secrets *secrets, const char *value)
{
	if (value && strlen(value) >= SECRET_MIN && secrets->count < SECRETS_MAX)
		secrets->list[secrets->count++] = value;
}

bool secrets_in(const struct secrets *secrets, const char *text)
{
	size_t i;

	for (i = 0; i < secrets->count; i++) {
		if (strstr(text, secrets->list[i]))
			return true;
	}
	return false;
}

static void mask(struct buf *text, const char *secret)
{
	CLEANUP(buf_release) struct buf clean = { 0 };
	struct span rest = buf_span(text);
	size_t n = strlen(secret);
	const char *hit;

	if (!memmem(rest.data, rest.len, secret, n))
		return;
	while ((hit = memmem(rest.data, rest.len, secret, n))) {
		buf_add(&clean, rest.data, (size_t)(hit - rest.data));
		buf_text(&clean, SECRET_MASK);
		rest = span_sub(rest, (size_t)(hit - rest.data) + n, rest.len);
	}
	buf_span_add(&clean, rest);
	buf_clear(text);
	text->failed = clean.failed;
	buf_span_add(text, buf_span(&clean));
}

void secrets_mask(const struct secrets *secrets, struct buf *text)
{
	size_t i;

	for (i = 0; i < secrets->count; i++)
		mask(text, secrets->list[i]);
}

void secrets_blank(const struct secrets *secrets, struct buf *text)
{
	size_t i;
	char *hit;

	for (i = 0; text->len && i < secrets->count; i++) {
		size_t n = strlen(secrets->list[i]);

		while ((hit = memmem(text->data, text->len, secrets->list[i], n)))
			memset(hit, BLANK, n);
	}
}

size_t secrets_cut(const struct secrets *secrets, const char *text)
{
	size_t len = strlen(text);
	size_t best = len;
	size_t i;

	for (i = 0; i < secrets->count; i++) {
		size_t n = MIN(strlen(secrets->list[i]), len);

		for (; n >= SECRET_MIN / 2; n--) {
			if (memcmp(text + len - n, secrets->list[i], n) == 0)
				best = MIN(best, len - n);
		}
	}
	return best;
}
