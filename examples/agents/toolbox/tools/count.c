/* Count the words of the user's message, and keep the sum of all messages in the state. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *open_in_context(const char *name, const char *mode)
{
	const char *context = getenv("ADK_CONTEXT");
	char path[PATH_MAX];

	if (!context || snprintf(path, sizeof path, "%s/%s", context, name) >= (int)sizeof path)
		exit(2);
	return fopen(path, mode);
}

/* Words of the file, which is JSON: text between quotes is near enough for an example. */
static long count_words(FILE *f)
{
	long words = 0;
	int in_word = 0;
	int c;

	while ((c = getc(f)) != EOF) {
		int is_letter = isalpha(c) || c >= 0x80;

		words += is_letter && !in_word;
		in_word = is_letter;
	}
	return words - 4; /* the names parts, text, role and the role itself */
}

int main(void)
{
	FILE *message = open_in_context("user_content.json", "r");
	FILE *state = open_in_context("state/words.json", "r");
	long sum = 0;
	long words;

	if (!message)
		return 1;
	words = count_words(message);
	if (state && fscanf(state, "%ld", &sum) != 1)
		sum = 0;
	if (state)
		fclose(state);
	state = open_in_context("state/words.json", "w");
	if (!state || fprintf(state, "%ld\n", sum + words) < 0 || fclose(state) != 0) {
		perror("state/words.json");
		return 1;
	}
	printf("{\"words\": %ld, \"sum\": %ld}\n", words, sum + words);
	return 0;
}
