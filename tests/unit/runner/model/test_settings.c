/*
 * Settings: where values come from, the settings file, keys, and what is hidden.
 */
#include "base/clock.h"
#include "base/net/http.h"
#include "runner/model/member.h"
#include "runner/model/sections.h"
#include "runner/model/settings.h"
#include "runner/settings/command.h"
#include "runner/settings/file.h"
#include "runner/wire/key.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/adkfs-settings-XXXXXX";
static char path[64];

/* Write the settings file as an editor does that renames. */
static void write_file(const char *text)
{
	char fresh[80];
	FILE *f;

	(void)snprintf(fresh, sizeof fresh, "%s.new", path);
	f = fopen(fresh, "we");
	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(fresh, 0600), 0);
	assert_int_equal(rename(fresh, path), 0);
}

static int make_folder(void **state)
{
	(void)state;
	unsetenv("OPENAI_API_KEY");
	unsetenv("OPENAI_API_KEY_COMMAND");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof path, "%s/models.yaml", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static int end(void **state)
{
	(void)state;
	settings_file_close();
	key_command_exit();
	return 0;
}

/* What a file says that is right, and the errors of those that are not. */
static void test_file(void **state)
{
	static const struct {
		const char *text;
		const char *error; /* behind the path; NULL: it is fine */
	} files[] = {
		{ "", NULL },
		{ "# nothing\n", NULL },
		{ "openai:\n  api_key: a\n  headers: {}\n", NULL },
		{ "openai: {api_key: ''}", NULL },
		{ "apps: {}", NULL },
		{ "apps: {a: {}}", NULL },
		{ "openai: [a]", ":1: openai: is not a mapping" },
		{ "openai: ~", ":1: openai: is not a mapping" },
		{ "apps: [a]", ":1: apps: is not a mapping" },
		{ "apps:\n  a: x", ":2: apps.a: is not a mapping" },
		{ "apps:\n  a:\n    nobody: {}", ":3: apps.a.nobody: there is no provider" },
		{ "script: {}", ":1: script: there is no provider 'script'" },
		{ "openai:\n  api_key: true", ":2: openai.api_key: is not a text" },
		{ "openai:\n  headers: x", ":2: openai.headers: is not a mapping" },
		{ "openai:\n  headers: {A: 1}", ":2: openai.headers: is not a mapping of names" },
		{ "openai:\n  headers: {A: \"x\\ny\"}", ":2: openai.headers: is not a mapping of" },
		{ "openai:\n  headers: {Transfer-Encoding: x}",
		  ":2: openai.headers: holds a name" },
		{ "openai:\n  api_key_command: []", ":2: openai.api_key_command: is neither" },
		{ "openai:\n  api_key_command: [a, 1]", ":2: openai.api_key_command: is neither" },
		{ "openai:\n  base_url_command: x", ":2: openai.base_url_command: is unknown" },
		{ "openai:\n  a: 1\n  a: 2", ":3: " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct err err = { 0 };
		int r;

		write_file(files[i].text);
		r = model_settings_open(path, &err);
		assert_int_equal(r, files[i].error ? -EINVAL : 0);
		if (files[i].error &&
		    (strncmp(err.text, path, strlen(path)) != 0 ||
		     strncmp(err.text + strlen(path), files[i].error, strlen(files[i].error)) != 0))
			fail_msg("'%s': %s", files[i].text, err.text);
		settings_file_close();
	}
}

static void assert_value(const struct settings *s, enum settings_origin origin, const char *name,
			 const char *value)
{
	const char *got = settings_at(s, origin, name);

	if (value)
		assert_string_equal(got, value);
	else
		assert_null(got);
}

static void test_members(void **state)
{
	struct settings *s = NULL;

	(void)state;
	write_file("openai:\n  api_key_command: [\"a b\", \"it's\"]\n  org_id: o\n  proxy: p\n"
		   "  headers: {X-A: '1', X-B: ' 2'}\n  ca_file: /c\n"
		   "apps: {w: {openai: {api_key: k}}}\n");
	assert_int_equal(model_settings_open(path, NULL), 0);
	assert_int_equal(settings_of_app("w", &s), 0);
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_API_KEY_COMMAND", "exec 'a b' 'it'\\''s'");
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_ORG_ID", "o");
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_PROXY", "p");
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_CA_FILE", "/c");
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_CUSTOM_HEADERS", "X-A: 1\nX-B:  2\n");
	assert_value(s, SETTINGS_PROVIDER, "OPENAI_API_KEY", NULL);
	assert_value(s, SETTINGS_APP, "OPENAI_API_KEY", "k");
	assert_value(s, SETTINGS_APP, "OPENAI_ORG_ID", NULL);
	settings_free(s);
}

/* The first place that knows a key or a command for it decides. */
static void test_key_order(void **state)
{
	const struct model_provider *openai = model_provider_named("openai");
	struct settings *s = NULL;
	struct settings *over = NULL;
	const char *name = NULL;

	(void)state;
	write_file("openai: {api_key: of-provider}\napps: {w: {openai: {api_key_command: run}}}\n");
	assert_int_equal(model_settings_open(path, NULL), 0);
	assert_int_equal(settings_of_app("w", &s), 0);
	setenv("OPENAI_API_KEY", "of-environment", 1);
	assert_string_equal(model_key_command(openai, s, &name), "run");
	assert_string_equal(name, "OPENAI_API_KEY");
	assert_null(model_key(openai, s));
	assert_int_equal(settings_over(s, &over), 0);
	assert_int_equal(settings_put(over, SPAN("OPENAI_API_KEY"), SPAN("given")), 0);
	assert_null(model_key_command(openai, over, &name));
	assert_string_equal(model_key(openai, over), "given");
	assert_int_equal(settings_put(over, SPAN("OPENAI_API_KEY"), SPAN("")), 0);
	assert_null(model_key_command(openai, over, &name));
	assert_null(model_key(openai, over));
	settings_free(over);
	settings_free(s);
	assert_int_equal(settings_of_app("x", &s), 0);
	assert_string_equal(model_key(openai, s), "of-environment");
	unsetenv("OPENAI_API_KEY");
	setenv("OPENAI_API_KEY_COMMAND", "env", 1);
	assert_string_equal(model_key_command(openai, s, &name), "env");
	unsetenv("OPENAI_API_KEY_COMMAND");
	assert_string_equal(model_key(openai, s), "of-provider");
	settings_free(s);
}

static void test_secrets_of_urls(void **state)
{
	static const struct {
		const char *url;
		const char *first; /* NULL: none */
		size_t count;
	} urls[] = {
		{ "http://user:password@host/x@y", "user:password", 2 },
		{ "http://a-long-user@host", "a-long-user", 1 },
		{ "http://u:pass-word@at@host", "u:pass-word@at", 2 },
		{ "http://host/user:password@x", NULL, 0 },
		{ "user:password@host", NULL, 0 },
		{ "http://u:p@host", NULL, 0 },
		{ "", NULL, 0 },
		{ NULL, NULL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(urls); i++) {
		struct secrets secrets = { 0 };

		secrets_add_url(&secrets, urls[i].url);
		assert_int_equal(secrets.count, urls[i].count);
		if (urls[i].first)
			assert_true(span_is(secrets.list[0], urls[i].first));
	}
}

/* A secret of asterisks is put under asterisks, and that ends. */
static void test_blank(void **state)
{
	struct secrets secrets = { 0 };
	struct buf text = { 0 };

	(void)state;
	secrets_add(&secrets, "********");
	secrets_add(&secrets, "12345678");
	buf_text(&text, "a********b1234567812345678c");
	secrets_blank(&secrets, &text);
	assert_true(span_is(buf_span(&text), "a********b****************c"));
	buf_release(&text);
}

static void test_replaced_headers(void **state)
{
	struct http_request rq = { 0 };

	(void)state;
	assert_int_equal(http_request_header(&rq, "Accept: a"), 0);
	assert_int_equal(http_request_header(&rq, "Accept-Language: b"), 0);
	assert_int_equal(http_request_header(&rq, "ACCEPT: c"), 0);
	assert_int_equal(http_request_replace(&rq, SPAN("accept"), SPAN("d")), 0);
	assert_int_equal(http_request_replace(&rq, SPAN("X"), SPAN("a\001")), -EINVAL);
	assert_int_equal(rq.header_count, 2);
	assert_string_equal(rq.headers[0], "Accept-Language: b");
	assert_string_equal(rq.headers[1], "accept: d");
	http_request_release(&rq);
}

static void test_command(void **state)
{
	struct cancel cancel;
	char *key = NULL;
	char *again = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cancel_init(&cancel, NULL), 0);
	assert_int_equal(key_command_run("date +%N; echo x", NULL, &cancel, &key, &err), 0);
	assert_int_equal(key_command_run("date +%N; echo x", NULL, &cancel, &again, &err), 0);
	assert_string_equal(key, again);
	free(again);
	assert_int_equal(key_command_run("date +%N; echo x", "another", &cancel, &again, &err), 0);
	assert_string_equal(key, again);
	free(again);
	assert_int_equal(key_command_run("date +%N; echo x", key, &cancel, &again, &err), 0);
	assert_string_not_equal(key, again);
	free(again);
	free(key);
	assert_int_equal(
		key_command_run("head -c 20000 /dev/zero | tr '\\0' x", NULL, &cancel, &key, &err),
		-EACCES);
	assert_non_null(strstr(err.text, "longer than"));
	assert_int_equal(key_command_run("yes", NULL, &cancel, &key, &err), -EACCES);
	assert_string_equal(err.text, "it wrote too much");
	cancel_fire(&cancel);
	assert_int_equal(key_command_run("sleep 20", NULL, &cancel, &key, &err), -ECANCELED);
	cancel_release(&cancel);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test_teardown(test_members, end),
		cmocka_unit_test_teardown(test_key_order, end),
		cmocka_unit_test(test_secrets_of_urls),
		cmocka_unit_test(test_blank),
		cmocka_unit_test(test_replaced_headers),
		cmocka_unit_test_teardown(test_command, end),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
