/*
 * Answers of Gemini, event by event or as one document, object or list.
 *
 * Texts go to the reply as they come. A second reply is built beside it, with calls, media
 * and signatures in their order (take.c). Its content replaces that of the first one at the
 * end mark: an answer that breaks off leaves no calls.
 */
#include "runner/provider/gemini/gemini.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"

#include <errno.h>
#include <stdlib.h>

#define FOREIGN_END_MARK "[DONE]" /* gateways add it */

static int take_extra(struct gemini_decoder *d, enum model_extra which, struct span value)
{
	return jsonpick_present(value)
		       ? model_reply_extra(d->base.reply, which, gemini_mended(d, value))
		       : 0;
}

/* The Gemini API has another name for the list than Vertex AI and ADK. */
struct citation_spans {
	struct span citations;
	struct span sources;
};

static const struct jsonpick citation_members[] = {
	{ "citations", offsetof(struct citation_spans, citations) },
	{ "citationSources", offsetof(struct citation_spans, sources) },
	{ 0 },
};

static int take_citations(struct gemini_decoder *d, struct span object)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	struct citation_spans s = { 0 };
	int r = jsonpick_object(object, citation_members, &s);
	struct span list = jsonpick_is(s.citations, '[') ? s.citations : s.sources;

	if (r < 0 || !jsonpick_is(list, '['))
		return r;
	buf_char(&json, '{');
	jsonput_raw(&json, "citations", list);
	buf_char(&json, '}');
	r = buf_check(&json, NULL);
	return r < 0 ? r : take_extra(d, MODEL_CITATIONS, buf_span(&json));
}

static int take_part(void *arg, struct span item)
{
	return gemini_take_part(arg, item);
}

struct candidate {
	struct span index;
	struct span content;
	struct span parts; /* in content */
	struct span finish;
	struct span message;
	struct span grounding;
	struct span citations;
	struct span avg_logprobs;
	struct span logprobs;
};

static const struct jsonpick candidate_members[] = {
	{ "index", offsetof(struct candidate, index) },
	{ "content", offsetof(struct candidate, content) },
	{ "finishReason", offsetof(struct candidate, finish) },
	{ "finishMessage", offsetof(struct candidate, message) },
	{ "groundingMetadata", offsetof(struct candidate, grounding) },
	{ "citationMetadata", offsetof(struct candidate, citations) },
	{ "avgLogprobs", offsetof(struct candidate, avg_logprobs) },
	{ "logprobsResult", offsetof(struct candidate, logprobs) },
	{ 0 },
};

static const struct jsonpick content_members[] = {
	{ "parts", offsetof(struct candidate, parts) },
	{ 0 },
};

/* Keep a reason and its message; the latest count. False: there is no reason. */
static bool take_reason(struct gemini_decoder *d, struct span reason, struct span message)
{
	CLEANUP(buf_release) struct buf word = { 0 };

	if (!model_decode_string(reason, &word)) {
		d->no_memory |= word.failed;
		return false;
	}
	buf_clear(&d->finish);
	buf_span_add(&d->finish, buf_span(&word));
	buf_clear(&d->message);
	(void)model_decode_string(gemini_mended(d, message), &d->message);
	return true;
}

static int take_candidate(void *arg, struct span item)
{
	struct gemini_decoder *d = arg;
	struct candidate c = { 0 };
	int r = jsonpick_object(item, candidate_members, &c);

	if (r < 0 || jsonpick_count(c.index) > 0)
		return r;
	r = jsonpick_object(c.content, content_members, &c);
	if (r == 0)
		r = jsonpick_list(c.parts, take_part, d);
	if (r == 0)
		r = take_extra(d, MODEL_GROUNDING, c.grounding);
	if (r == 0)
		r = take_citations(d, c.citations);
	if (r == 0)
		r = take_extra(d, MODEL_AVG_LOGPROBS, c.avg_logprobs);
	if (r == 0)
		r = take_extra(d, MODEL_LOGPROBS, c.logprobs);
	if (r == 0 && take_reason(d, c.finish, c.message))
		d->finished = true;
	return r;
}

struct chunk {
	struct span error;
	struct span candidates;
	struct span usage;
	struct span version;
	struct span feedback;
	struct span block_reason; /* in feedback */
	struct span block_message;
};

static const struct jsonpick chunk_members[] = {
	{ "error", offsetof(struct chunk, error) },
	{ "candidates", offsetof(struct chunk, candidates) },
	{ "usageMetadata", offsetof(struct chunk, usage) },
	{ "modelVersion", offsetof(struct chunk, version) },
	{ "promptFeedback", offsetof(struct chunk, feedback) },
	{ 0 },
};

static const struct jsonpick feedback_members[] = {
	{ "blockReason", offsetof(struct chunk, block_reason) },
	{ "blockReasonMessage", offsetof(struct chunk, block_message) },
	{ 0 },
};

static int report_error(struct gemini_decoder *d, struct span chunk)
{
	CLEANUP(buf_release) struct buf message = { 0 };

	return model_decode_error(&d->base, gemini_error_text(chunk, &message) ? &message : NULL,
				  chunk);
}

static int take_chunk(void *arg, struct span item)
{
	struct gemini_decoder *d = arg;
	struct chunk c = { 0 };
	int r = jsonpick_object(item, chunk_members, &c);

	if (r == 0 && jsonpick_present(c.error))
		return report_error(d, item);
	if (r == 0)
		r = model_decode_version(&d->base, c.version);
	if (r == 0)
		r = jsonpick_list(c.candidates, take_candidate, d);
	if (r == 0)
		r = jsonpick_object(c.feedback, feedback_members, &c);
	if (r == 0 && take_reason(d, c.block_reason, c.block_message))
		d->blocked = true;
	if (r == 0 && jsonpick_is(c.usage, '{'))
		r = model_reply_usage_json(d->base.reply, gemini_mended(d, c.usage));
	return r;
}

static void decoder_release(void *decoder)
{
	struct gemini_decoder *d = decoder;

	model_reply_release(&d->whole);
	buf_release(&d->finish);
	buf_release(&d->message);
	buf_release(&d->scratch);
}

static int decode(void *decoder, struct span event)
{
	struct gemini_decoder *d = decoder;
	struct span payload;
	int r;

	if (d->finished && span_is(event, FOREIGN_END_MARK))
		return 0;
	r = model_decode_begin(&d->base, event, "{[", &payload);
	payload = span_trim_start(payload);
	if (r == 0)
		r = jsonpick_is(payload, '[') ? jsonpick_list(payload, take_chunk, d)
					      : take_chunk(d, payload);
	if (r == 0 && d->no_memory)
		r = -ENOMEM;
	/* An event that a broken connection cut after the finish reason is no loss. */
	if (r == -ENODATA && d->finished)
		return 0;
	return r;
}

/* Why no content came, if the service has no message about it. */
static const struct {
	const char *word; /* NULL: any other */
	const char *why;
} reasons[] = {
	{ "MAX_TOKENS", "the limit of tokens was reached before any content" },
	{ "SAFETY", "a filter of the provider stopped the answer" },
	{ "PROHIBITED_CONTENT", "a filter of the provider stopped the answer" },
	{ "BLOCKLIST", "a filter of the provider stopped the answer" },
	{ "SPII", "a filter of the provider stopped the answer" },
	{ "RECITATION", "the answer was too close to an existing text" },
	{ "MALFORMED_FUNCTION_CALL", "the model made a call that cannot be read" },
	{ NULL, "the model ended without content" },
};

static int set_error(struct gemini_decoder *d, struct model_reply *reply, const char *word)
{
	const char *message = buf_cstr(&d->message);
	size_t i = 0;

	if (!message)
		return -ENOMEM;
	while (reasons[i].word && strcmp(reasons[i].word, word) != 0)
		i++;
	if (!*message)
		message = d->blocked ? "the provider refused the request" : reasons[i].why;
	return model_reply_error(reply, word, message);
}

/* Replace the content of the reply by the whole answer, and set the finish reason. */
static int set_finish(struct gemini_decoder *d, struct model_reply *reply)
{
	const char *word = buf_cstr(&d->finish);
	int r;

	if (!word)
		return -ENOMEM;
	if (d->blocked)
		return set_error(d, reply, word);
	content_free(reply->content);
	reply->content = STEAL(&d->whole.content);
	r = model_reply_finish(reply, word);
	if (r < 0 || reply->content || strcmp(word, "STOP") == 0)
		return r;
	return set_error(d, reply, word);
}

static int end(void *decoder)
{
	struct gemini_decoder *d = decoder;
	int r;

	r = gemini_end_text(d);
	if (r == 0 && !d->finished && !d->blocked)
		return -ENODATA;
	if (r == 0)
		r = buf_check(&d->scratch, NULL);
	if (r == 0)
		r = set_finish(d, d->base.reply);
	return r;
}

const struct model_decoder gemini_decoder = { sizeof(struct gemini_decoder), decode, end,
					      decoder_release };
