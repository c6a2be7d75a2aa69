/*
 * Settings: names and values such as OPENAI_API_KEY. They come from several
 * places, of which the first that knows a name decides: the `.env` file of an
 * agent's folder, which ADK reads too; the app's section of the settings file
 * (file.h); the daemon's environment; a provider's section of that file.
 *
 * Values are secrets: they never enter an event, an error, a log line or the
 * environment of a child.
 */
#ifndef RUNNER_SETTINGS_SETTINGS_H
#define RUNNER_SETTINGS_SETTINGS_H

#include "base/buf.h"

struct settings;

/* Where a value comes from, in the order in which they count. */
enum settings_origin {
	SETTINGS_OWN,         /* .env of the folder, or what was put */
	SETTINGS_APP,         /* the app's section of the settings file */
	SETTINGS_ENVIRONMENT, /* the daemon's */
	SETTINGS_PROVIDER,    /* a provider's section of the settings file */
	SETTINGS_ORIGINS,
};

/*
 * Read FOLDER/.env: NAME=VALUE lines, '#' comments, `export` and quotes allowed.
 * A missing file is an empty one. -EINVAL names file and line; -errno.
 *
 * app: whose section of the settings file counts, or NULL. What that file says
 * now is kept: it does not change under whoever uses these settings.
 */
MUST_CHECK int settings_load(const char *folder, const char *app, struct settings **out,
			     struct err *err);

/* The same without a folder. -ENOMEM. */
MUST_CHECK int settings_of_app(const char *app, struct settings **out);

/* The members of a JSON object of texts, and nothing of the environment. -EINVAL; -ENOMEM. */
MUST_CHECK int settings_of(struct span object, struct settings **out);

/* Others on top of some, which are borrowed; NULL is the environment alone. -ENOMEM. */
MUST_CHECK int settings_over(const struct settings *below, struct settings **out);

/* Set one of their own; a later value wins. For whoever made them. -ENOMEM. */
MUST_CHECK int settings_put(struct settings *settings, struct span name, struct span value);

void settings_free(struct settings *settings);
DEFINE_CLEANUP(struct settings, settings_free);

/* Whether the settings file says something else by now. */
bool settings_are_stale(const struct settings *settings);

/*
 * The value of one place; "" hides what the places behind it have, NULL: it does
 * not know the name. Borrowed. settings: NULL is the environment alone.
 */
const char *settings_at(const struct settings *settings, enum settings_origin origin,
			const char *name);

/* The value of the first place that knows the name; NULL when unset or empty. Borrowed. */
const char *settings_get(const struct settings *settings, const char *name);

/*
 * Append the bytes of a file with secrets, of which `name` is what errors call it.
 * -EINVAL: not a regular file; -EFBIG: over max; -ENOMEM; -errno.
 */
MUST_CHECK int settings_read(int fd, const char *name, size_t max, struct buf *text,
			     struct err *err);

/* Overwrite what a buf holds, and release it. */
void settings_wipe(struct buf *b);

/* Call fn with the names of their own. Not 0 ends it and is returned. */
typedef int settings_fn(void *arg, const char *name);
int settings_each(const struct settings *settings, settings_fn *fn, void *arg);

#endif
