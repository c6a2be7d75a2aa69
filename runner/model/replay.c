/*
 * The provider "replay": answers that other providers gave, from a cassette.
 *
 * FILE in "replay/FILE" is a cassette in the agent's folder. The recorded provider makes
 * the request and decodes the recorded bytes (ask.c).
 */
#include "runner/model/replay.h"

#include "runner/model/ask.h"

#include <errno.h>

int model_replay_open(const char *folder, const char *name, struct cassette **out, bool *paced,
		      struct err *err)
{
	CLEANUP(buf_release) struct buf file = { 0 };
	struct span text = span_of(name);
	struct span mark = SPAN("?paced");

	*paced = text.len > mark.len &&
		 span_equal(span_sub(text, text.len - mark.len, text.len), mark);
	buf_span_add(&file, span_sub(text, 0, text.len - (*paced ? mark.len : 0)));
	if (!buf_cstr(&file))
		return err_nomem(err);
	return cassette_open(folder, file.data, out, err);
}

/* Report before the first turn that the cassette cannot be played. */
static int replay_review(const struct question *q, model_review_fn *fn, void *arg)
{
	CLEANUP(cassette_unref_p) struct cassette *cassette = NULL;
	struct err reason = { 0 };
	size_t count = 0;
	bool paced;
	int r = model_replay_open(q->folder, q->name, &cassette, &paced, &reason);

	if (r == 0)
		(void)cassette_sources(cassette, &count);
	if (r == 0 && !count)
		r = cassette_differs(cassette, SPAN(""), &reason);
	return r < 0 && r != -ENOMEM ? fn(arg, reason.text) : r;
}

const struct model_provider model_replay = {
	.name = "replay",
	.is_file = true,
	.replays = true,
	.review = replay_review,
};
