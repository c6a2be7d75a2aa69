/*
 * Values: see values.h.
 */
#include "runner/settings/values.h"

#include "base/net/secrets.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct value {
	char *name;
	char *text;
};

void values_release(struct values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		free(values->list[i].name);
		secret_free(values->list[i].text);
	}
	free(values->list);
	*values = (struct values){ 0 };
}

static struct value *value_find(const struct values *values, const char *name)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (strcmp(values->list[i].name, name) == 0)
			return &values->list[i];
	}
	return NULL;
}

int values_put(struct values *values, struct span name, struct span value)
{
	char *name_copy = span_dup(name);
	char *text_copy = span_dup(value);
	struct value *old = name_copy ? value_find(values, name_copy) : NULL;
	struct value *list;

	if (!name_copy || !text_copy)
		goto fail;
	if (old) {
		secret_free(old->text);
		old->text = text_copy;
		free(name_copy);
		return 0;
	}
	list = reallocarray(values->list, values->count + 1, sizeof *list);
	if (!list)
		goto fail;
	list[values->count++] = (struct value){ name_copy, text_copy };
	values->list = list;
	return 0;
fail:
	free(name_copy);
	secret_free(text_copy);
	return -ENOMEM;
}

const char *values_get(const struct values *values, const char *name)
{
	const struct value *found = value_find(values, name);

	return found ? found->text : NULL;
}

int values_each(const struct values *values, values_fn *fn, void *arg)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < values->count; i++)
		r = fn(arg, values->list[i].name);
	return r;
}

/* Only regular files are read: a named pipe must not hold up the daemon. */
int values_read(int fd, const char *name, size_t max, struct buf *text, struct err *err)
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
