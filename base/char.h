/*
 * Characters of ASCII, independent of the locale.
 */
#ifndef BASE_CHAR_H
#define BASE_CHAR_H

#include <stdbool.h>

/* True for space, tab, CR and LF, which are also the white space of JSON. */
static inline bool char_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The value of a hex digit of either case; -1 for any other character. */
static inline int char_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a hex digit in upper case; -1 for any other character. */
static inline int char_hex_upper(char c)
{
	return c >= 'a' ? -1 : char_hex(c);
}

#endif
