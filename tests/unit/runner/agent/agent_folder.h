/*
 * For tests of what agents' folders hold: a folder, which is the working
 * directory, and what loading it gives.
 */
#ifndef TESTS_UNIT_AGENT_FOLDER_H
#define TESTS_UNIT_AGENT_FOLDER_H

#include "runner/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX];

/* Make a file of the folder. */
static UNUSED void put(const char *name, const char *text, mode_t mode)
{
	int fd;

	(void)unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

#define HEAD "name: a\nmodel: openai/s\ninstruction: i\n"

static UNUSED void expect_error_of(int code, const char *want)
{
	struct agent_tree *tree = NULL;
	struct err err = { 0 };
	int r = agent_load(folder, &tree, &err);

	if (r != code || strcmp(err.text, want) != 0)
		fail_msg("gives  %d %s\nwanted %d %s", r, r ? err.text : "", code, want);
	assert_null(tree);
}

/* The file gives this error. */
static UNUSED void expect_error(const char *yaml, const char *want)
{
	put("root_agent.yaml", yaml, 0600);
	expect_error_of(-EINVAL, want);
}

/* The file gives a tree; its root. To be dropped. */
static UNUSED struct agent *load(const char *yaml)
{
	struct agent_tree *tree = NULL;
	struct err err = { 0 };

	put("root_agent.yaml", yaml, 0600);
	if (agent_load(folder, &tree, &err) < 0)
		fail_msg("%s\ngives %s", yaml, err.text);
	return tree->root;
}

static UNUSED void drop(struct agent *root)
{
	agent_tree_unref(root->tree);
}

/* A program that does nothing. */
static UNUSED void put_program(const char *name)
{
	put(name, "#!/bin/sh\n", 0700);
}

static UNUSED int set_up(void **state UNUSED)
{
	char name[] = "/tmp/test_folder.XXXXXX";

	return !mkdtemp(name) || !realpath(name, folder) || chdir(folder) < 0 ||
	       mkdir("tools", 0700) < 0 || mkdir("agents", 0700) < 0;
}

static UNUSED int tear_down(void **state UNUSED)
{
	char command[PATH_MAX + 16];

	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

#endif
