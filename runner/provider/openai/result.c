/*
 * Results of calls in messages of OpenAI chat completions.
 *
 * Every result is a message of its own, which can hold only text. The message names the
 * media of the tool. They follow in a message of the user after all results: no other
 * message may stand between the calls and their results.
 */
#include "runner/provider/openai/openai.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"

#include <errno.h>

/* Append the name of a file: the tool's own, or a number and the call. */
static void put_name(const struct model_pair *pair, const struct part *file, size_t number,
		     struct buf *out)
{
	if (file->name && *file->name)
		buf_text(out, file->name);
	else
		buf_printf(out, "%zu of %s", number, pair->id ? pair->id : pair->name);
}

/* Add a file to the waiting message of the user. */
static int keep_file(struct openai_messages *m, const struct part *file, struct span name)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct buf *out = m->out;
	int r;

	buf_text(&text, "This is file ");
	buf_span_add(&text, name);
	buf_char(&text, ':');
	r = buf_check(&text, NULL);
	if (r < 0)
		return r;
	if (!m->files.len)
		buf_char(&m->files, '[');
	m->out = &m->files;
	jsonput_item(m->out);
	openai_put_text_item(m, buf_span(&text));
	r = openai_put_item(m, file);
	m->out = out;
	return r;
}

/* Write the text of a result: the response and the names of its files. */
static int put_content(struct openai_messages *m, const struct model_pair *pair,
		       const struct part *response, struct buf *text)
{
	CLEANUP(content_free_p) struct content *media = NULL;
	int r = model_result_media(response, &media);
	size_t i;

	if (!media || strcmp(response->json, "{}") != 0)
		buf_text(text, response->json);
	for (i = 0; r == 0 && media && i < media->count; i++) {
		CLEANUP(buf_release) struct buf name = { 0 };

		put_name(pair, &media->parts[i], i + 1, &name);
		buf_printf(text, "%sSee file ", text->len ? "\n" : "");
		buf_span_add(text, buf_span(&name));
		buf_char(text, '.');
		r = keep_file(m, &media->parts[i], buf_span(&name));
	}
	return r < 0 ? r : buf_check(text, NULL);
}

static int put_result(struct openai_messages *m, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const struct model_pair *pair = model_pairs_answer(&m->pairs, p);
	int r;

	if (!pair)
		return model_refuse(&m->at,
				    "a functionResponse without its functionCall:", p->name);
	r = put_content(m, pair, p, &text);
	if (r < 0)
		return r;
	openai_open_message(m, "tool");
	jsonput_key(m->out, "tool_call_id");
	openai_put_id(m, pair);
	jsonput_text(m->out, "content", buf_span(&text));
	buf_char(m->out, '}');
	return 0;
}

int openai_put_results(struct openai_messages *m, const struct content *c)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind == PART_RESPONSE)
			r = put_result(m, &c->parts[i]);
	}
	return r;
}

void openai_put_files(struct openai_messages *m)
{
	if (!m->files.len)
		return;
	openai_open_message(m, "user");
	jsonput_key(m->out, "content");
	buf_span_add(m->out, buf_span(&m->files));
	buf_text(m->out, "]}");
	m->out->failed |= m->files.failed;
	buf_clear(&m->files);
}
