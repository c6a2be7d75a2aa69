/*
 * Secrets: keys and passwords. They are overwritten before their memory is freed, and masked
 * in texts that people or files get.
 */
#ifndef BASE_NET_SECRETS_H
#define BASE_NET_SECRETS_H

#include "base/buf.h"

#define SECRETS_MAX 64
#define SECRET_MIN  8       /* bytes; a shorter text is no secret */
#define SECRET_MASK "[key]" /* in place of a secret, where people look */

/* Overwrite a text and free it; NULL is fine. */
void secret_free(char *text);

/* Overwrite the memory of a buf, and release the buf. */
void secret_wipe(struct buf *text);

/* All zero is none. The texts are borrowed. */
struct secrets {
	struct span list[SECRETS_MAX];
	size_t count;
	size_t shortest;  /* in place of SECRET_MIN; 0: SECRET_MIN */
	const char *mask; /* in place of SECRET_MASK; NULL: SECRET_MASK */
};

/* Add a secret; NULL and texts too short for a secret ("ollama") are passed over. */
void secrets_add(struct secrets *secrets, const char *value);
void secrets_add_span(struct secrets *secrets, struct span value);

/* Add the value of a header, and for "Bearer KEY" the key, which services repeat alone. */
void secrets_add_header(struct secrets *secrets, struct span value);

/* Add the user with the password of an address, and the password alone. url may be NULL. */
void secrets_add_url(struct secrets *secrets, const char *url);

/* Whether a text holds a secret. */
bool secrets_in(const struct secrets *secrets, struct span text);

/* Put the mask in place of each secret. */
void secrets_mask(const struct secrets *secrets, struct buf *text);

/* Put asterisks over each secret: all other bytes keep their places. */
void secrets_blank(const struct secrets *secrets, struct buf *text);

/* The length of a text without the start of a secret at its end: the text was cut at its maximal
 * length. */
size_t secrets_cut(const struct secrets *secrets, const char *text);

#endif
