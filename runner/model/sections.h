/*
 * The sections of the settings file, which is YAML:
 *
 *	PROVIDER:               a section; member.h says what it may hold
 *	  MEMBER: VALUE
 *	apps:
 *	  APP:
 *	    PROVIDER:           for the agent of this app, before the environment
 *	      MEMBER: VALUE
 */
#ifndef RUNNER_MODEL_SECTIONS_H
#define RUNNER_MODEL_SECTIONS_H

#include "base/err.h"

/*
 * Choose the settings file of the process and read it. Returns as settings_file_open(); for
 * -EINVAL err has "FILE:LINE: PATH: reason". Before threads; model_exit() closes the file.
 */
MUST_CHECK int model_settings_open(const char *path, struct err *err);

#endif
