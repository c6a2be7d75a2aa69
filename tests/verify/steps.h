/*
 * Steps: what the verifiers have in common.
 *
 * A run is a seed and a number of steps; the same seed, size and operations
 * give the same run. The first difference ends the program with the seed, the
 * number of the step and what the last steps were.
 */
#ifndef VERIFY_STEPS_H
#define VERIFY_STEPS_H

#include "base/cc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An operation and how often it is chosen. A table of them ends with a row without a name. */
struct operation {
	const char *name;
	unsigned weight; /* 0: left out */
	void (*run)(void);
};

/* Random numbers that depend on the seed alone. */
void random_seed(uint64_t seed);
uint64_t random_next(void);
uint64_t random_below(uint64_t n); /* n > 0 */
bool random_chance(unsigned percent);
void random_fill(uint8_t *to, size_t len);

/* Small numbers as often as large ones; 0 to max. */
uint64_t random_skewed(uint64_t max);

/* Leave out the operations in a list with commas. Exits if one is unknown. */
void operations_leave_out(struct operation *table, const char *list);

/* Choose and run one operation after the other. Prints a line at the end. */
void steps_run(struct operation *table, uint64_t seed, uint64_t count);

/* What the step that runs does; adds to its line in the report. */
void step_note(const char *fmt, ...) PRINTF(1, 2);
uint64_t step_number(void);

/* The first difference: report and exit with 1. */
_Noreturn void differs(const char *fmt, ...) PRINTF(1, 2);

/* Whether a call did what it should: the text names it. errno has the reason. */
void must(bool ok, const char *what);

/* Decimal, or with k, m or g. Exits if it is not a number. */
uint64_t number_of(const char *text);

/* A seed that is new each time. */
uint64_t seed_choose(void);

#endif
