/*
 * MIME types, told from content and name.
 */
#ifndef STORE_ARTIFACT_MIME_H
#define STORE_ARTIFACT_MIME_H

#include "base/buf.h"

#define MIME_LOOK_BYTES 65536 /* how much of the content is looked at */

/* The type into a field of that size; application/octet-stream when nothing fits. Any thread. */
void mime_guess(struct span head, const char *name, char *out, size_t size);

#endif
