/*
 * ctl: see ctl.h. The verbs and their table come first, then the lines.
 *
 * A line runs within the write that ends the line, so that the writer gets the
 * errno. Lines before a refused line stay in effect. The close runs a last line
 * without a newline.
 */
#include "fs/names/ctl.h"

#include "base/char.h"
#include "fs/names/input.h"
#include "fs/names/scopes.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"
#include "runner/runner.h"
#include "store/timeline/fork.h"
#include "store/timeline/rewind.h"

#include <errno.h>

#define LINE_LEN_MAX 4096
#define WORDS_MAX    4

/* A line, split at its blanks. */
struct ctl_command {
	struct span words[WORDS_MAX];
	size_t count;
};

static int ctl_cancel(struct handle *h, const struct ctl_command *c, struct err *err)
{
	(void)c;
	(void)err;
	runner_cancel(h->at.fs->runner, h->at.ref);
	return 0;
}

static int ctl_rewind(struct handle *h, const struct ctl_command *c, struct err *err)
{
	return session_rewind(h->at.fs->store, h->at.ref, c->words[1], err);
}

/*
 * Decode a word that is a file name: %20 stands for a blank in a line, and the canonical
 * spelling of a file name never has %20.
 */
static int decode_name(struct span word, struct buf *name, struct err *err)
{
	static const struct {
		const char *code;
		char blank;
	} blanks[] = { { "%20", ' ' }, { "%09", '\t' }, { "%0A", '\n' }, { "%0D", '\r' } };
	size_t at = 0;

	while (at < word.len) {
		size_t i = 0;

		while (i < ARRAY_SIZE(blanks) &&
		       (word.len - at < 3 || memcmp(word.data + at, blanks[i].code, 3) != 0))
			i++;
		buf_char(name, i < ARRAY_SIZE(blanks) ? blanks[i].blank : word.data[at]);
		at += i < ARRAY_SIZE(blanks) ? 3 : 1;
	}
	return buf_cstr(name) ? 0 : err_nomem(err);
}

static int ctl_fork(struct handle *h, const struct ctl_command *c, struct err *err)
{
	struct span event = c->count > 2 ? c->words[2] : SPAN("");
	CLEANUP(buf_release) struct buf name = { 0 };
	CLEANUP(buf_release) struct buf id = { 0 };
	int r = decode_name(c->words[1], &name, err);

	if (r == 0 && memchr(name.data, 0, name.len))
		r = err_set(err, -EINVAL, "a name cannot contain a NUL");
	if (r == 0)
		r = scopes_id(name.data, &id, err);
	if (r == 0)
		r = session_fork(h->at.fs->store, h->at.ref, id.data, event, NULL, err);
	if (r == 0) /* the kernel may cache the name as missing */
		notify_name(&h->at.fs->notify, node_ino(h->at.ref.user, ID_MEMBERS), name.data);
	return r;
}

static int ctl_compact(struct handle *h, const struct ctl_command *c, struct err *err)
{
	(void)c;
	return runner_compact(h->at.fs->runner, h->at.ref, err);
}

/* Keep in the order of the manual page. */
const struct ctl_verb ctl_session_verbs[] = {
	{ "cancel", "", 0, 0, ctl_cancel },
	{ "rewind", " <invocation-id>", 1, 1, ctl_rewind },
	{ "fork", " <new-session> [<event-id>]", 1, 2, ctl_fork },
	{ "compact", "", 0, 0, ctl_compact },
	{ 0 },
};

static int unknown_verb(const struct ctl_verb *verbs, struct span name, struct err *err)
{
	CLEANUP(buf_release) struct buf known = { 0 };
	const struct ctl_verb *verb;

	for (verb = verbs; verb->name; verb++)
		buf_printf(&known, "%s%s%s", verb == verbs ? "" : ", ", verb->name,
			   verb->arguments);
	if (!buf_cstr(&known))
		return err_nomem(err);
	return err_set(err, -EINVAL, "there is no verb '%.*s'; the verbs are: %s",
		       (int)MIN(name.len, 60), name.data, known.data);
}

static int split_line(struct span line, struct ctl_command *c, struct err *err)
{
	size_t at = 0;

	while (at < line.len) {
		size_t from = at;

		while (at < line.len && !char_is_blank(line.data[at]))
			at++;
		if (at > from && c->count == WORDS_MAX)
			return err_set(err, -EINVAL, "the line has too many words");
		if (at > from)
			c->words[c->count++] = span_sub(line, from, at);
		at++;
	}
	return 0;
}

static int run_line(struct handle *h, struct span line, struct err *err)
{
	struct ctl_command c = { 0 };
	const struct ctl_verb *verb = h->at.type->verbs;
	int r = split_line(line, &c, err);

	if (r < 0 || !c.count)
		return r;
	while (verb->name && !span_is(c.words[0], verb->name))
		verb++;
	if (!verb->name)
		return unknown_verb(h->at.type->verbs, c.words[0], err);
	if (c.count - 1 < verb->least || c.count - 1 > verb->most)
		return err_set(err, -EINVAL, "the line must be: %s%s", verb->name, verb->arguments);
	return verb->run(h, &c, err);
}

/* Run the whole lines of a text; *done is the end of the last accepted line. */
static int run_lines(struct handle *h, struct span text, size_t *done, struct err *err)
{
	const char *newline;
	int r = 0;

	*done = 0;
	while (r == 0 && (newline = memchr(text.data + *done, '\n', text.len - *done))) {
		size_t end = (size_t)(newline - text.data);

		r = run_line(h, span_sub(text, *done, end), err);
		if (r == 0)
			*done = end + 1;
	}
	if (r == 0 && text.len - *done > LINE_LEN_MAX)
		r = err_set(err, -EINVAL, "the line is longer than %u bytes", LINE_LEN_MAX);
	return r;
}

/* h->text has the start of a line whose end is still to come. */
static ssize_t ctl_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	size_t carried;
	size_t done = 0;
	ssize_t accepted = (ssize_t)data.len;
	int r;

	(void)offset; /* the file has no content, so no offsets */
	mutex_lock(&h->lock);
	carried = h->text.len;
	buf_span_add(&h->text, data);
	r = buf_check(&h->text, err);
	if (r == 0)
		r = run_lines(h, buf_span(&h->text), &done, err);
	if (r == 0) {
		buf_consume(&h->text, done);
	} else {
		/* Return the length of the lines that ran; the next write begins with the bad one.
		 */
		accepted = done > carried ? (ssize_t)(done - carried) : r;
		buf_clear(&h->text);
	}
	mutex_unlock(&h->lock);
	return accepted;
}

static int ctl_flush(struct handle *h, struct err *err)
{
	int r;

	mutex_lock(&h->lock);
	r = run_line(h, buf_span(&h->text), err);
	buf_clear(&h->text);
	mutex_unlock(&h->lock);
	return r;
}

const struct file_ops ctl_ops = {
	.follow = input_follow,
	.write = ctl_write,
	.truncate = input_truncate,
	.flush = ctl_flush,
};
