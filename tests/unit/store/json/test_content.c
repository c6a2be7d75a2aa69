/*
 * Contents: parts in memory and as text, and that nothing is lost between.
 */
#include "store/json/base64.h"
#include "store/json/content.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct content *parse(const char *json)
{
	struct content *content = NULL;
	struct err err = { 0 };
	int r = content_from_json(span_of(json), &content, &err);

	if (r < 0)
		fail_msg("%s: %s: %s", json, err_name(r), err.text);
	return content;
}

static void expect(const char *json, const char *want)
{
	CLEANUP(content_free_p) struct content *content = parse(json);
	CLEANUP(content_free_p) struct content *copy = content_copy(content);
	CLEANUP(buf_release) struct buf out = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };

	content_to_json(content, &out);
	assert_string_equal(buf_cstr(&out), want);
	assert_non_null(copy);
	content_to_json(copy, &again);
	assert_string_equal(buf_cstr(&again), want);
}

static void expect_same(const char *json)
{
	expect(json, json);
}

static void test_kinds(void **state UNUSED)
{
	CLEANUP(content_free_p)
	struct content *c = parse(
		"{\"role\":\"model\",\"parts\":[{\"text\":\"t\\u0000\",\"thought\":true,\"thought_"
		"signature\":"
		"\"+/"
		"8\"},{\"function_call\":{\"name\":\"f\",\"id\":\"c1\",\"args\":{\"b\":1.0,\"a\":"
		"null}}},"
		"{\"functionResponse\":{\"id\":\"c1\",\"name\":\"f\",\"response\":{\"r\":[]}}},{"
		"\"inlineData\":{"
		"\"data\":\"+/8\",\"displayName\":\"d\",\"mimeType\":\"a/"
		"b\"}},{\"fileData\":{\"fileUri\":\"u\"}},"
		"{\"executableCode\":{\"code\":\"x\",\"language\":\"PYTHON\"}}]}");

	assert_string_equal(c->role, "model");
	assert_int_equal(c->count, 6);
	assert_int_equal(c->parts[0].kind, PART_TEXT);
	assert_true(c->parts[0].thought);
	assert_int_equal(c->parts[0].text.len, 2);
	assert_string_equal(c->parts[0].signature, "-_8=");
	assert_int_equal(c->parts[1].kind, PART_CALL);
	assert_string_equal(c->parts[1].id, "c1");
	assert_string_equal(c->parts[1].name, "f");
	assert_string_equal(c->parts[1].json, "{\"b\":1.0,\"a\":null}");
	assert_int_equal(c->parts[2].kind, PART_RESPONSE);
	assert_string_equal(c->parts[2].json, "{\"r\":[]}");
	assert_int_equal(c->parts[3].kind, PART_INLINE);
	assert_string_equal(buf_cstr(&c->parts[3].text), "-_8=");
	assert_string_equal(c->parts[3].name, "d");
	assert_int_equal(c->parts[4].kind, PART_FILE);
	assert_string_equal(c->parts[4].uri, "u");
	assert_null(c->parts[4].mime);
	assert_int_equal(c->parts[5].kind, PART_OTHER);
	assert_true(content_has(c, PART_CALL));
	assert_true(content_has(c, PART_OTHER));
}

/* A canonical content comes back as it is. */
static void test_round_trips(void **state UNUSED)
{
	expect_same("{\"parts\":[],\"role\":\"user\"}");
	expect_same("{\"parts\":[{\"text\":\"\"}]}");
	expect_same("{\"parts\":[{\"text\":\"a\\u0000\\\"\\n\xc3\xa9\"}],\"role\":\"odd role\"}");
	expect_same(
		"{\"parts\":[{\"text\":\"t\",\"thought\":true,\"thoughtSignature\":\"-_8=\"}]}");
	expect_same("{\"parts\":[{\"functionCall\":{\"id\":\"c\",\"args\":{\"x_y\":1E+2},\"name\":"
		    "\"n\"},"
		    "\"thoughtSignature\":\"AA==\"}],\"role\":\"model\"}");
	expect_same("{\"parts\":[{\"functionResponse\":{\"id\":\"c\",\"name\":\"n\",\"response\":{"
		    "\"x\":null}}}],"
		    "\"role\":\"user\"}");
	expect_same(
		"{\"parts\":[{\"inlineData\":{\"data\":\"AQID\",\"displayName\":\"d\",\"mimeType\":"
		"\"a/b\"}}"
		",{\"fileData\":{\"displayName\":\"d\",\"fileUri\":\"u\",\"mimeType\":\"m\"}}]}");
	expect_same("{\"parts\":[{},{\"thought\":true},{\"functionCall\":{\"name\":\"b\"},\"text\":"
		    "\"a\"}]}");
	expect_same("{\"parts\":[{\"text\":\"a\",\"partMetadata\":{\"k_l\":null}},{\"text\":\"\","
		    "\"videoMetadata\":{"
		    "\"fps\":1.50}}]}");
}

/* What has no field of its own is kept all the same. */
static void test_rare_members_stay(void **state UNUSED)
{
	expect_same("{\"parts\":[{\"functionCall\":{\"id\":\"c\",\"args\":{},\"name\":\"n\","
		    "\"willContinue\":true}"
		    "}]}");
	expect_same("{\"parts\":[{\"functionCall\":{\"id\":\"c\",\"args\":{},\"name\":\"n\","
		    "\"partialArgs\":[{"
		    "\"jsonPath\":\"$\"}]}}]}");
	expect_same("{\"parts\":[{\"functionResponse\":{\"willContinue\":true,\"scheduling\":"
		    "\"SILENT\",\"id\":"
		    "\"c\",\"name\":\"n\",\"response\":{}}}]}");
	expect_same("{\"parts\":[{\"functionResponse\":{\"parts\":[{\"fileData\":{\"fileUri\":"
		    "\"u\"}}],\"id\":"
		    "\"c\",\"name\":\"n\",\"response\":{}}}]}");
}

static void test_absent(void **state UNUSED)
{
	expect("{}", "{\"parts\":[]}");
	expect("{\"parts\":[{\"functionCall\":{\"name\":\"n\"}}]}",
	       "{\"parts\":[{\"functionCall\":{\"args\":{},\"name\":\"n\"}}]}");
	expect("{\"role\":null,\"parts\":null}", "{\"parts\":[]}");
	expect(" {\"parts\" : [ {\"text\":\"x\"} ] }\n", "{\"parts\":[{\"text\":\"x\"}]}");
}

static void test_refused(void **state UNUSED)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"null",
		"\"hi\"",
		"{\"parts\":\"hi\"}",
		"{\"parts\":[1]}",
		"{\"text\":\"x\"}",
		"{\"parts\":[{\"txt\":1}]}",
		"{\"parts\":[{\"inlineData\":{\"data\":\"*\"}}]}",
		"{}{}",
		"{",
		"{\"parts\":[{\"functionCall\":{\"args\":[]}}]}",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct content *content = NULL;
		struct err err = { 0 };
		int r = content_from_json(span_of(wrong[i]), &content, &err);

		if (r != -EINVAL && r != -ENODATA)
			fail_msg("'%s' gives %d", wrong[i], r);
		assert_null(content);
		assert_string_not_equal(err.text, "");
	}
}

static void test_build(void **state UNUSED)
{
	CLEANUP(content_free_p) struct content *c = content_new("model");
	CLEANUP(buf_release) struct buf out = { 0 };
	int i;

	assert_int_equal(content_add_text(c, SPAN("one "), false), 0);
	assert_int_equal(content_add_text(c, SPAN("two"), false), 0);
	assert_int_equal(content_add_text(c, SPAN("hm"), true), 0);
	assert_int_equal(content_add_text(c, SPAN("three"), false), 0);
	assert_int_equal(c->count, 3);
	assert_int_equal(content_add_function(c, PART_CALL, NULL, "f", SPAN("{}")), 0);
	assert_int_equal(content_add_text(c, SPAN("four"), false), 0);
	content_text(c, &out);
	assert_string_equal(buf_cstr(&out), "one twothreefour");
	buf_clear(&out);
	content_to_json(c, &out);
	assert_string_equal(
		buf_cstr(&out),
		"{\"parts\":[{\"text\":\"one two\"},{\"text\":\"hm\",\"thought\":true},{\"text\":"
		"\"three\"},{\"functionCall\":{\"args\":{},\"name\":\"f\"}},{\"text\":\"four\"}],"
		"\"role\":\"model\"}");
	for (i = 0; i < 100; i++)
		assert_non_null(content_add(c, PART_FILE));
	assert_int_equal(c->count, 105);
	part_release(&c->parts[0]);
	assert_int_equal(c->parts[0].kind, PART_TEXT);
	assert_int_equal(c->parts[0].text.len, 0);
}

/* A text with a signature is closed: what follows must not be signed with it. */
static void test_signed_text_is_not_joined(void **state UNUSED)
{
	CLEANUP(content_free_p)
	struct content *c = parse("{\"parts\":[{\"text\":\"a\",\"thoughtSignature\":\"AA==\"}]}");

	assert_int_equal(content_add_text(c, SPAN("b"), false), 0);
	assert_int_equal(c->count, 2);
}

static void test_base64(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	int n;

	for (n = 0; n < 300; n++) {
		CLEANUP(buf_release) struct buf text = { 0 };
		CLEANUP(buf_release) struct buf back = { 0 };
		enum base64_alphabet alphabet = n % 2 ? BASE64_STANDARD : BASE64_URL_SAFE;

		base64_encode(&text, buf_span(&bytes), alphabet);
		assert_int_equal(text.len, (bytes.len + 2) / 3 * 4);
		assert_null(memchr(buf_cstr(&text), n % 2 ? '_' : '/', text.len));
		assert_int_equal(base64_decode(buf_span(&text), &back), 0);
		assert_true(span_equal(buf_span(&back), buf_span(&bytes)));
		buf_char(&bytes, (char)(n * 89 + n / 7));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_rare_members_stay),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_signed_text_is_not_joined),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
