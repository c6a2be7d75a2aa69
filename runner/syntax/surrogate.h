/*
 * Surrogates: halves of characters that a server cut apart.
 *
 * A server that slices UTF-16 strings sends "\ud83d" at the end of one piece
 * and "\ude00" at the start of the next. Neither piece is valid JSON. So the
 * JSON text is changed before it is read: a lone half becomes a character of a
 * private plane (U+F0000 plus the half, F3 BD A0..BF xx in UTF-8). When the
 * pieces are joined, two halves that meet become their character again, and a
 * half that stays alone becomes U+FFFD.
 */
#ifndef RUNNER_SYNTAX_SURROGATE_H
#define RUNNER_SYNTAX_SURROGATE_H

#include "base/buf.h"

/* Whether a JSON text has a lone surrogate escape. */
bool surrogate_lone(struct span json);

/* Append the JSON text, with private characters in place of lone surrogate escapes. */
void surrogate_mark(struct span json, struct buf *out);

/* Append the JSON text, with \ufffd in place of lone surrogate escapes. */
void surrogate_drop(struct span json, struct buf *out);

/* State between the pieces of one text: a high half that waits for its low half. 0: none. */
struct surrogate_joint {
	unsigned high;
};

/* Append a decoded piece of a text that surrogate_mark() changed. */
void surrogate_join(struct surrogate_joint *joint, struct span piece, struct buf *out);

/*
 * Append the string that a token of a checked text stands for. marked: surrogate_mark()
 * changed that text. 0 or -ENOMEM.
 */
MUST_CHECK int surrogate_unquote(struct surrogate_joint *joint, struct span token, bool marked,
				 struct buf *out);

/* End the text: a high half that still waits becomes U+FFFD. */
void surrogate_finish(struct surrogate_joint *joint, struct buf *out);

#endif
