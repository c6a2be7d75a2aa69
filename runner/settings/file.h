/*
 * The settings file: settings of models for all apps.
 *
 * The process has one such file, chosen before threads. A changed file is read again.
 * The contents that were read never change, and live as long as there is a reference.
 * If the new file cannot be used, the old contents stay. If the file was removed,
 * there are no settings.
 */
#ifndef RUNNER_SETTINGS_FILE_H
#define RUNNER_SETTINGS_FILE_H

#include "runner/settings/values.h"

#define SETTINGS_FILE_MAX (1u << 20) /* bytes */

/* The contents of the file when it was read. */
struct settings_file;

/* Parses the text of the file into `into`, which is empty. -EINVAL with err; -ENOMEM. */
typedef int settings_parse_fn(struct span text, const char *path, struct settings_file *into,
			      struct err *err);

/*
 * For a settings_parse_fn: the values of the providers; a new app and its values, which are valid
 * until the next app is added. -ENOMEM.
 */
struct values *settings_file_providers(struct settings_file *file);
MUST_CHECK int settings_file_add(struct settings_file *file, const char *app, struct values **out);

/*
 * Choose the file, absolute, and read it. The file stays chosen on failure too.
 *
 * Returns 0; -ENOENT: the file is not there; -EPERM: it belongs to another user, or
 * others may read it; -EINVAL: not a regular file, or what parse says; -EFBIG; -ENOMEM;
 * another -errno.
 */
MUST_CHECK int settings_file_open(const char *path, settings_parse_fn *parse, struct err *err);
void settings_file_close(void);

/* The path of the chosen file; NULL: none was chosen. */
const char *settings_file_where(void);

/* Why the file is not used: -errno with a sentence; 0: it is used, or does not exist. */
int settings_file_reason(struct err *err);

/* A new reference to the contents of the file; NULL: none. Any thread. */
struct settings_file *settings_file_now(void);
void settings_file_unref(struct settings_file *file); /* NULL is fine */
DEFINE_CLEANUP(struct settings_file, settings_file_unref);

/* The value in the section of an app or, without an app, of the providers. NULL: none. */
const char *settings_file_get(const struct settings_file *file, const char *app, const char *name);

/* Call fn with the name of each app that has a section. Not 0 ends the loop and is returned. */
int settings_file_each_app(const struct settings_file *file, values_fn *fn, void *arg);

#endif
