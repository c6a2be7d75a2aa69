/*
 * Secrets: see secrets.h.
 */
#include "base/net/secrets.h"

#include "base/net/url.h"

#include <stdlib.h>

#define BLANK '*'

void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void secret_wipe(struct buf *text)
{
	if (text->data)
		explicit_bzero(text->data, text->cap);
	buf_release(text);
}

void secrets_add_span(struct secrets *secrets, struct span value)
{
	size_t shortest = secrets->shortest ? secrets->shortest : SECRET_MIN;

	if (value.len >= shortest && secrets->count < SECRETS_MAX)
		secrets->list[secrets->count++] = value;
}

void secrets_add(struct secrets *secrets, const char *value)
{
	secrets_add_span(secrets, span_of(value));
}

void secrets_add_header(struct secrets *secrets, struct span value)
{
	const char *first = memchr(value.data, ' ', value.len);
	const char *last = memrchr(value.data, ' ', value.len);

	secrets_add_span(secrets, value);
	if (first)
		secrets_add_span(secrets,
				 span_sub(value, (size_t)(first + 1 - value.data), value.len));
	if (last != first)
		secrets_add_span(secrets,
				 span_sub(value, (size_t)(last + 1 - value.data), value.len));
}

void secrets_add_url(struct secrets *secrets, const char *url)
{
	struct span user = url ? url_userinfo(url) : (struct span){ 0 };
	const char *colon = user.data ? memchr(user.data, ':', user.len) : NULL;

	secrets_add_span(secrets, user);
	if (colon)
		secrets_add_span(secrets,
				 span_sub(user, (size_t)(colon + 1 - user.data), user.len));
}

bool secrets_in(const struct secrets *secrets, struct span text)
{
	size_t i;

	for (i = 0; i < secrets->count; i++) {
		if (memmem(text.data, text.len, secrets->list[i].data, secrets->list[i].len))
			return true;
	}
	return false;
}

static void mask_one(struct buf *text, struct span secret, const char *mask)
{
	CLEANUP(buf_release) struct buf clean = { 0 };
	struct span rest = buf_span(text);
	const char *hit;

	if (!memmem(rest.data, rest.len, secret.data, secret.len))
		return;
	while ((hit = memmem(rest.data, rest.len, secret.data, secret.len))) {
		buf_add(&clean, rest.data, (size_t)(hit - rest.data));
		buf_text(&clean, mask);
		rest = span_sub(rest, (size_t)(hit - rest.data) + secret.len, rest.len);
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
		mask_one(text, secrets->list[i], secrets->mask ? secrets->mask : SECRET_MASK);
}

void secrets_blank(const struct secrets *secrets, struct buf *text)
{
	size_t i;

	for (i = 0; text->len && i < secrets->count; i++) {
		struct span secret = secrets->list[i];
		char *end = text->data + text->len;
		char *at = text->data;

		while ((at = memmem(at, (size_t)(end - at), secret.data, secret.len))) {
			memset(at, BLANK, secret.len);
			at += secret.len;
		}
	}
}

size_t secrets_cut(const struct secrets *secrets, const char *text)
{
	size_t len = strlen(text);
	size_t best = len;
	size_t i;

	for (i = 0; i < secrets->count; i++) {
		size_t n = MIN(secrets->list[i].len, len);

		for (; n >= SECRET_MIN / 2; n--) {
			if (memcmp(text + len - n, secrets->list[i].data, n) == 0)
				best = MIN(best, len - n);
		}
	}
	return best;
}
