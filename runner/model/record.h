/*
 * Recording: requests to model services and their answers are appended to cassettes
 * (cassette.h), FOLDER/APP.jsonl. APP is the name of the agent's folder.
 *
 * FOLDER is chosen once for the process, before threads. Without it nothing is
 * recorded, and record_send() is http_send().
 */
#ifndef RUNNER_MODEL_RECORD_H
#define RUNNER_MODEL_RECORD_H

#include "base/net/http.h"

struct model_provider;
struct secrets;
struct settings;

/*
 * Record into a directory, which is made if it is missing. folder is absolute. -ENOTDIR; another
 * -errno: files cannot be made there. Before threads.
 */
MUST_CHECK int record_open(const char *folder, struct err *err);
void record_close(void);

/* The directory; NULL: nothing is recorded. */
const char *record_where(void);

/* The members of a line that tell about the question. Everything is borrowed. */
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
 * Append a JSON object of the settings that change the request: a mark for each key, addresses
 * without user and password, and no values that are sent in headers. -ENOMEM.
 */
MUST_CHECK int record_settings(const struct model_provider *provider,
			       const struct settings *settings, const struct http_request *rq,
			       struct buf *out);

/*
 * Send a request as http_send() does, and record the attempt unless it was cancelled. If the line
 * cannot be written, this fails with the -errno of writing, and err names the file. Any thread.
 */
MUST_CHECK int record_send(const struct record *record, const struct http_request *rq,
			   const struct http_limits *limits, struct cancel *cancel,
			   struct http_answer *answer, struct err *err);

#endif
