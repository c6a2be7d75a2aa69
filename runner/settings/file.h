/*
 * The settings file: settings of models for all apps.
 *
 * One file for the process, chosen before threads. The file is read again when
 * it has changed. What was read never changes, and lives as long as somebody
 * has a reference. A file that cannot be used leaves what was read before; a
 * file that was removed leaves nothing.
 */
#ifndef RUNNER_SETTINGS_FILE_H
#define RUNNER_SETTINGS_FILE_H

#include "runner/settings/values.h"

#define SETTINGS_FILE_MAX (1u << 20) /* bytes */

/* The contents of the file when it was read. */
struct settings_file;

/* Fills `into`, which is empty, from the text of the file. -EINVAL with err; -ENOMEM. */
typedef int settings_parse_fn(struct span text, const char *path, struct settings_file *into,
			      struct err *err);

/* For a settings_parse_fn: the values of the providers, and of an app, which is added. -ENOMEM.
 * The values of an app are good until the next app is added. */
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

/* Why the file is not used as it is now: -errno with a text; 0: it is used, or not there. */
int settings_file_reason(struct err *err);

/* A new reference to what the file says; NULL: nothing. Any thread. */
struct settings_file *settings_file_now(void);
void settings_file_unref(struct settings_file *file); /* NULL is fine */
DEFINE_CLEANUP(struct settings_file, settings_file_unref);

/* The value in the section of an app or, without an app, of the providers. NULL: none. */
const char *settings_file_get(const struct settings_file *file, const char *app, const char *name);

/* Call fn with the name of each app that has a section. Not 0 ends the loop and is returned. */
int settings_file_each_app(const struct settings_file *file, values_fn *fn, void *arg);

#endif
