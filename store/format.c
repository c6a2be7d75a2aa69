/*
 * Formats: see format.h. The table of conversions is at the top.
 */
#include "store/format.h"

#include "store/artifact/convert.h"
#include "store/session/scope.h"

#include <errno.h>

/* Each conversion can be run again, also after it was interrupted. */
static const struct step {
	const char *word;
	const char *what;
	int (*convert)(struct store *st, struct err *err);
} steps[] = {
	{ "pages", "lists of extents", artifact_convert_pages },
	{ "refs", "references to the files of bytes", artifact_convert_refs },
	{ "sums", "checksums of the files of bytes", artifact_convert_sums },
	{ "seals", "folded logs", scope_convert_seals },
};

#define ALL_STEPS ((1u << ARRAY_SIZE(steps)) - 1)

struct format {
	unsigned done; /* bits of steps */
};

static int refuse(struct store_tx *tx, struct span text)
{
	return err_set(tx->err, -EINVAL, "store %s has the format '%.*s'; this adkfs reads '%s'",
		       store_folder(tx->st), (int)MIN(text.len, 60), text.data, FORMAT_NAME);
}

static int parse_word(struct store_tx *tx, struct span word, unsigned *done)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (span_is(word, steps[i].word)) {
			*done |= 1u << i;
			return 0;
		}
	}
	return err_set(tx->err, -EINVAL, "store %s uses '%.*s', which this adkfs does not know",
		       store_folder(tx->st), (int)MIN(word.len, 60), word.data);
}

static int parse(struct store_tx *tx, struct span text, unsigned *done)
{
	size_t at = strlen(FORMAT_NAME);
	int r = 0;

	*done = 0;
	if (span_is(text, FORMAT_OLDER))
		return 0;
	if (text.len < at || memcmp(text.data, FORMAT_NAME, at) != 0 ||
	    (text.len > at && text.data[at] != ' '))
		return refuse(tx, text);
	while (r == 0 && at < text.len) {
		struct span rest = span_sub(text, at + 1, text.len);
		const char *space = memchr(rest.data, ' ', rest.len);
		size_t n = space ? (size_t)(space - rest.data) : rest.len;

		r = parse_word(tx, span_sub(rest, 0, n), done);
		at += 1 + n;
	}
	return r;
}

static int put_format(struct store_tx *tx, void *arg)
{
	const struct format *f = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct key key = key_space(KEY_META_FORMAT);
	size_t i;

	buf_text(&text, FORMAT_NAME);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (f->done & 1u << i)
			buf_printf(&text, " %s", steps[i].word);
	}
	store_put(tx, &key, buf_span(&text));
	return buf_check(&text, tx->err);
}

/* Read the format. A new store, and one that is about to be converted, get their row. */
static int begin(struct store_tx *tx, void *arg)
{
	struct format *f = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct key key = key_space(KEY_META_FORMAT);
	int r = store_get(tx, &key, &text);

	f->done = ALL_STEPS;
	if (r == 0)
		r = parse(tx, buf_span(&text), &f->done);
	else if (r == -ENOENT)
		r = 0;
	return r < 0 ? r : put_format(tx, f);
}

int format_settle(struct store *st, struct err *err)
{
	struct format f = { 0 };
	size_t i;
	int r = store_update(st, begin, &f, err);

	for (i = 0; r == 0 && i < ARRAY_SIZE(steps); i++) {
		if (f.done & 1u << i)
			continue;
		store_converts(st, steps[i].what, i + 1, ARRAY_SIZE(steps));
		r = steps[i].convert(st, err);
		f.done |= 1u << i;
		if (r == 0)
			r = store_update(st, put_format, &f, err);
	}
	return r;
}
