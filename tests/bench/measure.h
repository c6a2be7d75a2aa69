/*
 * Measuring: the clock, the median, and one line of the report.
 *
 * A row is measured on two sides in turns, floor first, so that a noisy
 * neighbour hits both; the median of each side is compared.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	RUNS_MAX = 99,
};

/* What a number is; how it is printed follows from it. */
enum unit {
	UNIT_RATE,    /* per second */
	UNIT_BYTES,   /* bytes per second */
	UNIT_SECONDS, /* less is better */
	UNIT_MEMORY,  /* bytes, less is better */
	UNIT_PART,    /* a part of one */
};

/* What a row has to reach, compared with its floor or by itself. */
struct target {
	enum {
		TARGET_NONE,
		TARGET_SHARE, /* at least this part of the rate of the floor */
		TARGET_TIMES, /* at most so many times what the floor needs */
		TARGET_ADDED, /* at most so many seconds more than the floor */
		TARGET_BELOW, /* under this, whatever the floor */
		TARGET_ABOVE, /* at least this, whatever the floor */
	} kind;
	double bound;
};

static inline double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* VmRSS of a process in bytes; 0 when it is gone. */
static inline double resident_memory(int pid)
{
	char line[256];
	long kib = 0;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	f = fopen(line, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	fclose(f);
	return (double)kib * 1024;
}

/* Who has the store in this folder open; 0: nobody. */
static inline int daemon_find(const char *folder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	close(fd);
	return lock.l_pid;
}

static inline int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. NAN when there are none: nothing was measured. */
static inline double median(double *values, unsigned count)
{
	if (count == 0)
		return NAN;
	qsort(values, count, sizeof(*values), double_compare);
	return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static inline void value_print(char out[16], enum unit unit, double v)
{
	if (isnan(v))
		snprintf(out, 16, "-");
	else if (unit == UNIT_RATE)
		snprintf(out, 16, "%.1f k/s", v / 1e3);
	else if (unit == UNIT_BYTES)
		snprintf(out, 16, "%.0f MB/s", v / 1e6);
	else if (unit == UNIT_MEMORY && v < 10e3)
		snprintf(out, 16, "%.0f B", v);
	else if (unit == UNIT_MEMORY && v < 1e6)
		snprintf(out, 16, "%.1f kB", v / 1e3);
	else if (unit == UNIT_MEMORY)
		snprintf(out, 16, "%.1f MB", v / 1e6);
	else if (unit == UNIT_PART)
		snprintf(out, 16, "%.2f", v);
	else if (v < 0.001)
		snprintf(out, 16, "%.0f us", v * 1e6);
	else if (v < 1)
		snprintf(out, 16, "%.1f ms", v * 1e3);
	else
		snprintf(out, 16, "%.2f s", v);
}

/* How many times longer than the floor; rates turn round, for they are better when more. */
static inline double times_longer(enum unit unit, double value, double floor)
{
	return unit == UNIT_RATE || unit == UNIT_BYTES ? floor / value : value / floor;
}

static inline void ratio_print(char out[16], enum unit unit, struct target t, double value,
			       double floor)
{
	char added[16];

	if (isnan(value) || isnan(floor)) {
		snprintf(out, 16, "-");
	} else if (t.kind == TARGET_ADDED) {
		value_print(added, unit, fabs(value - floor));
		snprintf(out, 16, "%c%.14s", value < floor ? '-' : '+', added);
	} else if (t.kind == TARGET_SHARE || (t.kind == TARGET_NONE && unit == UNIT_RATE)) {
		snprintf(out, 16, "%.0f %%", 100 / times_longer(unit, value, floor));
	} else {
		snprintf(out, 16, "%.2fx", times_longer(unit, value, floor));
	}
}

static inline void target_print(char out[32], enum unit unit, struct target t)
{
	char bound[16];

	value_print(bound, unit, t.bound);
	if (t.kind == TARGET_NONE)
		snprintf(out, 32, "-");
	else if (t.kind == TARGET_SHARE)
		snprintf(out, 32, ">= %.0f %%", t.bound * 100);
	else if (t.kind == TARGET_TIMES)
		snprintf(out, 32, "<= %.1fx", t.bound);
	else if (t.kind == TARGET_ADDED)
		snprintf(out, 32, "< +%s", bound);
	else
		snprintf(out, 32, "%s %s", t.kind == TARGET_BELOW ? "<" : ">=", bound);
}

static inline const char *verdict(enum unit unit, struct target t, double value, double floor)
{
	double times = times_longer(unit, value, floor);
	bool met = true;

	if (isnan(value))
		return "not measured";
	if (t.kind == TARGET_BELOW)
		met = value < t.bound;
	else if (t.kind == TARGET_ABOVE)
		met = value >= t.bound;
	else if (t.kind == TARGET_NONE || isnan(floor))
		return "";
	else if (t.kind == TARGET_SHARE)
		met = times <= 1 / t.bound;
	else if (t.kind == TARGET_TIMES)
		met = times <= t.bound;
	else
		met = value - floor < t.bound;
	return met ? "ok" : "MISSED";
}

static inline void report_line(const char *title, const char *value, const char *floor,
			       const char *ratio, const char *target, const char *remark)
{
	printf("%-34s %12s %12s %9s  %-*s%s\n", title, value, floor, ratio, *remark ? 12 : 0,
	       target, remark);
	fflush(stdout);
}

/* NAN for what could not be measured. */
static inline void report_row(const char *title, enum unit unit, struct target t, double value,
			      double floor)
{
	char v[16], f[16], r[16], target[32];

	value_print(v, unit, value);
	value_print(f, unit, floor);
	ratio_print(r, unit, t, value, floor);
	target_print(target, unit, t);
	report_line(title, v, f, r, target, verdict(unit, t, value, floor));
}

#endif
