/*
 * The provider "replay": answers that other providers gave, from a cassette.
 *
 * "replay/FILE" is a file of the agent's folder (cassette.h). Each request is
 * made by the provider that made the recorded one, and the recorded bytes are
 * read by its decoder; model.c sees to that.
 */
#include "runner/model.h"

const struct model_provider model_replay = {
	.name = "replay",
	.is_file = true,
	.replays = true,
	.schema_with_tools = true,
};
