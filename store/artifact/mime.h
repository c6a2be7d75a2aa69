/*
 * MIME types, guessed from the content and the name of a file.
 */
#ifndef STORE_ARTIFACT_MIME_H
#define STORE_ARTIFACT_MIME_H

#include "base/buf.h"

#define MIME_LOOK_BYTES 65536 /* bytes of a file that are enough */

/*
 * Write the type to `out`, an array of `size` bytes; application/octet-stream if it is unknown.
 * head: the first bytes of the file. Any thread.
 */
void mime_guess(struct span head, const char *name, char *out, size_t size);

#endif
