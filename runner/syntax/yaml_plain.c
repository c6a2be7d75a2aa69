/*
 * Plain scalars of YAML 1.1: see yaml_plain.h.
 */
#include "runner/syntax/yaml_plain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Copy a text without its underscores, which only make numbers easier to read. */
static void without_underscores(const char *text, char *out)
{
	for (; *text; text++) {
		if (*text != '_')
			*out++ = *text;
	}
	*out = 0;
}

static int whole_number(const char *text, int base, long long *out)
{
	bool negative = *text == '-';
	long long value;
	char *end;

	if (*text == '-' || *text == '+')
		text++;
	if (base == 2 || base == 16)
		text += 2;
	errno = 0;
	value = strtoll(text, &end, base);
	if (errno == ERANGE || end == text || *end)
		return -EINVAL;
	*out = negative ? -value : value;
	return 0;
}

static json_t *read_whole(const char *text, int base)
{
	long long value;

	return whole_number(text, base, &value) < 0 ? NULL : json_integer(value);
}

static json_t *read_null(const char *text UNUSED)
{
	return json_null();
}

static json_t *read_bool(const char *text)
{
	return json_boolean(*text == 'y' || *text == 'Y' || *text == 't' || *text == 'T' ||
			    !strcasecmp(text, "on"));
}

static json_t *read_binary(const char *text)
{
	return read_whole(text, 2);
}

static json_t *read_octal(const char *text)
{
	return read_whole(text, 8);
}

static json_t *read_decimal(const char *text)
{
	return read_whole(text, 10);
}

static json_t *read_hex(const char *text)
{
	return read_whole(text, 16);
}

static json_t *read_float(const char *text)
{
	double value = strtod(text, NULL);

	return isfinite(value) ? json_real(value) : NULL;
}

/* 1:30 and 1:30.5: digits of base 60. */
static double sum_sixties(const char *text)
{
	bool negative = *text == '-';
	double value = 0;
	char *end;

	if (*text == '-' || *text == '+')
		text++;
	for (;; text = end + 1) {
		value = value * 60 + strtod(text, &end);
		if (*end != ':')
			return negative ? -value : value;
	}
}

static json_t *read_sixties(const char *text)
{
	double value = sum_sixties(text);

	return fabs(value) < 0x1p53 ? json_integer((long long)value) : NULL;
}

static json_t *read_float_sixties(const char *text)
{
	double value = sum_sixties(text);

	return isfinite(value) ? json_real(value) : NULL;
}

static json_t *read_no_number(const char *text UNUSED)
{
	return NULL;
}

/* The forms of plain scalars in YAML 1.1 and in Python's loader. */
static const struct form {
	const char *tag;
	const char *pattern;
	json_t *(*read)(const char *text); /* NULL: JSON has no such value */
} forms[YAML_PLAIN_FORMS] = {
	{ "null", "^(~|null|Null|NULL|)$", read_null },
	{ "bool",
	  "^(yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|"
	  "on|On|ON|off|Off|OFF)$",
	  read_bool },
	{ "int", "^[-+]?0b[01_]+$", read_binary },
	{ "int", "^[-+]?0[0-7_]+$", read_octal },
	{ "int", "^[-+]?(0|[1-9][0-9_]*)$", read_decimal },
	{ "int", "^[-+]?0x[0-9a-fA-F_]+$", read_hex },
	{ "int", "^[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+$", read_sixties },
	{ "float", "^([-+]?[0-9][0-9_]*\\.[0-9_]*|\\.[0-9][0-9_]*)([eE][-+][0-9]+)?$", read_float },
	{ "float", "^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*$", read_float_sixties },
	{ "float", "^([-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN))$", read_no_number },
};

int yaml_plain_init(struct yaml_plain *plain)
{
	size_t i;

	for (i = 0; i < YAML_PLAIN_FORMS; i++) {
		if (!regcomp(&plain->forms[i], forms[i].pattern, REG_EXTENDED | REG_NOSUB))
			continue;
		while (i-- > 0)
			regfree(&plain->forms[i]);
		return -ENOMEM;
	}
	return 0;
}

void yaml_plain_release(struct yaml_plain *plain)
{
	size_t i;

	for (i = 0; i < YAML_PLAIN_FORMS; i++)
		regfree(&plain->forms[i]);
}

static const struct form *form_of(const struct yaml_plain *plain, struct span text)
{
	size_t i;

	if (text.len > YAML_PLAIN_MAX || strlen(text.data) != text.len)
		return NULL;
	for (i = 0; i < YAML_PLAIN_FORMS; i++) {
		if (!regexec(&plain->forms[i], text.data, 0, NULL, 0))
			return &forms[i];
	}
	return NULL;
}

int yaml_plain_read(const struct yaml_plain *plain, struct span text, const char **tag,
		    json_t **out)
{
	const struct form *form = form_of(plain, text);
	char digits[YAML_PLAIN_MAX + 1];
	json_t *value;

	if (!form)
		return -ENOENT;
	without_underscores(text.data, digits);
	value = form->read(digits);
	if (!value)
		return -ERANGE;
	*tag = form->tag;
	*out = value;
	return 0;
}
