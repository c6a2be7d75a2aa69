/*
 * Steps: see steps.h.
 */
#include "tests/verify/steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	SHOWN_STEPS = 200,
	NOTE_SIZE = 240,
};

static struct {
	uint64_t seed;
	uint64_t step;
	uint64_t state;
	struct {
		uint64_t step;
		size_t len;
		char text[NOTE_SIZE];
	} last[SHOWN_STEPS]; /* step n is at n % SHOWN_STEPS */
} run;

void random_seed(uint64_t seed)
{
	run.seed = seed;
	run.state = seed * 0x9e3779b97f4a7c15u + 1;
	if (!run.state)
		run.state = 1;
	for (int i = 0; i < 8; i++)
		(void)random_next();
}

/* xorshift64* */
uint64_t random_next(void)
{
	run.state ^= run.state >> 12;
	run.state ^= run.state << 25;
	run.state ^= run.state >> 27;
	return run.state * 0x2545f4914f6cdd1du;
}

uint64_t random_below(uint64_t n)
{
	return (random_next() >> 11) % n;
}

bool random_chance(unsigned percent)
{
	return random_below(100) < percent;
}

void random_fill(uint8_t *to, size_t len)
{
	while (len > 0) {
		uint64_t r = random_next();
		size_t n = MIN(len, sizeof r);

		memcpy(to, &r, n);
		to += n;
		len -= n;
	}
}

uint64_t random_skewed(uint64_t max)
{
	unsigned bits = max ? 64 - (unsigned)__builtin_clzll(max) : 0;
	uint64_t n = random_below(2ull << random_below(bits + 1));

	return MIN(n, max);
}

void operations_leave_out(struct operation *table, const char *list)
{
	for (const char *word = list; *word;) {
		size_t len = strcspn(word, ",");
		struct operation *op = table;

		while (op->name && (strlen(op->name) != len || memcmp(op->name, word, len) != 0))
			op++;
		if (!op->name) {
			fprintf(stderr, "there is no operation %.*s\n", (int)len, word);
			exit(2);
		}
		op->weight = 0;
		word += len + (word[len] == ',');
	}
}

static struct operation *operation_choose(struct operation *table)
{
	unsigned total = 0;
	unsigned n;

	for (struct operation *op = table; op->name; op++)
		total += op->weight;
	if (!total) {
		fprintf(stderr, "no operation is left\n");
		exit(2);
	}
	n = (unsigned)random_below(total);
	while (n >= table->weight)
		n -= table++->weight;
	return table;
}

static void step_begin(uint64_t n, const char *name)
{
	run.step = n;
	run.last[n % SHOWN_STEPS].step = n;
	run.last[n % SHOWN_STEPS].len = 0;
	step_note("%s", name);
}

void steps_run(struct operation *table, uint64_t seed, uint64_t count)
{
	random_seed(seed);
	for (uint64_t n = 1; n <= count; n++) {
		struct operation *op = operation_choose(table);

		step_begin(n, op->name);
		op->run();
	}
	printf("seed %llu: %llu steps, no difference\n", (unsigned long long)seed,
	       (unsigned long long)count);
}

void step_note(const char *fmt, ...)
{
	char *text = run.last[run.step % SHOWN_STEPS].text;
	size_t *len = &run.last[run.step % SHOWN_STEPS].len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text + *len, NOTE_SIZE - *len, fmt, args);
	va_end(args);
	if (n > 0)
		*len = MIN(*len + (size_t)n, (size_t)NOTE_SIZE - 1);
}

uint64_t step_number(void)
{
	return run.step;
}

void differs(const char *fmt, ...)
{
	uint64_t first = run.step > SHOWN_STEPS - 1 ? run.step - SHOWN_STEPS + 1 : 1;
	va_list args;

	(void)fflush(stdout);
	fprintf(stderr, "the last steps:\n");
	for (uint64_t n = first; n <= run.step; n++)
		fprintf(stderr, "%8llu %.*s\n", (unsigned long long)n,
			(int)run.last[n % SHOWN_STEPS].len, run.last[n % SHOWN_STEPS].text);
	fprintf(stderr, "seed %llu, step %llu: ", (unsigned long long)run.seed,
		(unsigned long long)run.step);
	va_start(args, fmt);
	(void)vfprintf(stderr, fmt, args);
	va_end(args);
	(void)fputc('\n', stderr);
	exit(1);
}

void must(bool ok, const char *what)
{
	if (!ok)
		differs("%s: %s", what, strerror(errno));
}

uint64_t number_of(const char *text)
{
	static const char units[] = "kmg";
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (unit) {
		n <<= 10 * (unit - units + 1);
		end++;
	}
	if (end == text || *end) {
		fprintf(stderr, "%s is no number\n", text);
		exit(2);
	}
	return n;
}

uint64_t seed_choose(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof seed, 0) < 0)
		seed = 1;
	return seed % 1000000000;
}
