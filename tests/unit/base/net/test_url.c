/*
 * URLs, as libcurl takes them apart.
 */
#include "base/net/http.h"
#include "base/net/url.h"

#include <errno.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_parts(void **state)
{
	static const struct {
		const char *text;
		int r;
		const char *host;
		const char *port;
		const char *path;
	} rows[] = {
		{ "http://a.example", 0, "a.example", NULL, "/" },
		{ "http://a.example:8080/x?y#z", 0, "a.example", "8080", "/x" },
		{ "http://[::1]:8080", 0, "[::1]", "8080", "/" },
		{ "http://[2001:db8::1]/x", 0, "[2001:db8::1]", NULL, "/x" },
		{ "http://user:pass@a.example:1/x", 0, "a.example", "1", "/x" },
		{ "socks5h://user@a.example:1080", 0, "a.example", "1080", "/" },
		{ "http://a.example?x=/y", 0, "a.example", NULL, "/" },
		{ "http://a.example#x", 0, "a.example", NULL, "/" },
		{ "http://a.example:0", 0, "a.example", "0", "/" },
		{ "http://a.example:65536", -ERANGE, NULL, NULL, NULL },
		{ "http://a.example:x", -ERANGE, NULL, NULL, NULL },
		{ "http://::1", -ERANGE, NULL, NULL, NULL },
		{ "http://[::1", -EINVAL, NULL, NULL, NULL },
		{ "http://", -EINVAL, NULL, NULL, NULL },
		{ "a.example", -EINVAL, NULL, NULL, NULL },
		{ "", -EINVAL, NULL, NULL, NULL },
		{ "http://a b", -EINVAL, NULL, NULL, NULL },
		{ "http://a/b c", -EINVAL, NULL, NULL, NULL },
		{ "http://a\nb", -EINVAL, NULL, NULL, NULL },
		{ "http://a/\x7f", -EINVAL, NULL, NULL, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(url_release) struct url url = { 0 };

		assert_int_equal(url_parse(rows[i].text, &url), rows[i].r);
		if (rows[i].r < 0) {
			assert_null(url.host);
			continue;
		}
		assert_string_equal(url.host, rows[i].host);
		assert_string_equal(url.path, rows[i].path);
		assert_int_equal(url.port != NULL, rows[i].port != NULL);
		if (url.port)
			assert_string_equal(url.port, rows[i].port);
	}
}

static void test_schemes(void **state)
{
	(void)state;
	assert_true(url_has_scheme("http://a", "http"));
	assert_true(url_has_scheme("HTTP://a", "http"));
	assert_false(url_has_scheme("https://a", "http"));
	assert_false(url_has_scheme("http:/a", "http"));
	assert_false(url_has_scheme("", "http"));
}

/* What looks like a password is found in invalid URLs too. */
static void test_userinfo(void **state)
{
	static const char *const rows[][2] = {
		{ "http://user:pass@a/x@y", "user:pass" },
		{ "http://us er:p@ss@a", "us er:p@ss" },
		{ "socks5://u@[::1]:1", "u" },
		{ "http://@a", "" },
		{ "http://a/x@y", NULL },
		{ "http://a?x@y", NULL },
		{ "user@a", NULL },
		{ "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct span user = url_userinfo(rows[i][0]);

		if (rows[i][1])
			assert_true(user.data && span_is(user, rows[i][1]));
		else
			assert_null(user.data);
	}
}

static void test_request_path(void **state)
{
	static const char *const rows[][2] = {
		{ "http://[::1]:8080/v1/x?key=y", "/v1/x" },
		{ "http://a", "/" },
		{ "no URL", "/" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(http_request_release) struct http_request rq = { 0 };
		CLEANUP(buf_release) struct buf path = { 0 };

		buf_text(&rq.url, rows[i][0]);
		http_request_path(&rq, &path);
		assert_string_equal(buf_cstr(&path), rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_schemes),
		cmocka_unit_test(test_userinfo),
		cmocka_unit_test(test_request_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
