/*
 * Members of sections in the settings file: see member.h.
 */
#include "runner/model/member.h"

#include "runner/model/ask.h"
#include "runner/wire/setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

const struct model_provider *model_provider_named(const char *name)
{
	const struct model_provider *const *providers;
	const char *const *word;
	size_t count;
	size_t i;

	providers = model_providers(&count);
	for (i = 0; i < count; i++) {
		if (!providers[i]->settings || providers[i]->section)
			continue;
		if (!strcmp(providers[i]->name, name))
			return providers[i];
		for (word = providers[i]->spellings; word && *word; word++) {
			if (!strcmp(*word, name))
				return providers[i];
		}
	}
	return NULL;
}

/* A member that a section may have. */
struct candidate {
	const char *member;
	const char *setting;
	enum model_member_kind kind;
};

typedef bool candidate_fn(void *arg, const struct candidate *c);

/* "OPENAI_BASE_URL" as "base_url" */
static void put_member(const struct model_provider *provider, const char *setting,
		       char out[MODEL_SETTING_MAX])
{
	char prefix[MODEL_SETTING_MAX];
	size_t n = model_setting_prefix(provider, prefix);
	size_t i;

	if (strncmp(setting, prefix, n) == 0 && setting[n])
		setting += n;
	for (i = 0; setting[i] && i < MODEL_SETTING_MAX - 1; i++)
		out[i] = (char)tolower((unsigned char)setting[i]);
	out[i] = 0;
}

/* Call fn with a setting, and if it is a key, with its command. True: fn wants no more. */
static bool offer(const char *member, const struct model_setting *s, candidate_fn *fn, void *arg)
{
	char command_member[MODEL_SETTING_MAX];
	char command[MODEL_SETTING_MAX];

	if (fn(arg, &(struct candidate){ member, s->name, MEMBER_TEXT }))
		return true;
	if (s->kind != MODEL_KEY)
		return false;
	(void)snprintf(command_member, sizeof command_member, "%.*s_command",
		       MODEL_SETTING_MAX - 10, member);
	model_command_name(s->name, command);
	return fn(arg, &(struct candidate){ command_member, command, MEMBER_COMMAND });
}

static bool each_of_table(const struct model_provider *provider, candidate_fn *fn, void *arg)
{
	const struct model_setting *first = model_first_key(provider);
	const struct model_setting *s;
	char member[MODEL_SETTING_MAX];

	for (s = provider->settings; s && s->name; s++) {
		put_member(provider, s->name, member);
		if (s == first && strcmp(member, "api_key") != 0 && offer("api_key", s, fn, arg))
			return true;
		if (offer(member, s, fn, arg))
			return true;
	}
	return false;
}

/* The members that every section may have. */
static const struct common {
	const char *member;
	enum model_member_kind kind;
} commons[] = {
	[MODEL_COMMON_HEADERS] = { "headers", MEMBER_HEADERS },
	[MODEL_COMMON_PROXY] = { "proxy", MEMBER_TEXT },
	[MODEL_COMMON_CA_FILE] = { "ca_file", MEMBER_TEXT },
};

static bool each_candidate(const struct model_provider *provider, candidate_fn *fn, void *arg)
{
	const struct model_alias *alias;
	char name[MODEL_SETTING_MAX];
	unsigned which;

	for (alias = provider->aliases; alias && alias->member; alias++) {
		if (fn(arg, &(struct candidate){ alias->member, alias->setting, MEMBER_TEXT }))
			return true;
	}
	if (each_of_table(provider, fn, arg))
		return true;
	for (which = 0; which < MODEL_COMMONS; which++) {
		model_common_name(provider, which, name);
		if (fn(arg,
		       &(struct candidate){ commons[which].member, name, commons[which].kind }))
			return true;
	}
	return false;
}

struct search {
	const char *name;
	struct model_member *out;
	struct buf *known;
};

static bool on_candidate(void *arg, const struct candidate *c)
{
	struct search *search = arg;

	if (strcmp(c->member, search->name) != 0) {
		buf_printf(search->known, "%s%s", search->known->len ? ", " : "", c->member);
		return false;
	}
	search->out->kind = c->kind;
	buf_text(&search->out->setting, c->setting);
	return true;
}

int model_member_find(const struct model_provider *provider, const char *name,
		      struct model_member *out, struct buf *known)
{
	struct search search = { name, out, known };

	if (!each_candidate(provider, on_candidate, &search))
		return -ENOENT;
	return buf_check(&out->setting, NULL);
}

/* Values */

static int text_of(const json_t *value, struct buf *text, const char **why)
{
	*why = "is not a text: put it in quotes";
	if (!json_is_string(value))
		return -EINVAL;
	buf_text(text, json_string_value(value));
	return buf_check(text, NULL);
}

static bool is_one_line(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	}
	return true;
}

static int headers_of(const json_t *value, struct buf *text, const char **why)
{
	const char *name;
	json_t *item;

	*why = "is not a mapping of names to texts";
	if (!json_is_object(value))
		return -EINVAL;
	json_object_foreach((json_t *)value, name, item)
	{
		size_t start = text->len;

		if (!json_is_string(item) || !is_one_line(json_string_value(item)))
			return -EINVAL;
		buf_printf(text, "%s: %s", name, json_string_value(item));
		if (text->failed)
			return -ENOMEM;
		*why = "holds a name that is not valid for a header";
		if (!model_header_parse(span_sub(buf_span(text), start, text->len)).is_valid)
			return -EINVAL;
		*why = "is not a mapping of names to texts";
		buf_char(text, '\n');
	}
	return buf_check(text, NULL);
}

/* Quote a word for the shell. */
static void put_word(struct buf *text, const char *word)
{
	buf_char(text, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_text(text, "'\\''");
		else
			buf_char(text, *word);
	}
	buf_char(text, '\'');
}

/* A command is a line for the shell, or a list of words, which is executed directly. */
static int command_of(const json_t *value, struct buf *text, const char **why)
{
	json_t *word;
	size_t i;

	if (!json_is_array(value)) {
		int r = text_of(value, text, why);

		*why = "is neither a text nor a list of texts";
		return r;
	}
	*why = "is neither a text nor a list of texts";
	if (!json_array_size(value))
		return -EINVAL;
	buf_text(text, "exec");
	json_array_foreach(value, i, word)
	{
		if (!json_is_string(word))
			return -EINVAL;
		buf_char(text, ' ');
		put_word(text, json_string_value(word));
	}
	return buf_check(text, NULL);
}

int model_member_text(const struct model_member *member, const json_t *value, struct buf *text,
		      const char **why)
{
	static int (*const readers[])(const json_t *, struct buf *, const char **) = {
		[MEMBER_TEXT] = text_of,
		[MEMBER_HEADERS] = headers_of,
		[MEMBER_COMMAND] = command_of,
	};

	return readers[member->kind](value, text, why);
}
