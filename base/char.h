/*
 * Characters of ASCII, independent of the locale.
 */
#ifndef BASE_CHAR_H
#define BASE_CHAR_H

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
