/*
 * The daemon's log: lines on standard error, or to syslog once it runs in the
 * background. Only mount/ and the runner's worker loop write to it; everybody
 * else returns a struct err. No line ever holds a secret.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/cc.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above `level` are dropped. Call before threads start. */
void log_init(enum log_level level, bool to_syslog);

void log_line(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
