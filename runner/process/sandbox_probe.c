/*
 * Finding bwrap and trying it once: see sandbox.h.
 */
#include "runner/process/sandbox.h"

#include "runner/process/process.h"
#include "runner/process/sandbox_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRAM          "bwrap"
#define PATH_USUAL       "/usr/local/bin:/usr/bin:/bin"
#define PROBE_TIMEOUT_MS 10000

static const struct {
	const char *name;
	enum sandbox_mode mode;
} modes[] = {
	{ "auto", SANDBOX_AUTO },
	{ PROGRAM, SANDBOX_BWRAP },
	{ "none", SANDBOX_NONE },
};

bool sandbox_find(const char *name, enum sandbox_mode *mode, const char **names)
{
	size_t i;

	*names = "auto, " PROGRAM " or none";
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(modes[i].name, name)) {
			*mode = modes[i].mode;
			return true;
		}
	}
	return false;
}

static int find_bwrap(struct sandbox *sb)
{
	const char *path = getenv("PATH");
	CLEANUP(buf_release) struct buf file = { 0 };
	size_t n;

	for (path = path ? path : PATH_USUAL; *path && !sb->bwrap; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		buf_clear(&file);
		buf_printf(&file, "%.*s/%s", (int)n, path, PROGRAM);
		if (!buf_cstr(&file))
			return -ENOMEM;
		if (*file.data == '/' && access(file.data, X_OK) == 0)
			sb->bwrap = strdup(file.data);
	}
	return sb->bwrap ? 0 : -ENOENT;
}

/* Run a program that does nothing in the sandbox. */
static int try_bwrap(const struct sandbox *sb, struct err *err)
{
	char *const env[] = { "PATH=" PATH_USUAL, NULL };
	struct process p = { .program = "/bin/true",
			     .folder = "/usr",
			     .env = env,
			     .timeout_ms = PROBE_TIMEOUT_MS,
			     .sandbox = sb };
	struct cancel never;
	struct span said;
	int r = cancel_init(&never, err);

	if (r < 0)
		return r;
	r = process_run_all(&p, 1, &never, err);
	said = span_trim_end(buf_span(&p.stderr_text));
	if (r == 0 && (p.failure || p.status))
		r = err_set(err, -EPERM, "%s does not work here: %.*s", sb->bwrap,
			    (int)MIN(said.len, 160), said.len ? said.data : "it fails");
	cancel_release(&never);
	process_release(&p);
	return r;
}

static int turn_on(struct sandbox *sb, struct err *err)
{
	int r = find_bwrap(sb);

	if (r == -ENOENT)
		return err_set(err, r, PROGRAM " (bubblewrap) is not in PATH");
	if (r == 0)
		r = sandbox_view_start(VIEW_PROGRAM, sb->bwrap, &sb->views[VIEW_PROGRAM]);
	if (r == 0)
		r = sandbox_view_start(VIEW_SERVER, sb->bwrap, &sb->views[VIEW_SERVER]);
	return r < 0 ? err_nomem(err) : try_bwrap(sb, err);
}

static void release_views(struct sandbox *sb)
{
	size_t i;

	for (i = 0; i < VIEWS; i++)
		buf_release(&sb->views[i]);
}

static void turn_off(struct sandbox *sb, const char *reason)
{
	free(sb->bwrap);
	sb->bwrap = NULL;
	release_views(sb);
	(void)snprintf(sb->reason, sizeof sb->reason, "%s", reason);
}

int sandbox_new(enum sandbox_mode mode, struct sandbox **out, struct err *err)
{
	struct sandbox *sb = calloc(1, sizeof *sb);
	struct err reason = { 0 };
	int r = 0;

	if (!sb)
		return err_nomem(err);
	if (mode == SANDBOX_NONE)
		turn_off(sb, "it was not asked for");
	else
		r = turn_on(sb, &reason);
	if (r == -ENOMEM || (r < 0 && mode == SANDBOX_BWRAP)) {
		sandbox_free(sb);
		return err_set(err, r, "%s", reason.text);
	}
	if (r < 0)
		turn_off(sb, reason.text);
	*out = sb;
	return 0;
}

void sandbox_free(struct sandbox *sandbox)
{
	if (!sandbox)
		return;
	free(sandbox->bwrap);
	release_views(sandbox);
	free(sandbox);
}

const char *sandbox_name(const struct sandbox *sandbox)
{
	return sandbox_is_on(sandbox) ? PROGRAM : "none";
}

const char *sandbox_reason(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->reason : "it was not asked for";
}
