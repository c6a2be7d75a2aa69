/*
 * The daemon's log: see log.h.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

/* Fixed after log_init(). */
static enum log_level threshold = LOG_LEVEL_WARNING;
static bool use_syslog;

void log_init(enum log_level level, bool to_syslog)
{
	threshold = level;
	use_syslog = to_syslog;
	if (to_syslog)
		openlog("adkfs", LOG_PID, LOG_DAEMON);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const int priority[] = { LOG_ERR, LOG_WARNING, LOG_INFO };
	char line[1024];
	va_list args;

	if (level > threshold)
		return;
	va_start(args, fmt);
	(void)vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	if (use_syslog)
		syslog(priority[level], "%s", line);
	else
		(void)fprintf(stderr, "adkfs: %s\n", line);
}
