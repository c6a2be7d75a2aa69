/*
 * Secrets: keys and passwords. They are overwritten before their memory is freed, and masked
 * in texts that people or files get.
 */
#ifndef BASE_NET_SECRETS_H
#define BASE_NET_SECRETS_H

#include "base/buf.h"

#define SECRETS_MAX 64
#define SECRET_MIN  8       /* bytes; a shorter text is not a secret */
#define SECRET_MASK "[key]" /* in place of a secret, where people look */

/* Overwrite a text and free it; NULL is fine. */
void secret_free(char *text);

/* Overwrite the memory of a buf, and release the buf. */
void secret_wipe(struct buf *text);

/* Texts to hide. All zero is an empty list. The texts are borrowed. */
struct secrets {
	struct span list[SECRETS_MAX];
	size_t count;
	size_t shortest;  /* bytes of the shortest secret; 0: SECRET_MIN */
	const char *mask; /* NULL: SECRET_MASK */
};

/* Add a secret; NULL and a text too short for a secret ("ollama") are ignored. */
void secrets_add(struct secrets *secrets, const char *value);
void secrets_add_span(struct secrets *secrets, struct span value);

/* Add the value of a header. For "Bearer KEY" add the key too, which services may repeat alone. */
void secrets_add_header(struct secrets *secrets, struct span value);

/* Add "USER:PASSWORD" of an address, and the password alone. url may be NULL. */
void secrets_add_url(struct secrets *secrets, const char *url);

/* Whether a text holds a secret. */
bool secrets_in(const struct secrets *secrets, struct span text);

/* Replace each secret by the mask. */
void secrets_mask(const struct secrets *secrets, struct buf *text);

/* Overwrite each secret with asterisks: all other bytes keep their places. */
void secrets_blank(const struct secrets *secrets, struct buf *text);

/*
 * The length of a text without the start of a secret at its end, which is there when the text was
 * cut at its maximum.
 */
size_t secrets_cut(const struct secrets *secrets, const char *text);

#endif
