/*
 * Scripts: see rules.h. This file keeps and frees them; parse.c reads the text.
 */
#include "runner/provider/script/rules.h"

#include <stdlib.h>

#define CACHE_MAX 32

static void rule_release(struct script_rule *rule)
{
	size_t i;

	for (i = 0; i < SCRIPT_SUBJECTS; i++)
		pattern_free(rule->when[i]);
	free(rule->calls);
}

static void script_release(struct cached_file *file)
{
	struct script *script = (struct script *)file;
	size_t i;

	for (i = 0; i < script->count; i++)
		rule_release(&script->rules[i]);
	free(script->rules);
	if (script->has_document)
		yaml_document_delete(&script->document);
}

static struct file_cache cache = { .size = sizeof(struct script),
				   .max = SCRIPT_FILE_MAX,
				   .places = CACHE_MAX,
				   .parse = script_parse,
				   .release = script_release,
				   .lock = MUTEX_INIT };

int script_open(const char *folder, const char *name, struct script **out, struct err *err)
{
	struct cached_file *file;
	int r = file_cache_open(&cache, folder, name, &file, err);

	if (r == 0)
		*out = (struct script *)file;
	return r;
}

void script_unref(struct script *script)
{
	file_cache_unref(&cache, (struct cached_file *)script);
}

yaml_node_t *script_node(const struct script *script, int node)
{
	/* libyaml takes no const, and changes nothing. */
	return yaml_document_get_node((yaml_document_t *)&script->document, node);
}
