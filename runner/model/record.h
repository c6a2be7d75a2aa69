/*
 * Recording: what is said to model services and what they answer, as cassettes
 * (cassette.h), FOLDER/APP.jsonl, named after the agent's folder.
 *
 * One folder for the process, chosen before threads; without one nothing is
 * recorded and record_send() is http_send().
 */
#ifndef RUNNER_MODEL_RECORD_H
#define RUNNER_MODEL_RECORD_H

#include "base/net/http.h"

struct model_provider;
struct secrets;
struct settings;

/*
 * Record into a directory, which is made if it is missing. folder: absolute.
 * -ENOTDIR, another -errno: it cannot be. Before threads.
 */
MUST_CHECK int record_open(const char *folder, struct err *err);
void record_close(void);

/* The directory; NULL: nothing is recorded. */
const char *record_where(void);

/* The question of an attempt. Borrowed. */
struct record {
	const char *call; /* an id that all its attempts share */
	unsigned attempt;
	const char *provider;
	const char *model;
	const char *agent;             /* the agent's folder */
	struct span settings;          /* JSON object, without secrets */
	const struct secrets *secrets; /* overwritten wherever they appear */
};

/*
 * Append the settings that decide what a provider asks, an object: with a mark
 * for each key, however short, without what is sent in headers, without user and password of an
 * address. -ENOMEM.
 */
MUST_CHECK int record_settings(const struct model_provider *provider,
			       const struct settings *settings, const struct http_request *rq,
			       struct buf *out);

/*
 * Send as http_send() does. A cancelled attempt is not recorded. An answer that cannot be
 * recorded is an error: -errno of writing, err names the file. Any thread.
 */
MUST_CHECK int record_send(const struct record *record, const struct http_request *rq,
			   const struct http_limits *limits, struct cancel *cancel,
			   struct http_answer *answer, struct err *err);

#endif
