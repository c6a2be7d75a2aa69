/*
 * The provider "replay": answers that other providers gave, from a cassette.
 *
 * "replay/FILE" is a file of the agent's folder (cassette.h). Each request is
 * made by the provider that made the recorded one, and the recorded bytes are
 * read by its decoder; model.c sees to that.
 */
#include "runner/model_replay.h"

#include "runner/model.h"

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

const struct model_provider model_replay = {
	.name = "replay",
	.is_file = true,
	.replays = true,
};
