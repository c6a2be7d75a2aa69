/*
 * Settings: see settings.h.
 */
#include "runner/settings/settings.h"

#include "base/buf.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "runner/settings/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTINGS_FILE     ".env"
#define SETTINGS_FILE_MAX 65536

struct setting {
	char *name;
	char *value;
};

struct settings {
	struct setting *list;
	size_t count;
	const struct settings *below; /* NULL: nothing */
	struct settings_file *file;   /* NULL: none */
	char *app;
	bool alone; /* nothing else counts */
};

/* A line while it is read. */
struct line {
	const char *at;
	const char *end;
	int number;
};

static void secret_free(char *value)
{
	if (value)
		explicit_bzero(value, strlen(value));
	free(value);
}

void settings_wipe(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->cap);
	buf_release(b);
}

void settings_free(struct settings *settings)
{
	size_t i;

	if (!settings)
		return;
	for (i = 0; i < settings->count; i++) {
		free(settings->list[i].name);
		secret_free(settings->list[i].value);
	}
	free(settings->list);
	free(settings->app);
	settings_file_unref(settings->file);
	free(settings);
}

static struct setting *find(const struct settings *settings, const char *name)
{
	size_t i;

	for (i = 0; i < settings->count; i++) {
		if (strcmp(settings->list[i].name, name) == 0)
			return &settings->list[i];
	}
	return NULL;
}

int settings_put(struct settings *settings, struct span name, struct span value)
{
	char *name_copy = span_dup(name);
	char *value_copy = span_dup(value);
	struct setting *old = name_copy ? find(settings, name_copy) : NULL;
	struct setting *list;

	if (!name_copy || !value_copy)
		goto fail;
	if (old) {
		secret_free(old->value);
		old->value = value_copy;
		free(name_copy);
		return 0;
	}
	list = reallocarray(settings->list, settings->count + 1, sizeof *list);
	if (!list)
		goto fail;
	list[settings->count++] = (struct setting){ name_copy, value_copy };
	settings->list = list;
	return 0;
fail:
	free(name_copy);
	secret_free(value_copy);
	return -ENOMEM;
}

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

/* Up to the closing quote; a backslash means something in double quotes only. */
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
		return err_set(err, -EINVAL, "%s:%d: the quote is not closed", SETTINGS_FILE,
			       l->number);
	l->at++;
	skip_blanks(l);
	if (!at_comment(l))
		return err_set(err, -EINVAL, "%s:%d: text behind the closing quote", SETTINGS_FILE,
			       l->number);
	return 0;
}

/* Up to the end of the line or " #", without blanks at the end. */
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

static int take_line(struct settings *settings, struct line *l, struct err *err)
{
	CLEANUP(settings_wipe) struct buf value = { 0 };
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
		return err_set(err, -EINVAL, "%s:%d: expected NAME=VALUE", SETTINGS_FILE,
			       l->number);
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
		r = settings_put(settings, name, buf_span(&value));
	return r < 0 ? err_nomem(err) : 0;
}

static int take_text(struct settings *settings, struct span text, struct err *err)
{
	struct line l = { .number = 1 };
	const char *at = text.data;
	const char *end = text.data + text.len;
	int r = 0;

	if (memchr(text.data, 0, text.len) || !utf8_is_valid(text))
		return err_set(err, -EINVAL, "%s is not a text file", SETTINGS_FILE);
	if (text.len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	for (; r == 0 && at < end; l.number++) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));

		l.at = at;
		at = lf ? lf + 1 : end;
		l.end = lf ? lf : end;
		if (l.end > l.at && l.end[-1] == '\r')
			l.end--;
		r = take_line(settings, &l, err);
	}
	return r;
}

/* A named pipe must not hold up the daemon: only regular files are read. */
int settings_read(int fd, const char *name, size_t max, struct buf *text, struct err *err)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", name);
	do {
		if (text->len > max)
			return err_set(err, -EFBIG, "%s is larger than %zu bytes", name, max);
		if (!buf_reserve(text, 4096))
			return err_nomem(err);
		n = read(fd, text->data + text->len, 4096);
		if (n > 0)
			text->len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? err_errno(err, -errno, "%s", name) : 0;
}

static int read_file(const char *folder, struct buf *text, struct err *err)
{
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;
	int r;

	if (dir < 0)
		return err_errno(err, -errno, "%s", folder);
	fd = openat(dir, SETTINGS_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	r = fd < 0 ? -errno : 0;
	(void)close(dir);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, r, "%s", SETTINGS_FILE);
	r = settings_read(fd, SETTINGS_FILE, SETTINGS_FILE_MAX, text, err);
	(void)close(fd);
	return r;
}

int settings_of_app(const char *app, struct settings **out)
{
	CLEANUP(settings_free_p) struct settings *settings = calloc(1, sizeof *settings);

	if (!settings)
		return -ENOMEM;
	settings->app = app ? strdup(app) : NULL;
	if (app && !settings->app)
		return -ENOMEM;
	settings->file = settings_file_now();
	*out = STEAL(&settings);
	return 0;
}

int settings_load(const char *folder, const char *app, struct settings **out, struct err *err)
{
	CLEANUP(settings_wipe) struct buf text = { 0 };
	CLEANUP(settings_free_p) struct settings *settings = NULL;
	int r = settings_of_app(app, &settings);

	if (r < 0)
		return err_nomem(err);
	r = read_file(folder, &text, err);
	if (r == 0)
		r = take_text(settings, buf_span(&text), err);
	if (r < 0)
		return r;
	*out = STEAL(&settings);
	return 0;
}

int settings_over(const struct settings *below, struct settings **out)
{
	struct settings *settings = calloc(1, sizeof *settings);

	if (!settings)
		return -ENOMEM;
	settings->below = below;
	*out = settings;
	return 0;
}

static int take_member(void *arg, struct span key, struct span value)
{
	CLEANUP(settings_wipe) struct buf text = { 0 };
	int r = value.data[0] == '"' ? json_unquote(value, &text) : -EINVAL;

	return r < 0 ? r : settings_put(arg, key, buf_span(&text));
}

int settings_of(struct span object, struct settings **out)
{
	CLEANUP(settings_free_p) struct settings *settings = calloc(1, sizeof *settings);
	int r;

	if (!settings)
		return -ENOMEM;
	settings->alone = true;
	r = object.len && object.data[0] == '{' ? json_each(object, take_member, settings)
						: -EINVAL;
	if (r < 0)
		return r;
	*out = STEAL(&settings);
	return 0;
}

bool settings_are_stale(const struct settings *settings)
{
	struct settings_file *now = settings->alone ? NULL : settings_file_now();
	bool stale = !settings->alone && now != settings->file;

	settings_file_unref(now);
	return stale;
}

static const char *own_value(const struct settings *settings, const char *name)
{
	const struct setting *own = find(settings, name);

	return own ? own->value : NULL;
}

const char *settings_at(const struct settings *settings, enum settings_origin origin,
			const char *name)
{
	const char *value = NULL;

	if (settings && origin == SETTINGS_OWN)
		value = own_value(settings, name);
	if (value || (settings && settings->alone))
		return value;
	if (settings && settings->below)
		return settings_at(settings->below, origin, name);
	if (origin == SETTINGS_ENVIRONMENT)
		return getenv(name);
	if (!settings || !settings->file || origin == SETTINGS_OWN)
		return NULL;
	if (origin == SETTINGS_PROVIDER)
		return settings_file_get(settings->file, NULL, name);
	return settings->app ? settings_file_get(settings->file, settings->app, name) : NULL;
}

const char *settings_get(const struct settings *settings, const char *name)
{
	const char *value = NULL;
	unsigned origin;

	for (origin = 0; !value && origin < SETTINGS_ORIGINS; origin++)
		value = settings_at(settings, origin, name);
	return value && *value ? value : NULL;
}

int settings_each(const struct settings *settings, settings_fn *fn, void *arg)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < settings->count; i++)
		r = fn(arg, settings->list[i].name);
	return r;
}
