/*
 * The daemon's log: lines on standard error, or in syslog when the daemon runs
 * in the background. Only mount/ and the worker loop of runner/ write lines;
 * all other code returns a struct err. No line may hold a secret.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/cc.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/* Write lines up to `level` and drop all others. Call this before threads start. */
void log_init(enum log_level level, bool to_syslog);

void log_line(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)

#endif
