/*
 * The file `.env`: see dotenv.h.
 */
#include "runner/settings/dotenv.h"

#include "base/net/secrets.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define DOTENV     ".env"
#define DOTENV_MAX 65536 /* bytes */

/* A line while it is read. */
struct line {
	const char *at;
	const char *end;
	int number;
};

static void skip_blanks(struct line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
		l->at++;
}

static bool is_name(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static struct span take_name(struct line *l)
{
	const char *from = l->at;

	while (l->at < l->end && is_name(*l->at))
		l->at++;
	return (struct span){ from, (size_t)(l->at - from) };
}

static bool at_comment(const struct line *l)
{
	return l->at == l->end || *l->at == '#';
}

static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return c;
	}
}

/* Take the text up to the closing quote. Only double quotes may hold backslash sequences. */
static int take_quoted(struct line *l, struct buf *value, struct err *err)
{
	char quote = *l->at++;

	for (; l->at < l->end && *l->at != quote; l->at++) {
		if (quote == '"' && *l->at == '\\' && l->at + 1 < l->end)
			buf_char(value, unescape(*++l->at));
		else
			buf_char(value, *l->at);
	}
	if (l->at == l->end)
		return err_set(err, -EINVAL, "%s:%d: the quote is not closed", DOTENV, l->number);
	l->at++;
	skip_blanks(l);
	if (!at_comment(l))
		return err_set(err, -EINVAL, "%s:%d: text after the closing quote", DOTENV,
			       l->number);
	return 0;
}

/* Take the text up to the end of the line or " #", without blanks at its end. */
static void take_plain(struct line *l, struct buf *value)
{
	const char *from = l->at;
	const char *end;

	while (l->at < l->end &&
	       !(*l->at == '#' && (l->at == from || l->at[-1] == ' ' || l->at[-1] == '\t')))
		l->at++;
	for (end = l->at; end > from && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	buf_add(value, from, (size_t)(end - from));
}

static int take_line(struct values *into, struct line *l, struct err *err)
{
	CLEANUP(secret_wipe) struct buf value = { 0 };
	struct span name;
	int r = 0;

	skip_blanks(l);
	if (at_comment(l))
		return 0;
	name = take_name(l);
	if (span_is(name, "export")) {
		skip_blanks(l);
		name = take_name(l);
	}
	skip_blanks(l);
	if (!name.len || l->at == l->end || *l->at != '=')
		return err_set(err, -EINVAL, "%s:%d: expected NAME=VALUE", DOTENV, l->number);
	l->at++;
	skip_blanks(l);
	if (l->at < l->end && (*l->at == '"' || *l->at == '\''))
		r = take_quoted(l, &value, err);
	else
		take_plain(l, &value);
	if (r < 0)
		return r;
	r = buf_check(&value, NULL);
	if (r == 0)
		r = values_put(into, name, buf_span(&value));
	return r < 0 ? err_nomem(err) : 0;
}

static int take_text(struct values *into, struct span text, struct err *err)
{
	struct line l = { .number = 1 };
	const char *at = text.data;
	const char *end = text.data + text.len;
	int r = 0;

	if (memchr(text.data, 0, text.len) || !utf8_is_valid(text))
		return err_set(err, -EINVAL, "%s is not a text file", DOTENV);
	if (text.len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	for (; r == 0 && at < end; l.number++) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));

		l.at = at;
		at = lf ? lf + 1 : end;
		l.end = lf ? lf : end;
		if (l.end > l.at && l.end[-1] == '\r')
			l.end--;
		r = take_line(into, &l, err);
	}
	return r;
}

static int read_file(const char *folder, struct buf *text, struct err *err)
{
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;
	int r;

	if (dir < 0)
		return err_errno(err, -errno, "%s", folder);
	fd = openat(dir, DOTENV, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	r = fd < 0 ? -errno : 0;
	(void)close(dir);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, r, "%s", DOTENV);
	r = values_read(fd, DOTENV, DOTENV_MAX, text, err);
	(void)close(fd);
	return r;
}

int dotenv_load(const char *folder, struct values *into, struct err *err)
{
	CLEANUP(secret_wipe) struct buf text = { 0 };
	int r = read_file(folder, &text, err);

	return r < 0 ? r : take_text(into, buf_span(&text), err);
}
