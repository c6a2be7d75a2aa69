/*
 * Surrogates: halves of characters that a server cut apart.
 *
 * A server that slices UTF-16 strings sends "\ud83d" at the end of one piece
 * and "\ude00" at the start of the next. Neither piece is valid JSON. So the
 * JSON text is mended before it is read: a lone half becomes a character of a
 * private plane (U+F0000 plus the half, F3 BD A0..BF xx in UTF-8). When the
 * pieces are put together, two halves that meet become the character they
 * are, and an orphan becomes U+FFFD.
 */
#ifndef RUNNER_SYNTAX_SURROGATE_H
#define RUNNER_SYNTAX_SURROGATE_H

#include "base/buf.h"

/* Whether a JSON text has a lone surrogate escape. */
bool surrogate_lone(struct span json);

/* Append the JSON text with lone surrogate escapes made private characters. */
void surrogate_mark(struct span json, struct buf *out);

/* Append the JSON text with lone surrogate escapes made \ufffd. */
void surrogate_drop(struct span json, struct buf *out);

/* What joins the pieces of one text: a high half that waits for its low half. 0: none. */
struct surrogate_joint {
	unsigned high;
};

/* Append a decoded piece, which surrogate_mark had been applied to. */
void surrogate_join(struct surrogate_joint *joint, struct span piece, struct buf *out);

/*
 * Append the string that a token of a checked text stands for. marked: surrogate_mark() had
 * something to do in that text. -ENOMEM.
 */
MUST_CHECK int surrogate_unquote(struct surrogate_joint *joint, struct span token, bool marked,
				 struct buf *out);

/* The text is over: an orphan that still waits becomes U+FFFD. */
void surrogate_finish(struct surrogate_joint *joint, struct buf *out);

#endif
