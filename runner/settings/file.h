/*
 * The settings file: settings of models for all apps, in YAML.
 *
 *	PROVIDER:               a section; model/settings.h says what it may hold
 *	  MEMBER: VALUE
 *	apps:
 *	  APP:
 *	    PROVIDER:           for the agent of this app, before the environment
 *	      MEMBER: VALUE
 *
 * One file for the process, chosen before threads. It is read again when it has
 * changed. What was read never changes and lives as long as somebody refers to
 * it. A file that cannot be used leaves what was read before; one that is gone
 * leaves nothing.
 */
#ifndef RUNNER_SETTINGS_FILE_H
#define RUNNER_SETTINGS_FILE_H

#include "base/buf.h"

struct settings_file;

/*
 * Choose the file, absolute, and read it. It stays chosen also on failure.
 *
 * Returns 0; -ENOENT: it is not there; -EPERM: it belongs to somebody else, or
 * others may read it; -EINVAL: not a regular file, or err has "FILE:LINE: PATH: reason";
 * -EFBIG; -ENOMEM; another -errno.
 */
MUST_CHECK int settings_file_open(const char *path, struct err *err);
void settings_file_close(void);

/* The path of the file that was chosen; NULL: none was. */
const char *settings_file_where(void);

/* Why the file is not used as it is now: -errno with a text; 0: it is used, or not there. */
int settings_file_reason(struct err *err);

/* One reference to what the file says; NULL: nothing. Any thread. */
struct settings_file *settings_file_now(void);
void settings_file_unref(struct settings_file *file); /* NULL is fine */
DEFINE_CLEANUP(struct settings_file, settings_file_unref);

/* What an app's section says, or, without an app, those of the providers. NULL: nothing. */
const char *settings_file_get(const struct settings_file *file, const char *app, const char *name);

/* The name of an app that has a section, by its number from 0; NULL: there are no more. */
const char *settings_file_app(const struct settings_file *file, size_t number);

#endif
