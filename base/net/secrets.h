/*
 * Secrets: keys and the like, taken out of texts that people or files get.
 */
#ifndef BASE_NET_SECRETS_H
#define BASE_NET_SECRETS_H

#include "base/buf.h"

#define SECRETS_MAX 64
#define SECRET_MASK "[key]" /* in place of a secret, where people look */

/* All zero is none. Borrowed. */
struct secrets {
	struct span list[SECRETS_MAX];
	size_t count;
};

/* Add one; NULL and what is too short to be a secret ("ollama") are passed over. */
void secrets_add(struct secrets *secrets, const char *value);

/* The same with a text that is part of another. */
void secrets_add_span(struct secrets *secrets, struct span value);

/* User and password of an address, and the password alone. NULL and an address without are fine. */
void secrets_add_url(struct secrets *secrets, const char *url);

/* Whether a text holds one. */
bool secrets_in(const struct secrets *secrets, struct span text);

/* Put the mask in place of each. */
void secrets_mask(const struct secrets *secrets, struct buf *text);

/* Put asterisks over each: all else stays where it is. */
void secrets_blank(const struct secrets *secrets, struct buf *text);

/* The text was cut at its maximal length: how much of it is before the start of a secret at its
 * end. */
size_t secrets_cut(const struct secrets *secrets, const char *text);

#endif
