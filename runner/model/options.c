/*
 * How models are asked: see options.h.
 */
#include "runner/model/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static const struct ask_option {
	const char *setting;
	size_t at;
	unsigned value; /* when it is not set */
	unsigned max;
} ask_options[] = {
	{ "ADKFS_MODEL_RETRIES", offsetof(struct model_ask_options, retries), 2, 10 },
	{ "ADKFS_MODEL_CONNECT_MS", offsetof(struct model_ask_options, limits.connect_ms), 10000,
	  600000 },
	{ "ADKFS_MODEL_FIRST_BYTE_MS", offsetof(struct model_ask_options, limits.first_byte_ms),
	  600000, 86400000 },
	{ "ADKFS_MODEL_IDLE_MS", offsetof(struct model_ask_options, limits.idle_ms), 120000,
	  86400000 },
};

static int option_read(const struct settings *settings, const struct ask_option *o, unsigned *out,
		       struct err *err)
{
	const char *text = settings_get(settings, o->setting);
	char *end;
	unsigned long value;

	*out = o->value;
	if (!text)
		return 0;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value > o->max)
		return err_set(err, -EINVAL, "%s is not a number from 0 to %u", o->setting, o->max);
	*out = (unsigned)value;
	return 0;
}

int model_ask_options_read(const struct settings *settings, struct model_ask_options *out,
			   struct err *err)
{
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_SIZE(ask_options); i++) {
		unsigned *value = (unsigned *)(void *)((char *)out + ask_options[i].at);

		r = option_read(settings, &ask_options[i], value, err);
	}
	return r;
}

int model_ask_options_show(json_t *into)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(ask_options); i++) {
		const struct ask_option *o = &ask_options[i];
		const char *from = settings_get(NULL, o->setting) ? "environment" : "default";
		unsigned n;
		json_t *value = option_read(NULL, o, &n, NULL) < 0 ? json_string("not a number")
								   : json_integer(n);

		r = json_object_set_new(into, o->setting,
					json_pack("{s:o, s:s}", "value", value, "from", from));
	}
	return r < 0 ? -ENOMEM : 0;
}
