/*
 * Patterns: the regular expressions of JSON Schema, which are JavaScript's,
 * matched with those of the C library.
 *
 * What both can say is translated: classes with \d \w \s and their opposites,
 * (?:groups), alternatives, quantifiers (lazy ones too), anchors, \b. What
 * POSIX has no words for, such as look-ahead, back references, \u and ranges
 * of characters beyond ASCII, is not.
 */
#ifndef RUNNER_PATTERN_H
#define RUNNER_PATTERN_H

#include "base/buf.h"

/*
 * Whether a part of the text (UTF-8) matches: 1 or 0. -ENOTSUP: the pattern
 * cannot be translated, or is none; -ENOMEM. Any thread.
 */
MUST_CHECK int pattern_match(const char *pattern, struct span text);

#endif
