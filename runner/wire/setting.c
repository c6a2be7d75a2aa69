/*
 * Names of settings: see setting.h.
 */
#include "runner/wire/setting.h"

#include "base/net/http.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

size_t model_setting_prefix(const struct model_provider *provider, char out[MODEL_SETTING_MAX])
{
	const char *name = provider->section ? provider->section : provider->name;
	size_t n;

	for (n = 0; name[n] && n < MODEL_SETTING_MAX / 2; n++)
		out[n] = isalnum((unsigned char)name[n]) ? (char)toupper((unsigned char)name[n])
							 : '_';
	out[n++] = '_';
	out[n] = 0;
	return n;
}

void model_common_name(const struct model_provider *provider, enum model_common which,
		       char out[MODEL_SETTING_MAX])
{
	static const char *const suffixes[] = {
		[MODEL_COMMON_HEADERS] = "CUSTOM_HEADERS",
		[MODEL_COMMON_PROXY] = "PROXY",
		[MODEL_COMMON_CA_FILE] = "CA_FILE",
	};
	size_t n = model_setting_prefix(provider, out);

	(void)snprintf(out + n, MODEL_SETTING_MAX - n, "%s", suffixes[which]);
}

void model_command_name(const char *key, char out[MODEL_SETTING_MAX])
{
	(void)snprintf(out, MODEL_SETTING_MAX, "%s_COMMAND", key);
}

const struct model_setting *model_first_key(const struct model_provider *provider)
{
	const struct model_setting *s;

	for (s = provider->settings; s && s->name; s++) {
		if (s->kind == MODEL_KEY)
			return s;
	}
	return NULL;
}

/* Whether libcurl itself writes this header. */
static bool is_framing(struct span name)
{
	static const char *const names[] = { "content-length", "transfer-encoding", "expect" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (name.len == strlen(names[i]) && !strncasecmp(name.data, names[i], name.len))
			return true;
	}
	return false;
}

struct model_header_line model_header_parse(struct span text)
{
	struct model_header_line line = { .text = text };
	const char *colon = memchr(text.data, ':', text.len);
	size_t n = colon ? (size_t)(colon - text.data) : 0;

	line.name = span_sub(text, 0, n);
	line.value = span_sub(text, colon ? n + 1 : text.len, text.len);
	while (line.value.len && (line.value.data[0] == ' ' || line.value.data[0] == '\t'))
		line.value = span_sub(line.value, 1, line.value.len);
	line.is_valid = colon && http_is_token(line.name) && !is_framing(line.name);
	return line;
}

bool model_header_next(struct span *rest, struct model_header_line *line)
{
	while (rest->len) {
		const char *lf = memchr(rest->data, '\n', rest->len);
		size_t n = lf ? (size_t)(lf - rest->data) : rest->len;
		struct span text = span_sub(*rest, 0, n);

		*rest = span_sub(*rest, n + (lf != NULL), rest->len);
		text = span_trim_end(text);
		if (text.len) {
			*line = model_header_parse(text);
			return true;
		}
	}
	return false;
}
