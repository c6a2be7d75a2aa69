/*
 * Events: what a line may look like, and the bytes that become of it.
 *
 * ADKFS_WIRE may name a file with one canonical line a row (other rows are
 * passed over): they are checked too.
 */
#include "store/json/event.h"

#include "store/json/deleted.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A line with what every line has; HEAD and TAIL go around what a test is about. */
#define EMPTY "{\"stateDelta\":{},\"artifactDelta\":{},\"requestedAuthConfigs\":{}}"
#define TAIL  "\"id\":\"k1\",\"timestamp\":1700000001.000000}"

static int parse(struct span line, struct buf *out, struct err *err)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = event_from_json(line, &e, err);

	if (r < 0)
		return r;
	event_to_json(&e, out);
	return buf_check(out, err);
}

static void expect(const char *line, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };
	struct err err = { 0 };
	int r = parse(span_of(line), &out, &err);

	if (r < 0)
		fail_msg("%s: %s: %s", line, err_name(r), err.text);
	assert_string_equal(buf_cstr(&out), want);
	r = parse(buf_span(&out), &again, &err);
	if (r < 0)
		fail_msg("its own line is refused: %s: %s", want, err.text);
	assert_string_equal(buf_cstr(&again), want);
}

static void expect_code(const char *line, int code, const char *says)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };
	int r = parse(span_of(line), &out, &err);

	if (r >= 0)
		fail_msg("%.300s: accepted as %s", line, buf_cstr(&out));
	if (r != code)
		fail_msg("%.300s: %s (%s), not %s", line, err_name(r), err.text, err_name(code));
	assert_true(err.code < 0);
	if (!strstr(err.text, says))
		fail_msg("%.300s: '%s' does not name '%s'", line, err.text, says);
}

/* The line {"author":"u","id":"k1","timestamp":1700000001, MEMBERS}. */
static void line_with(struct buf *line, const char *members)
{
	buf_printf(line, "{\"author\":\"u\",\"id\":\"k1\",\"timestamp\":1700000001%s%s}",
		   *members ? "," : "", members);
	assert_non_null(buf_cstr(line));
}

/* before: members in front of invocationId; actions: their text or NULL; after: behind them. */
static void expect_members(const char *members, const char *before, const char *actions,
			   const char *after)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };

	line_with(&line, members);
	buf_printf(&want, "{%s%s\"invocationId\":\"\",\"author\":\"u\",\"actions\":%s,%s%s" TAIL,
		   before, *before ? "," : "", actions ? actions : EMPTY, after, *after ? "," : "");
	expect(line.data, buf_cstr(&want));
}

static void expect_refused(const char *members, const char *says)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	line_with(&line, members);
	expect_code(line.data, -EINVAL, says);
}

/* The same for a member of actions. */
static void expect_action(const char *member, const char *actions)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members, "\"actions\":{%s}", member);
	expect_members(buf_cstr(&members), "", actions, "");
}

static void refuse_action(const char *member, const char *says)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members, "\"actions\":{%s}", member);
	expect_refused(buf_cstr(&members), says);
}

/* Lines in the form in which they are stored, of every kind of event. */
static const char *const canonical[] = {
	"{\"content\":{\"parts\":[{\"text\":\"good "
	"day\"}],\"role\":\"user\"},\"invocationId\":\"e-a\","
	"\"author\":\"user\",\"actions\":" EMPTY ",\"id\":\"n1\",\"timestamp\":1700000000.000001}",
	"{\"modelVersion\":\"m-9\",\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},"
	"{\"text\":\"Yes.\",\"thoughtSignature\":\"-_8=\"}],\"role\":\"model\"},"
	"\"finishReason\":\"STOP\",\"usageMetadata\":{\"candidatesTokensDetails\":[{\"modality\":"
	"\"TEXT\",\"tokenCount\":7}],\"cachedContentTokenCount\":1,\"candidatesTokenCount\":7,"
	"\"promptTokenCount\":30,\"thoughtsTokenCount\":2,\"totalTokenCount\":39,\"trafficType\":"
	"\"ON_DEMAND\"},\"avgLogprobs\":-0.10,\"invocationId\":\"e-a\",\"author\":\"clerk\","
	"\"actions\":" EMPTY ",\"branch\":\"all.clerk\",\"id\":\"n2\",\"timestamp\":1700000000.5"
	"00000}",
	"{\"content\":{\"parts\":[{\"executableCode\":{\"code\":\"1+1\",\"language\":\"PYTHON\"}},"
	"{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"2\\n\"}},{\"fileData\":"
	"{\"displayName\":\"d\",\"fileUri\":\"gs://x/y\",\"mimeType\":\"text/"
	"csv\"}},{\"functionCall\""
	":{\"id\":\"adk-x\",\"args\":{\"b\":null,\"a\":[1.0,{}]},\"name\":\"look\"}},{"
	"\"inlineData\":{"
	"\"data\":\"AQID\",\"displayName\":\"p\",\"mimeType\":\"image/png\"}}],\"role\":\"model\"},"
	"\"invocationId\":\"e-b\",\"author\":\"clerk\",\"actions\":" EMPTY
	",\"longRunningToolIds\":[\"adk-x\"],\"id\":\"n3\",\"timestamp\":1700000000.600000}",
	"{\"content\":{\"parts\":[{\"functionResponse\":{\"willContinue\":false,\"scheduling\":"
	"\"IDLE\",\"parts\":[{\"inlineData\":{\"data\":\"\",\"mimeType\":\"a/"
	"b\"}}],\"id\":\"adk-x\","
	"\"name\":\"look\",\"response\":{\"ok\":true}}}],\"role\":\"user\"},\"invocationId\":\"e-"
	"b\","
	"\"author\":\"clerk\",\"actions\":{\"skipSummarization\":true,\"stateDelta\":{\"n\":1E+2,"
	"\"user:a\":null,\"app:\xc3\xa9\":\"\\u0001\"},\"artifactDelta\":{\"a "
	"b.png\":3,\"user:c\":-1},"
	"\"transferToAgent\":\"boss\",\"escalate\":true,\"requestedAuthConfigs\":{\"adk-x\":{"
	"\"credentialKey\":\"k\"}},\"requestedToolConfirmations\":{\"adk-x\":{\"hint\":\"sure?\","
	"\"confirmed\":false,\"payload\":{\"snake_key\":null}}},\"endOfAgent\":true,\"agentState\":"
	"{"
	"\"times_looped\":2,\"x\":null},\"rewindBeforeInvocationId\":\"e-a\",\"route\":[true,2,"
	"\"x\"],"
	"\"renderUiWidgets\":[{\"a\":1}],\"setModelResponse\":[null]},\"id\":\"n4\",\"timestamp\":"
	"1700000000.700000}",
	"{\"customMetadata\":{\"adkfs.compacted\":{\"from\":\"a\",\"to\":\"b\"},\"mine_too\":null},"
	"\"invocationId\":\"e-c\",\"author\":\"user\",\"actions\":{\"stateDelta\":{},"
	"\"artifactDelta\":{},\"requestedAuthConfigs\":{},\"compaction\":{\"startTimestamp\":"
	"1.000000,\"endTimestamp\":2.500000,\"compactedContent\":{\"parts\":[{\"text\":\"sum\"}],"
	"\"role\":\"model\"}}},\"id\":\"n5\",\"timestamp\":1700000001.000000}",
	"{\"customMetadata\":{\"adkfs.deleted\":[\"k\",\"user:k\"]},\"invocationId\":\"p-d\","
	"\"author\":\"user\",\"actions\":{\"stateDelta\":{\"k\":null,\"user:k\":null},"
	"\"artifactDelta\""
	":{},\"requestedAuthConfigs\":{}},\"id\":\"n6\",\"timestamp\":0.000000}",
	"{\"content\":{\"parts\":[{\"text\":\"One "
	"da\"}],\"role\":\"model\"},\"errorCode\":\"CANCELLED\""
	",\"errorMessage\":\"stopped\",\"interrupted\":true,\"invocationId\":\"e-f\",\"author\":"
	"\"a\","
	"\"actions\":" EMPTY ",\"id\":\"n7\",\"timestamp\":99999999999.999999}",
	"{\"groundingMetadata\":{\"searchEntryPoint\":{\"sdkBlob\":\"-_8=\",\"renderedContent\":\"<"
	"\"},"
	"\"webSearchQueries\":[\"q\"]},\"partial\":true,\"turnComplete\":false,"
	"\"turnCompleteReason\":"
	"\"r\",\"liveSessionResumptionUpdate\":{\"newHandle\":\"h\"},\"liveSessionId\":\"l\","
	"\"goAway\":"
	"{\"timeLeft\":\"1s\"},\"liveSetupComplete\":{},\"inputTranscription\":{\"text\":\"t\","
	"\"finished\":true,\"words\":[{\"w\":1}]},\"outputTranscription\":{\"languageCode\":\"de\","
	"\"speakerLabel\":\"s\"},\"logprobsResult\":{\"topCandidates\":[]},\"cacheMetadata\":{"
	"\"cacheName\":\"c\"},\"citationMetadata\":{\"citations\":[{\"startIndex\":0,\"endIndex\":"
	"4,"
	"\"uri\":\"u\",\"title\":\"t\",\"license\":\"l\",\"publicationDate\":{\"year\":2020,"
	"\"month\":2,"
	"\"day\":29}}]},\"interactionId\":\"i\",\"invocationId\":\"\",\"author\":\"live\","
	"\"actions\":" EMPTY
	",\"output\":[1,null],\"nodeInfo\":{\"path\":\"a/b\",\"outputFor\":[\"x\"],"
	"\"messageAsOutput\":true},\"isolationScope\":\"s\",\"id\":\"n8\",\"timestamp\":5.000000}",
	"{\"content\":{\"parts\":[{\"mediaResolution\":{\"level\":\"LOW\",\"numTokens\":4},"
	"\"text\":"
	"\"\"},{\"thought\":true},{\"videoMetadata\":{\"endOffset\":\"9s\",\"fps\":0.50,"
	"\"startOffset\":"
	"\"1s\"}},{\"toolCall\":{\"id\":\"t\",\"toolType\":\"X\",\"args\":{\"a_b\":1}}},{"
	"\"toolResponse\""
	":{\"id\":\"t\",\"toolType\":\"X\",\"response\":{\"a_b\":null}}},{\"partMetadata\":{\"p_"
	"q\":null}"
	",\"audioTranscription\":{\"text\":\"t\"}},{}],\"role\":\"narrator\"},\"invocationId\":"
	"\"\","
	"\"author\":\"a\",\"actions\":" EMPTY ",\"id\":\"n9\",\"timestamp\":5.000001}",
};

static void test_canonical_lines(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(canonical); i++)
		expect(canonical[i], canonical[i]);
}

/* The lines of a file of the user's choice. */
static void test_lines_of_a_file(void **state UNUSED)
{
	const char *path = getenv("ADKFS_WIRE");
	FILE *file = path ? fopen(path, "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	size_t checked = 0;
	ssize_t n;

	if (!file) {
		print_message("ADKFS_WIRE names no file\n");
		skip();
	}
	while ((n = getline(&line, &size, file)) > 0) {
		line[n - 1] = 0;
		if (line[0] != '{' || !strstr(line, "\"author\":\"") ||
		    !strstr(line, "\"id\":\"") || !strstr(line, "\"actions\":{\"s"))
			continue;
		if (strstr(line, "\"appName\"") || strstr(line, "_id\":"))
			continue; /* a session, or a form for others */
		expect(line, line);
		checked++;
	}
	free(line);
	(void)fclose(file);
	assert_true(checked > 0);
}

static void test_smallest(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf out = { 0 };

	assert_int_equal(event_from_json(SPAN("{\"author\":\"user\"}"), &e, NULL), 0);
	assert_int_equal(event_json(&e, EVENT_ID).len, 0);
	assert_int_equal(event_json(&e, EVENT_TIMESTAMP).len, 0);
	assert_int_equal(event_time(&e), 0);
	event_set_text(&e, EVENT_ID, SPAN("k1"));
	event_set_time(&e, 1700000001000000);
	event_to_json(&e, &out);
	assert_int_equal(event_check(&e, NULL), 0);
	assert_string_equal(buf_cstr(&out),
			    "{\"invocationId\":\"\",\"author\":\"user\",\"actions\":" EMPTY
			    "," TAIL);
}

static void test_absent(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	expect_members("\"actions\":{}", "", NULL, "");
	expect_members(
		"\"actions\":{\"artifactDelta\":{\"f\":2}}", "",
		"{\"stateDelta\":{},\"artifactDelta\":{\"f\":2},\"requestedAuthConfigs\":{}}", "");
	assert_int_equal(event_from_json(SPAN("{\"author\":\"u\",\"id\":\"\"}"), &e, NULL), 0);
	assert_int_equal(event_json(&e, EVENT_ID).len, 0);
}

/* Order, white space, and either spelling of each key. */
static void test_spellings(void **state UNUSED)
{
	const char *want =
		"{\"modelVersion\":\"v\",\"content\":{\"parts\":[{\"fileData\":{\"fileUri\":"
		"\"f\",\"mimeType\":\"m/t\"}},{\"functionCall\":{\"id\":\"c\",\"args\":{\"a_b\":{"
		"\"c_d\":1}},\"name\":\"n\"}}],\"role\":\"model\"},\"customMetadata\":{\"my_key\":"
		"{\"in_it\":1}},\"usageMetadata\":{\"promptTokenCount\":1},\"invocationId\":\"i\","
		"\"author\":\"u\",\"actions\":{\"skipSummarization\":true,\"stateDelta\":{\"s_t\":"
		"{\"u_v\":1}},\"artifactDelta\":{\"f_g\":1},\"requestedAuthConfigs\":{\"call_id\":{"
		"\"authScheme\":{\"tokenUrl\":1}}},\"rewindBeforeInvocationId\":\"r\"},"
		"\"longRunningToolIds\":[\"c\"]," TAIL;

	expect("{\"timestamp\":1700000001,\"long_running_tool_ids\":[\"c\"],\"id\":\"k1\","
	       "\"actions\":{"
	       "\"rewind_before_invocation_id\":\"r\",\"requested_auth_configs\":{\"call_id\":{"
	       "\"auth_scheme\":{\"token_url\":1}}},\"artifact_delta\":{\"f_g\":1},\"state_delta\":"
	       "{"
	       "\"s_t\":{\"u_v\":1}},\"skip_summarization\":true},\"author\":\"u\",\"invocation_"
	       "id\":"
	       "\"i\",\"usage_metadata\":{\"prompt_token_count\":1},\"custom_metadata\":{\"my_"
	       "key\":{"
	       "\"in_it\":1}},\"content\":{\"role\":\"model\",\"parts\":[{\"file_data\":{\"mime_"
	       "type\":"
	       "\"m/"
	       "t\",\"file_uri\":\"f\"}},{\"function_call\":{\"name\":\"n\",\"args\":{\"a_b\":{\"c_"
	       "d\""
	       ":1}},\"id\":\"c\"}}]},\"model_version\":\"v\"}",
	       want);
	expect(" {\t\"timestamp\" : 1700000001 ,\"longRunningToolIds\":[ \"c\" "
	       "],\"id\":\"k1\",\"actions\""
	       ":{\"rewindBeforeInvocationId\":\"r\",\"requested_auth_configs\":{\"call_id\":{"
	       "\"authScheme\":{\"token_url\":1}}},\"artifactDelta\":{\"f_g\": 1},\"state_delta\":{"
	       "\"s_t\":{\"u_v\":1} "
	       "},\"skipSummarization\":true},\"author\":\"u\",\"invocation_id\":"
	       "\"i\",\"usageMetadata\":{\"prompt_token_count\":1},\"customMetadata\":{\"my_key\":{"
	       "\"in_it\":1}},\"content\":{\"role\":\"model\",\"parts\":[{\"fileData\":{\"mime_"
	       "type\":"
	       "\"m/"
	       "t\",\"fileUri\":\"f\"}},{\"function_call\":{\"name\":\"n\",\"args\":{\"a_b\":{\"c_"
	       "d\""
	       ":1}},\"id\":\"c\"}}]},\"modelVersion\":\"v\"} \r",
	       want);
}

static void test_camel_wins(void **state UNUSED)
{
	expect_members("\"errorCode\":\"c\",\"error_code\":\"s\"", "\"errorCode\":\"c\"", NULL, "");
	expect_members("\"error_code\":\"s\",\"errorCode\":\"c\"", "\"errorCode\":\"c\"", NULL, "");
	expect_members("\"error_code\":\"s\",\"error_code\":\"t\"", "\"errorCode\":\"t\"", NULL,
		       "");
	expect_action(
		"\"state_delta\":{\"s\":1},\"stateDelta\":{\"c\":1}",
		"{\"stateDelta\":{\"c\":1},\"artifactDelta\":{},\"requestedAuthConfigs\":{}}");
}

/* The same in an object that is not looked into. */
static void test_camel_wins_in_opaque(void **state UNUSED)
{
	expect_members("\"goAway\":{\"time_left\":\"s\",\"timeLeft\":\"c\"}",
		       "\"goAway\":{\"timeLeft\":\"c\"}", NULL, "");
	expect_members("\"goAway\":{\"timeLeft\":\"c\",\"time_left\":\"s\"}",
		       "\"goAway\":{\"timeLeft\":\"c\"}", NULL, "");
}

/* A name that was brought into camelCase once is not changed by reading it again. */
static void test_camel_is_stable(void **state UNUSED)
{
	static const char *const names[][2] = {
		{ "a_b_c", "aBC" },    { "a_1_2", "a12" }, { "_a_b", "_aB" }, { "a_b_", "aB_" },
		{ "a__b", "a__b" },    { "__a", "__a" },   { "___", "___" },  { "a_!b", "a_!b" },
		{ "a_1__b", "a1__b" }, { "a_B", "a_B" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(buf_release) struct buf from = { 0 };
		CLEANUP(buf_release) struct buf to = { 0 };

		buf_printf(&from, "\"goAway\":{\"%s\":1}", names[i][0]);
		buf_printf(&to, "\"goAway\":{\"%s\":1}", names[i][1]);
		expect_members(buf_cstr(&from), buf_cstr(&to), NULL, "");
		expect_members(buf_cstr(&to), buf_cstr(&to), NULL, "");
	}
}

static void test_repeated(void **state UNUSED)
{
	expect("{\"author\":\"a\",\"id\":\"x\",\"timestamp\":1700000001,\"author\":\"u\",\"id\":"
	       "\"k1\"}",
	       "{\"invocationId\":\"\",\"author\":\"u\",\"actions\":" EMPTY "," TAIL);
	expect_action("\"stateDelta\":{\"a\":1,\"b\":2,\"a\":{\"c\":1,\"c\":3}}",
		      "{\"stateDelta\":{\"a\":{\"c\":3},\"b\":2},\"artifactDelta\":{},"
		      "\"requestedAuthConfigs\":{}}");
	expect_action("\"artifactDelta\":{\"f\":1,\"g\":2,\"f\":3}",
		      "{\"stateDelta\":{},\"artifactDelta\":{\"f\":3,\"g\":2},"
		      "\"requestedAuthConfigs\":{}}");
}

/* null and empty where they mean nothing. */
static void test_dropped(void **state UNUSED)
{
	static const char *const optional[] = {
		"modelVersion",
		"content",
		"groundingMetadata",
		"partial",
		"turnComplete",
		"turnCompleteReason",
		"finishReason",
		"errorCode",
		"errorMessage",
		"interrupted",
		"customMetadata",
		"usageMetadata",
		"liveSessionResumptionUpdate",
		"liveSessionId",
		"goAway",
		"liveSetupComplete",
		"inputTranscription",
		"outputTranscription",
		"avgLogprobs",
		"logprobsResult",
		"cacheMetadata",
		"citationMetadata",
		"interactionId",
		"output",
		"nodeInfo",
		"longRunningToolIds",
		"branch",
		"isolationScope",
		"error_code",
		"long_running_tool_ids",
	};
	static const char *const actions[] = {
		"skipSummarization",
		"transferToAgent",
		"escalate",
		"requestedToolConfirmations",
		"compaction",
		"endOfAgent",
		"agentState",
		"rewindBeforeInvocationId",
		"route",
		"renderUiWidgets",
		"setModelResponse",
	};
	char member[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(optional); i++) {
		(void)snprintf(member, sizeof member, "\"%s\":null", optional[i]);
		expect_members(member, "", NULL, "");
	}
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		(void)snprintf(member, sizeof member, "\"%s\":null", actions[i]);
		expect_action(member, EMPTY);
	}
	expect_action("\"requestedToolConfirmations\":{}", EMPTY);
	expect_members("\"longRunningToolIds\":[]", "", NULL, "");
	expect_members("\"nodeInfo\":{}", "", NULL, "");
	expect_members("\"nodeInfo\":{\"path\":\"\"}", "", NULL, "");
	expect_members("\"nodeInfo\":{\"path\":\"\",\"outputFor\":null}", "", NULL, "");
	expect_members("\"errorMessage\":\"\"", "\"errorMessage\":\"\"", NULL, "");
	expect_members("\"content\":{\"role\":null,\"parts\":[{\"text\":null,\"thought\":null}]}",
		       "\"content\":{\"parts\":[{}]}", NULL, "");
}

static void test_free_nulls_stay(void **state UNUSED)
{
	expect_members("\"customMetadata\":{\"a\":null}", "\"customMetadata\":{\"a\":null}", NULL,
		       "");
	expect_action("\"stateDelta\":{\"a\":null,\"b\":[null,{\"c\":null}]}",
		      "{\"stateDelta\":{\"a\":null,\"b\":[null,{\"c\":null}]},\"artifactDelta\":{},"
		      "\"requestedAuthConfigs\":{}}");
}

static void test_times(void **state UNUSED)
{
	static const struct {
		const char *given, *stored;
	} rows[] = {
		{ "0", "0.000000" },
		{ "1", "1.000000" },
		{ "1700000001", "1700000001.000000" },
		{ "1700000001.5", "1700000001.500000" },
		{ "1.7000000015e9", "1700000001.500000" },
		{ "1700000001.123456", "1700000001.123456" },
		{ "1700000001.1234564", "1700000001.123456" },
		{ "1700000001.1234567", "1700000001.123457" },
		{ "1700000001.9999997", "1700000002.000000" },
		{ "0.0000004", "0.000000" },
		{ "0.0000006", "0.000001" },
		{ "\"1.5\"", "1.500000" },
		{ "\"1700000001\"", "1700000001.000000" },
		{ "99999999999", "99999999999.000000" },
		{ "100000000000", "100000000.000000" },
		{ "1700000001123", "1700000001.123000" },
		{ "\"1700000001123\"", "1700000001.123000" },
		{ "1700000001123.4567", "1700000001.123457" },
		{ "9300000000000", "9300000000.000000" },
		{ "17000000010000", "17000000010.000000" },
		{ "99999999999999", "99999999999.999000" },
		{ "-0", "0.000000" },
	};
	static const char *const wrong[] = {
		"-1",
		"-0.5",
		"\"\"",
		"\"now\"",
		"\"2023-11-14T22:13:21Z\"",
		"true",
		"[]",
		"{}",
		"1e300",
		"\"inf\"",
		"\"nan\"",
		"\"0x10\"",
		"\" 1\"",
		"\"1 \"",
		"\"+1\"",
		"\"1,5\"",
		"\"1\\u00002\"",
		"\"-1\"",
	};
	char line[160];
	char want[240];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(line, sizeof line,
			       "{\"author\":\"u\",\"id\":\"k\",\"timestamp\":%s}", rows[i].given);
		(void)snprintf(want, sizeof want,
			       "{\"invocationId\":\"\",\"author\":\"u\",\"actions\":" EMPTY
			       ",\"id\":\"k\",\"timestamp\":%s}",
			       rows[i].stored);
		expect(line, want);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(line, sizeof line,
			       "{\"author\":\"u\",\"id\":\"k\",\"timestamp\":%s}", wrong[i]);
		expect_code(line, -EINVAL, "timestamp");
	}
}

/* A time is a number of any length, as JSON has it. */
static void test_long_times(void **state UNUSED)
{
	expect("{\"author\":\"u\",\"id\":\"k1\",\"timestamp\":"
	       "1700000001.00000000000000000000000000000000000000000000000000000000000000000000}",
	       "{\"invocationId\":\"\",\"author\":\"u\",\"actions\":" EMPTY "," TAIL);
}

/* What is stored reads back as the same time, also where seconds and milliseconds meet. */
static void test_time_borders(void **state UNUSED)
{
	static const char *const times[] = { "99999999999.9999999", "200000000000000",
					     "253402300799999" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		CLEANUP(buf_release) struct buf line = { 0 };
		CLEANUP(buf_release) struct buf once = { 0 };
		CLEANUP(buf_release) struct buf twice = { 0 };

		buf_printf(&line, "{\"author\":\"u\",\"id\":\"k\",\"timestamp\":%s}", times[i]);
		if (parse(buf_span(&line), &once, NULL) < 0)
			continue; /* refused is as good */
		assert_int_equal(parse(buf_span(&once), &twice, NULL), 0);
		assert_string_equal(buf_cstr(&twice), buf_cstr(&once));
	}
}

static void test_base64(void **state UNUSED)
{
	static const struct {
		const char *given, *stored;
	} rows[] = {
		{ "", "" },         { "AA==", "AA==" },        { "AA", "AA==" },
		{ "AAA=", "AAA=" }, { "AAA", "AAA=" },         { "AAAA", "AAAA" },
		{ "+/+/", "-_-_" }, { "-_-_", "-_-_" },        { "+w", "-w==" },
		{ "-w==", "-w==" }, { "/w==", "_w==" },        { "AB==", "AA==" }, /* spare bits */
		{ "AAB", "AAA=" },  { "aGVsbG8", "aGVsbG8=" },
	};
	static const char *const wrong[] = {
		"A",    "AAAAA",      "A===",     "====",   "=",      "AA=",
		"+_AA", "-/AA",       "A A=",     "AAA\\n", "AA!=",   "AA==AA==",
		"A=AA", "\\u0000AAA", "\xc3\xa9", "AAAA=",  "AAAA==",
	};
	char member[200];
	char want[200];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(member, sizeof member,
			       "\"content\":{\"parts\":[{\"inlineData\":{\"mimeType\":\"x/"
			       "y\",\"data\":\"%s\"}},"
			       "{\"thoughtSignature\":\"%s\"}]}",
			       rows[i].given, rows[i].given);
		(void)snprintf(want, sizeof want,
			       "\"content\":{\"parts\":[{\"inlineData\":{\"data\":\"%s\","
			       "\"mimeType\":\"x/y\"}},"
			       "{\"thoughtSignature\":\"%s\"}]}",
			       rows[i].stored, rows[i].stored);
		expect_members(member, want, NULL, "");
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(member, sizeof member,
			       "\"content\":{\"parts\":[{\"inlineData\":{\"data\":\"%s\"}}]}",
			       wrong[i]);
		expect_refused(member, "event: content: parts: part: inlineData: data: bad base64");
	}
	expect_members("\"groundingMetadata\":{\"search_entry_point\":{\"sdk_blob\":\"+/8\"}}",
		       "\"groundingMetadata\":{\"searchEntryPoint\":{\"sdkBlob\":\"-_8=\"}}", NULL,
		       "");
	expect_members("\"content\":{\"parts\":[{\"functionResponse\":{\"parts\":[{\"inline_data\":"
		       "{\"data\":"
		       "\"+w\"}}]}}]}",
		       "\"content\":{\"parts\":[{\"functionResponse\":{\"parts\":[{\"inlineData\":{"
		       "\"data\":"
		       "\"-w==\"}}]}}]}",
		       NULL, "");
}

static void test_finish_reason(void **state UNUSED)
{
	static const char *const known[] = {
		"STOP",
		"MAX_TOKENS",
		"SAFETY",
		"RECITATION",
		"LANGUAGE",
		"OTHER",
		"BLOCKLIST",
		"PROHIBITED_CONTENT",
		"SPII",
		"MALFORMED_FUNCTION_CALL",
		"IMAGE_SAFETY",
		"UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS",
		"IMAGE_PROHIBITED_CONTENT",
		"NO_IMAGE",
		"IMAGE_RECITATION",
		"IMAGE_OTHER",
		"FINISH_REASON_UNSPECIFIED",
	};
	char member[80];
	char want[80];
	size_t i;
	size_t k;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		(void)snprintf(member, sizeof member, "\"finishReason\":\"%s\"", known[i]);
		(void)snprintf(want, sizeof want, "%s", member);
		for (k = strlen("\"finishReason\":\""); member[k]; k += 1 + i % 2)
			if (member[k] >= 'A' && member[k] <= 'Z')
				member[k] |= 0x20;
		expect_members(member, want, NULL, "");
	}
	expect_members("\"finish_reason\":\"Odd_one\"", "\"finishReason\":\"Odd_one\"", NULL, "");
	expect_members("\"finishReason\":\"\"", "\"finishReason\":\"\"", NULL, "");
	expect_refused("\"finishReason\":1", "finishReason");
}

static void test_integers(void **state UNUSED)
{
	static const struct {
		const char *given, *stored;
	} rows[] = {
		{ "1", "1" },
		{ "\"1\"", "1" },
		{ "1.0", "1" },
		{ "\"1.0\"", "1" },
		{ "0", "0" },
		{ "-7", "-7" },
		{ "-0", "0" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "3.000000", "3" },
		{ "3."
		  "0000000000000000000000000000000000000000000000000000000000000000000",
		  "3" },
	};
	static const char *const wrong[] = {
		"1.5",
		"\"1.5\"",
		"\"\"",
		"\"x\"",
		"\" 1\"",
		"\"1 \"",
		"\"+1\"",
		"\"0x1\"",
		"null",
		"true",
		"[]",
		"{}",
		"9223372036854775808",
		"-9223372036854775809",
		"\".\"",
		"\".0\"",
		"\"-\"",
		"\"-.0\"",
		"\"1\\u0000\"",
	};
	char member[120];
	char want[200];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(member, sizeof member, "\"artifactDelta\":{\"f\":%s}",
			       rows[i].given);
		(void)snprintf(want, sizeof want,
			       "{\"stateDelta\":{},\"artifactDelta\":{\"f\":%s},"
			       "\"requestedAuthConfigs\":{}}",
			       rows[i].stored);
		expect_action(member, want);
		(void)snprintf(member, sizeof member,
			       "\"usageMetadata\":{\"total_token_count\":%s}", rows[i].given);
		(void)snprintf(want, sizeof want, "\"usageMetadata\":{\"totalTokenCount\":%s}",
			       rows[i].stored);
		expect_members(member, want, NULL, "");
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(member, sizeof member, "\"artifactDelta\":{\"f\":%s}", wrong[i]);
		refuse_action(member, "artifactDelta");
	}
}

/* Free values keep their numbers as text, whatever a double could hold of them. */
static void test_numbers_are_text(void **state UNUSED)
{
	static const char *const numbers[] = {
		"9007199254740993",
		"9223372036854775807",
		"-9223372036854775808",
		"1.0",
		"1E+2",
		"18446744073709551616",
		"123456789012345678901234567890",
		"-0",
		"0.10",
		"1e400",
		"2.50e-7",
	};
	char member[160];
	char want[240];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		(void)snprintf(member, sizeof member, "\"stateDelta\":{\"k\":%s,\"l\":[%s]}",
			       numbers[i], numbers[i]);
		(void)snprintf(want, sizeof want,
			       "{%s,\"artifactDelta\":{},\"requestedAuthConfigs\":{}}", member);
		expect_action(member, want);
		(void)snprintf(member, sizeof member, "\"avgLogprobs\":%s", numbers[i]);
		expect_members(member, member, NULL, "");
	}
	expect_refused("\"avgLogprobs\":\"1\"", "avgLogprobs");
}

static void test_unusual_content(void **state UNUSED)
{
	static const char *const kept[] = {
		"\"content\":{\"parts\":[],\"role\":\"user\"}",
		"\"content\":{\"parts\":[{}],\"role\":\"\"}",
		"\"content\":{\"role\":\"function\"}",
		"\"content\":{}",
		"\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"n\"}}]}",
		"\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"n\"},\"text\":\"both\"}]}",
		"\"content\":{\"parts\":[{\"text\":\"\\u0000\"}]}",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		expect_members(kept[i], kept[i], NULL, "");
}

static void expect_temp(const char *delta, const char *kept, const char *temp)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line, "{\"author\":\"u\",\"actions\":{\"stateDelta\":%s}}", delta);
	assert_int_equal(event_from_json(buf_span(&line), &e, NULL), 0);
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA), kept));
	assert_true(span_is(e.temp_delta, temp));
}

static void test_temp(void **state UNUSED)
{
	expect_temp("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", "");
	expect_temp("{\"temp:a\":1}", "{}", "{\"temp:a\":1}");
	expect_temp("{\"x\":1,\"temp:a\":{\"temp:b\":2},\"y\":3,\"temp:c\":null}",
		    "{\"x\":1,\"y\":3}", "{\"temp:a\":{\"temp:b\":2},\"temp:c\":null}");
	expect_temp("{\"Temp:a\":1,\"app:temp:b\":2,\"xtemp:c\":3}",
		    "{\"Temp:a\":1,\"app:temp:b\":2,\"xtemp:c\":3}", "");
	expect_temp("{\"temp:a\":1,\"temp:a\":2}", "{}", "{\"temp:a\":2}");
	expect_temp("{}", "{}", "");
	expect_action(
		"\"stateDelta\":{\"temp:t\":1,\"k\":2}",
		"{\"stateDelta\":{\"k\":2},\"artifactDelta\":{},\"requestedAuthConfigs\":{}}");
	/* Only the delta has temp: keys; elsewhere it is text like any other. */
	expect_members("\"customMetadata\":{\"temp:a\":1}", "\"customMetadata\":{\"temp:a\":1}",
		       NULL, "");
}

static void test_partial(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	assert_int_equal(event_from_json(SPAN("{\"author\":\"u\",\"partial\":true}"), &e, NULL), 0);
	assert_true(span_is(event_json(&e, EVENT_PARTIAL), "true"));
}

static void test_unknown_keys(void **state UNUSED)
{
	static const char *const members[] = {
		"\"zzz\":1",
		"\"zzz\":null",
		"\"actions\":{\"zzz\":1}",
		"\"content\":{\"zzz\":1}",
		"\"content\":{\"parts\":[{\"text\":\"t\",\"zzz\":1}]}",
		"\"content\":{\"parts\":[{\"functionCall\":{\"zzz\":1}}]}",
		"\"content\":{\"parts\":[{\"functionResponse\":{\"parts\":[{\"zzz\":1}]}}]}",
		"\"content\":{\"parts\":[{\"inlineData\":{\"zzz\":1}}]}",
		"\"content\":{\"parts\":[{\"videoMetadata\":{\"zzz\":1}}]}",
		"\"usageMetadata\":{\"zzz\":1}",
		"\"usageMetadata\":{\"promptTokensDetails\":[{\"zzz\":1}]}",
		"\"nodeInfo\":{\"zzz\":1}",
		"\"inputTranscription\":{\"zzz\":1}",
		"\"citationMetadata\":{\"citations\":[{\"publicationDate\":{\"zzz\":1}}]}",
		"\"actions\":{\"requestedToolConfirmations\":{\"c\":{\"zzz\":1}}}",
		("\"actions\":{\"compaction\":{\"startTimestamp\":1,\"endTimestamp\":2,"
		 "\"compactedContent\":{\"zzz\":1}}}"),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++)
		expect_refused(members[i], "zzz");
	/* Neither spelling is a third one. */
	expect_refused("\"InvocationId\":\"x\"", "InvocationId");
	expect_refused("\"invocation_Id\":\"x\"", "invocation_Id");
	expect_refused("\"invocation__id\":\"x\"", "unknown");
	expect_refused("\"_invocation_id\":\"x\"", "unknown");
	expect_refused("\"author_\":\"x\"", "unknown");
	expect_refused("\"\":1", "unknown");
}

static void test_nulls_refused(void **state UNUSED)
{
	expect_code("{\"author\":null}", -EINVAL, "author");
	expect_code("{\"author\":\"u\",\"id\":null}", -EINVAL, "id");
	expect_code("{\"author\":\"u\",\"invocationId\":null}", -EINVAL, "invocationId");
	expect_code("{\"author\":\"u\",\"invocation_id\":null}", -EINVAL, "invocationId");
	expect_code("{\"author\":\"u\",\"timestamp\":null}", -EINVAL, "timestamp");
	expect_code("{\"author\":\"u\",\"actions\":null}", -EINVAL, "actions");
	refuse_action("\"stateDelta\":null", "stateDelta");
	refuse_action("\"artifactDelta\":null", "artifactDelta");
	refuse_action("\"requestedAuthConfigs\":null", "requestedAuthConfigs");
}

static void test_wrong_types(void **state UNUSED)
{
	static const struct {
		const char *member, *says;
	} rows[] = {
		{ "\"content\":[]", "content" },
		{ "\"content\":\"hi\"", "content" },
		{ "\"content\":{\"parts\":{}}", "parts" },
		{ "\"content\":{\"parts\":[\"hi\"]}", "part" },
		{ "\"content\":{\"parts\":[null]}", "part" },
		{ "\"content\":{\"role\":1}", "role" },
		{ "\"content\":{\"parts\":[{\"text\":1}]}", "text" },
		{ "\"content\":{\"parts\":[{\"thought\":1}]}", "thought" },
		{ "\"content\":{\"parts\":[{\"functionCall\":{\"args\":[]}}]}", "args" },
		{ "\"content\":{\"parts\":[{\"functionCall\":{\"args\":\"{}\"}}]}", "args" },
		{ "\"content\":{\"parts\":[{\"functionResponse\":{\"response\":1}}]}", "response" },
		{ "\"content\":{\"parts\":[{\"partMetadata\":[]}]}", "partMetadata" },
		{ "\"partial\":\"true\"", "partial" },
		{ "\"partial\":1", "partial" },
		{ "\"interrupted\":\"yes\"", "interrupted" },
		{ "\"turnComplete\":0", "turnComplete" },
		{ "\"errorCode\":5", "errorCode" },
		{ "\"customMetadata\":[]", "customMetadata" },
		{ "\"customMetadata\":\"x\"", "customMetadata" },
		{ "\"groundingMetadata\":[]", "groundingMetadata" },
		{ "\"usageMetadata\":{\"promptTokenCount\":1.5}", "promptTokenCount" },
		{ "\"usageMetadata\":[]", "usageMetadata" },
		{ "\"longRunningToolIds\":{}", "longRunningToolIds" },
		{ "\"longRunningToolIds\":\"a\"", "longRunningToolIds" },
		{ "\"longRunningToolIds\":[1]", "longRunningToolIds" },
		{ "\"author\":7", "author" },
		{ "\"id\":7", "id" },
		{ "\"branch\":[]", "branch" },
		{ "\"actions\":[]", "actions" },
	};
	static const struct {
		const char *member, *says;
	} actions[] = {
		{ "\"stateDelta\":[]", "stateDelta" },
		{ "\"stateDelta\":\"x\"", "stateDelta" },
		{ "\"artifactDelta\":[]", "artifactDelta" },
		{ "\"artifactDelta\":{\"f\":1.5}", "artifactDelta" },
		{ "\"requestedAuthConfigs\":[]", "requestedAuthConfigs" },
		{ "\"requestedAuthConfigs\":{\"c\":1}", "requestedAuthConfigs" },
		{ "\"requestedToolConfirmations\":[]", "requestedToolConfirmations" },
		{ "\"requestedToolConfirmations\":{\"c\":{\"confirmed\":\"no\"}}", "confirmed" },
		{ "\"agentState\":[]", "agentState" },
		{ "\"skipSummarization\":1", "skipSummarization" },
		{ "\"transferToAgent\":true", "transferToAgent" },
		{ "\"renderUiWidgets\":{}", "renderUiWidgets" },
		{ "\"renderUiWidgets\":[1]", "renderUiWidgets" },
		{ "\"route\":{}", "route" },
		{ "\"route\":1.5", "route" },
		{ "\"route\":[{}]", "route" },
		{ "\"route\":[[1]]", "route" },
		{ "\"compaction\":{\"startTimestamp\":1,\"endTimestamp\":2}", "compactedContent" },
		{ "\"compaction\":{\"endTimestamp\":2,\"compactedContent\":{}}", "startTimestamp" },
		{ "\"compaction\":{\"startTimestamp\":1,\"compactedContent\":{}}", "endTimestamp" },
	};
	static const char *const lines[] = { "[]", "1", "null", "\"x\"", "", " ", "{}{}", "{" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		expect_refused(rows[i].member, rows[i].says);
	for (i = 0; i < ARRAY_SIZE(actions); i++)
		refuse_action(actions[i].member, actions[i].says);
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		expect_code(lines[i], -EINVAL, "");
}

static void test_syntax(void **state UNUSED)
{
	expect_refused("\"branch\":\"\xff\"", "UTF-8");
	expect_refused("\"branch\":\"\\ud800\"", "surrogate");
	expect_refused("\"avgLogprobs\":NaN", "");
	expect_refused("\"output\":[1,]", "");
	expect_refused("\"output\":1}//", "");
	expect_code("{'author':'u'}", -EINVAL, "");
	expect_code("\xef\xbb\xbf{\"author\":\"u\"}", -EINVAL, "");
}

/* Every line that is cut off is refused, whatever is missing. */
static void test_cut_lines(void **state UNUSED)
{
	size_t i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(canonical); i++) {
		for (n = 0; n < strlen(canonical[i]); n++) {
			CLEANUP(event_release) struct event e = { 0 };
			struct err err = { 0 };
			struct span line = { canonical[i], n };

			assert_int_equal(event_from_json(line, &e, &err), -EINVAL);
			assert_true(err.code < 0);
		}
	}
}

static void test_state_keys(void **state UNUSED)
{
	char member[400];
	char key[300];

	refuse_action("\"stateDelta\":{\"\":1}", "empty");
	refuse_action("\"stateDelta\":{\"app:\":1}", "app:");
	refuse_action("\"stateDelta\":{\"user:\":1}", "user:");
	refuse_action("\"stateDelta\":{\"temp:\":1}", "temp:");
	refuse_action("\"stateDelta\":{\"a\\u0000b\":1}", "NUL");
	memset(key, 'k', sizeof key);
	key[250] = 0; /* with .json: 255 */
	(void)snprintf(member, sizeof member, "\"stateDelta\":{\"%s\":1}", key);
	{
		char want[480];

		(void)snprintf(want, sizeof want,
			       "{%s,\"artifactDelta\":{},\"requestedAuthConfigs\":{}}", member);
		expect_action(member, want);
	}
	key[250] = 'k';
	key[251] = 0;
	(void)snprintf(member, sizeof member, "\"stateDelta\":{\"%s\":1}", key);
	refuse_action(member, "too long");
	key[249] = '/'; /* one more character than bytes: %2F */
	key[250] = 0;
	(void)snprintf(member, sizeof member, "\"stateDelta\":{\"%s\":1}", key);
	refuse_action(member, "too long");
}

static void test_author(void **state UNUSED)
{
	expect_code("{}", -EINVAL, "author");
	expect_code("{\"author\":\"\"}", -EINVAL, "author");
	expect_code("{\"id\":\"x\"}", -EINVAL, "author");
}

/* No NUL in what is a name or an id. */
static void test_nul(void **state UNUSED)
{
	expect_code("{\"author\":\"a\\u0000\"}", -EINVAL, "author");
	expect_code("{\"author\":\"u\",\"id\":\"\\u0000\"}", -EINVAL, "id");
	expect_code("{\"author\":\"u\",\"invocationId\":\"a\\u0000\"}", -EINVAL, "invocationId");
	expect_refused("\"branch\":\"a\\u0000\"", "branch");
	expect_refused("\"longRunningToolIds\":[\"a\\u0000\"]", "longRunningToolIds");
	expect_refused("\"content\":{\"parts\":[{\"inlineData\":{\"mimeType\":\"a\\u0000\"}}]}",
		       "mimeType");
	expect_refused("\"content\":{\"parts\":[{\"fileData\":{\"mimeType\":\"a\\u0000\"}}]}",
		       "mimeType");
	expect_refused("\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"a\\u0000\"}}]}", "id");
	expect_refused("\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"a\\u0000\"}}]}",
		       "id");
}

/* File names of artifacts and ids of calls are keys of maps. */
static void test_nul_in_maps(void **state UNUSED)
{
	refuse_action("\"artifactDelta\":{\"a\\u0000\":1}", "artifactDelta");
	refuse_action("\"requestedAuthConfigs\":{\"a\\u0000\":{}}", "requestedAuthConfigs");
	expect_refused("\"content\":{\"parts\":[{\"toolCall\":{\"id\":\"a\\u0000\"}}]}", "id");
}

static void test_long_ids(void **state UNUSED)
{
	char id[257];
	char member[300];

	memset(id, 'i', sizeof id);
	id[255] = 0;
	(void)snprintf(member, sizeof member, "\"branch\":\"%s\"", id);
	expect_members(member, "", NULL, member);
	id[255] = 'i';
	id[256] = 0;
	(void)snprintf(member, sizeof member, "\"branch\":\"%s\"", id);
	expect_refused(member, "branch");
	(void)snprintf(member, sizeof member, "{\"author\":\"%s\"}", id);
	expect_code(member, -EINVAL, "author");
	(void)snprintf(member, sizeof member, "{\"author\":\"u\",\"id\":\"%s\"}", id);
	expect_code(member, -EINVAL, "id");
}

static void test_id_set(void **state UNUSED)
{
	expect_members("\"longRunningToolIds\":[\"b\",\"a\",\"b\",\"\\u0061\",\"c\"]", "", NULL,
		       "\"longRunningToolIds\":[\"b\",\"a\",\"c\"]");
	expect_members("\"longRunningToolIds\":[\"ab\",\"b\",\"a\"]", "", NULL,
		       "\"longRunningToolIds\":[\"ab\",\"b\",\"a\"]");
}

/* An id that looks like the text between two others. */
static void test_id_set_of_commas(void **state UNUSED)
{
	expect_members("\"longRunningToolIds\":[\"x\",\"y\",\",\"]", "", NULL,
		       "\"longRunningToolIds\":[\"x\",\"y\",\",\"]");
}

static bool deletes(const struct event *e, struct span key)
{
	CLEANUP(deleted_release) struct deleted d = { 0 };

	assert_int_equal(deleted_read(event_json(e, EVENT_CUSTOM_METADATA), &d, NULL), 0);
	return deleted_find(&d, key);
}

static void test_deleted(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	expect_members(
		"\"customMetadata\":{\"adkfs.deleted\":[\"a\"]},\"actions\":{\"stateDelta\":{\"a\":"
		"null,\"b\":1}}",
		"\"customMetadata\":{\"adkfs.deleted\":[\"a\"]}",
		"{\"stateDelta\":{\"a\":null,\"b\":1},\"artifactDelta\":{},"
		"\"requestedAuthConfigs\":{}}",
		"");
	expect_members("\"customMetadata\":{\"adkfs.deleted\":[],\"adkfs.future\":1}",
		       "\"customMetadata\":{\"adkfs.deleted\":[],\"adkfs.future\":1}", NULL, "");
	expect_refused("\"customMetadata\":{\"adkfs.deleted\":[\"a\"]}", "'a'");
	expect_refused("\"customMetadata\":{\"adkfs.deleted\":[\"a\"]},\"actions\":{\"stateDelta\":"
		       "{\"a\":1}}",
		       "'a'");
	expect_refused(
		"\"customMetadata\":{\"adkfs.deleted\":[\"a\"]},\"actions\":{\"stateDelta\":{\"b\":"
		"null}}",
		"'a'");
	expect_refused(
		"\"customMetadata\":{\"adkfs.deleted\":\"a\"},\"actions\":{\"stateDelta\":{\"a\":"
		"null}}",
		"");
	expect_refused("\"customMetadata\":{\"adkfs.deleted\":[1]}", "");
	expect_refused("\"customMetadata\":{\"adkfs.deleted\":null}", "");

	assert_int_equal(
		event_from_json(
			SPAN("{\"author\":\"u\",\"customMetadata\":{\"adkfs.deleted\":["
			     "\"a\\n\"]},\"actions\":{\"stateDelta\":{\"a\\n\":null,\"b\":null}}}"),
			&e, NULL),
		0);
	assert_true(deletes(&e, SPAN("a\n")));
	assert_false(deletes(&e, SPAN("b")));
	assert_false(deletes(&e, SPAN("")));
}

/* In any order, also twice; the one that is not null is named, whatever comes before it. */
static void test_deleted_many(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf wrong = { 0 };
	const int many = 20011;
	char name[16];
	int i;

	buf_text(&line, "{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k500\":null");
	for (i = 0; i < many; i++) {
		if (i != 500)
			buf_printf(&line, ",\"k%d\":null", i);
	}
	buf_text(&line, "}},\"customMetadata\":{\"adkfs.deleted\":[\"temp:x\",\"k7\"");
	for (i = 0; i < many; i++)
		buf_printf(&line, ",\"k%d\"", i * 7 % many);
	buf_span_add(&wrong, buf_span(&line));
	buf_text(&line, "]}}");
	buf_text(&wrong, ",\"none\"]}}");
	assert_int_equal(event_from_json(buf_span(&line), &e, NULL), 0);
	for (i = 0; i < many; i += 100) {
		(void)snprintf(name, sizeof name, "k%d", i);
		assert_true(deletes(&e, span_of(name)));
	}
	assert_false(deletes(&e, SPAN("k")));
	assert_false(deletes(&e, SPAN("k20011")));
	expect_code(buf_cstr(&wrong), -EINVAL, "'none'");
}

/* A deleted temp: key leaves no line that would be refused when it is read again. */
static void test_deleted_temp(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };
	struct err err = { 0 };

	if (event_from_json(
		    SPAN("{\"author\":\"u\",\"id\":\"k\",\"timestamp\":1,\"customMetadata\":{"
			 "\"adkfs.deleted\":[\"temp:a\"]},\"actions\":{\"stateDelta\":{\"temp:a\":"
			 "null}}}"),
		    &e, NULL) < 0)
		return; /* to refuse it is as good */
	event_to_json(&e, &line);
	if (parse(buf_span(&line), &again, &err) < 0)
		fail_msg("%s: %s", buf_cstr(&line), err.text);
}

static void fill(struct buf *out, char c, size_t n)
{
	while (n--)
		buf_char(out, c);
}

static void test_size_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_text(&line, "{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":\"");
	fill(&line, 'v', STATE_VALUE_MAX - 2);
	buf_text(&line, "\"}}}");
	{
		CLEANUP(event_release) struct event e = { 0 };

		assert_int_equal(event_from_json(buf_span(&line), &e, NULL), 0);
	}
	line.len -= strlen("\"}}}");
	buf_text(&line, "v\"}}}");
	expect_code(buf_cstr(&line), -EFBIG, "'k'");

	/* The limit of the line counts its bytes, not what they mean. */
	buf_clear(&line);
	buf_text(&line, "{\"author\":\"u\"}");
	fill(&line, ' ', EVENT_LINE_MAX - line.len);
	{
		CLEANUP(event_release) struct event e = { 0 };

		assert_int_equal(event_from_json(buf_span(&line), &e, NULL), 0);
	}
	buf_char(&line, ' ');
	expect_code(buf_cstr(&line), -EFBIG, "line");
}

static void nest(struct buf *line, const char *before, int depth, const char *after)
{
	buf_text(line, before);
	fill(line, '[', (size_t)depth);
	fill(line, ']', (size_t)depth);
	buf_text(line, after);
	assert_non_null(buf_cstr(line));
}

static void test_depth(void **state UNUSED)
{
	static const struct {
		const char *before, *after;
	} places[] = {
		{ "{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":", "}}}" },
		{ "{\"author\":\"u\",\"output\":", "}" },
		{ "{\"author\":\"u\",\"customMetadata\":{\"k\":", "}}" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		CLEANUP(event_release) struct event e = { 0 };
		CLEANUP(buf_release) struct buf fits = { 0 };
		CLEANUP(buf_release) struct buf over = { 0 };

		nest(&fits, places[i].before, JSON_DEPTH_FREE - 1, places[i].after);
		assert_int_equal(event_from_json(buf_span(&fits), &e, NULL), 0);
		nest(&over, places[i].before, JSON_DEPTH_MAX, places[i].after);
		expect_code(over.data, -EINVAL, "deep");
	}
}

/* One state value may be as deep as a state file lets it be, and no deeper. */
static void test_depth_of_state(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	nest(&line, "{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":", JSON_DEPTH_FREE + 1,
	     "}}}");
	expect_code(line.data, -EINVAL, "deep");
}

static void test_setters(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(content_free_p) struct content *content = content_new("user");
	CLEANUP(buf_release) struct buf out = { 0 };

	assert_int_equal(content_add_text(content, SPAN("a\"b"), false), 0);
	event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
	event_set_text(&e, EVENT_ID, SPAN("old"));
	event_set_text(&e, EVENT_ID, SPAN("k1"));
	event_set_text(&e, EVENT_INVOCATION, SPAN("e-\n"));
	event_set_time(&e, 1700000001000000);
	event_set_content(&e, content);
	event_set_json(&e, EVENT_OUTPUT, SPAN("[1]"));
	event_set_action(&e, ACTION_ESCALATE, SPAN("true"));
	event_set_state(&e, "a", SPAN("1"));
	event_set_state(&e, "b\"", SPAN("{\"c\":2}"));
	assert_int_equal(event_check(&e, NULL), 0);
	assert_int_equal(event_time(&e), 1700000001000000);
	assert_int_equal(event_text(&e, EVENT_INVOCATION, &out), 0);
	assert_int_equal(event_text(&e, EVENT_BRANCH, &out), 0);
	assert_string_equal(buf_cstr(&out), "e-\n");
	buf_clear(&out);
	event_to_json(&e, &out);
	assert_string_equal(buf_cstr(&out), "{\"content\":{\"parts\":[{\"text\":\"a\\\"b\"}],"
					    "\"role\":\"user\"},\"invocationId\":"
					    "\"e-\\n\",\"author\":\"user\",\"actions\":{"
					    "\"stateDelta\":{\"a\":1,\"b\\\"\":{\"c\":2}},"
					    "\"artifactDelta\":{},\"escalate\":true,"
					    "\"requestedAuthConfigs\":{}},\"output\":[1]," TAIL);
}

static void test_delete_setter(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	event_set_action(&e, ACTION_STATE_DELTA, SPAN("{}"));
	event_delete_state(&e, "app:x");
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA), "{\"app:x\":null}"));
	assert_true(deletes(&e, SPAN("app:x")));
	assert_false(deletes(&e, SPAN("x")));
}

/* One more is listed beside those before it, and other metadata stays. */
static void test_delete_more(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	event_set_json(&e, EVENT_CUSTOM_METADATA, SPAN("{\"mine\":[1]}"));
	event_delete_state(&e, "a");
	event_delete_state(&e, "b\"");
	assert_true(deletes(&e, SPAN("a")));
	assert_true(deletes(&e, SPAN("b\"")));
	assert_true(span_is(event_json(&e, EVENT_CUSTOM_METADATA),
			    "{\"mine\":[1],\"adkfs.deleted\":[\"a\",\"b\\\"\"]}"));
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA), "{\"a\":null,\"b\\\"\":null}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical_lines),
		cmocka_unit_test(test_lines_of_a_file),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_camel_wins),
		cmocka_unit_test(test_camel_wins_in_opaque),
		cmocka_unit_test(test_camel_is_stable),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_free_nulls_stay),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_long_times),
		cmocka_unit_test(test_time_borders),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_finish_reason),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_numbers_are_text),
		cmocka_unit_test(test_unusual_content),
		cmocka_unit_test(test_temp),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_nulls_refused),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_cut_lines),
		cmocka_unit_test(test_state_keys),
		cmocka_unit_test(test_author),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_nul_in_maps),
		cmocka_unit_test(test_long_ids),
		cmocka_unit_test(test_id_set),
		cmocka_unit_test(test_id_set_of_commas),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_deleted_many),
		cmocka_unit_test(test_deleted_temp),
		cmocka_unit_test(test_size_limits),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_depth_of_state),
		cmocka_unit_test(test_setters),
		cmocka_unit_test(test_delete_setter),
		cmocka_unit_test(test_delete_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
