/*
 * MIME types: see mime.h. Content is judged by libmagic; where it only says
 * "text" or "bytes", the ending of the name may know better.
 */
#include "store/artifact/mime.h"

#include "base/mutex.h"

#include <magic.h>
#include <stdio.h>
#include <strings.h>

static const struct {
	const char *ending;
	const char *mime;
} endings[] = {
	{ ".md", "text/markdown" },      { ".csv", "text/csv" },
	{ ".json", "application/json" }, { ".jsonl", "application/jsonl" },
	{ ".yaml", "application/yaml" }, { ".yml", "application/yaml" },
	{ ".html", "text/html" },        { ".css", "text/css" },
	{ ".js", "text/javascript" },    { ".svg", "image/svg+xml" },
	{ ".xml", "application/xml" },   { ".txt", "text/plain" },
	{ ".log", "text/plain" },        { ".pdf", "application/pdf" },
	{ ".png", "image/png" },         { ".jpg", "image/jpeg" },
	{ ".jpeg", "image/jpeg" },       { ".gif", "image/gif" },
	{ ".webp", "image/webp" },       { ".mp3", "audio/mpeg" },
	{ ".wav", "audio/wav" },         { ".mp4", "video/mp4" },
	{ ".zip", "application/zip" },
};

static struct mutex magic_lock = MUTEX_INIT;
static magic_t magic; /* guarded by magic_lock; opened at the first use, kept */

static void look(struct span head, char *out, size_t size)
{
	const char *found = NULL;

	mutex_lock(&magic_lock);
	if (!magic) {
		magic = magic_open(MAGIC_MIME_TYPE);
		if (magic && magic_load(magic, NULL) < 0) {
			magic_close(magic);
			magic = NULL;
		}
	}
	if (magic)
		found = magic_buffer(magic, head.data, head.len);
	(void)snprintf(out, size, "%s", found ? found : "application/octet-stream");
	mutex_unlock(&magic_lock);
}

void mime_guess(struct span head, const char *name, char *out, size_t size)
{
	const char *dot = strrchr(name, '.');
	size_t i;

	look(head, out, size);
	if (strncmp(out, "text/", 5) != 0 && strcmp(out, "application/octet-stream") != 0 &&
	    strcmp(out, "inode/x-empty") != 0 && strcmp(out, "application/x-empty") != 0 &&
	    strcmp(out, "application/json") != 0)
		return;
	for (i = 0; dot && i < ARRAY_SIZE(endings); i++) {
		if (!strcasecmp(dot, endings[i].ending)) {
			(void)snprintf(out, size, "%s", endings[i].mime);
			return;
		}
	}
	if (strstr(out, "x-empty"))
		(void)snprintf(out, size, "application/octet-stream");
}
