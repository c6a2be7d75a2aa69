/*
 * Scripts: files of rules that answer in place of a model.
 *
 * A script is a YAML list of rules. A rule says when it applies and what it answers;
 * docs/models.md describes the format. parse.c reads and checks a file, script.c plays it.
 * The texts of the rules live as long as the script.
 */
#ifndef RUNNER_PROVIDER_SCRIPT_RULES_H
#define RUNNER_PROVIDER_SCRIPT_RULES_H

#include "runner/syntax/file_cache.h"
#include "runner/syntax/pattern.h"
#include "runner/wire/provider.h"

#include <yaml.h>

#define SCRIPT_FILE_MAX   (1u << 20)
#define SCRIPT_GROUPS_MAX 9      /* $1 to $9 */
#define SCRIPT_DEPTH_MAX  32     /* below `args` */
#define SCRIPT_NODES_MAX  10000  /* below `args`; nodes of an alias count each time */
#define SCRIPT_DELAY_MAX  600000 /* ms */
#define SCRIPT_WORDS      (-1)   /* pieces: word by word */

/* The texts that patterns are matched with. Groups are numbered in this order. */
enum script_subject { SCRIPT_USER, SCRIPT_TOOL, SCRIPT_RESULT, SCRIPT_SUBJECTS };

struct script_call {
	struct span name;
	struct span id;
	int args; /* node of the document; 0: none */
};

/* Texts are borrowed from the document; data is NULL when absent. */
struct script_rule {
	int line;
	struct pattern *when[SCRIPT_SUBJECTS]; /* NULL: no pattern */
	struct span text;
	struct span thought;
	long long pieces; /* characters of a piece; 0: one piece; or SCRIPT_WORDS */
	long long delay_ms;
	struct script_call *calls;
	size_t call_count;
	struct span error_code;
	struct span error_message;
	long long usage[MODEL_COUNTS]; /* -1: absent */
	struct span finish_reason;
};

/* A script. Nothing changes it after script_open(). */
struct script {
	struct cached_file file;
	yaml_document_t document;
	bool has_document;
	struct script_rule *rules;
	size_t count;
};

/*
 * Open FOLDER/NAME, from a cache (file_cache.h). *out is one reference for the caller.
 * Returns as file_cache_open(); -EINVAL: the text is invalid, err has "FILE:LINE: reason".
 * Any thread.
 */
MUST_CHECK int script_open(const char *folder, const char *name, struct script **out,
			   struct err *err);
void script_unref(struct script *script); /* NULL is fine */
DEFINE_CLEANUP(struct script, script_unref);

/* Parse and check the text of a script: for its struct file_cache. */
MUST_CHECK int script_parse(struct cached_file *file, struct span text, struct err *err);

/* A node of the script's document, as syntax/yaml.h has it. */
yaml_node_t *script_node(const struct script *script, int node);

#endif
