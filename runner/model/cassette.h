/*
 * Cassettes: exchanges with model services, recorded to be played again.
 *
 * A cassette is a file of JSON lines. Each line is one attempt:
 *
 *   call, attempt	the id of the question, and the number of the attempt, from 0
 *   provider, model	who was asked
 *   settings		the provider's settings that change the request; keys are "[key]"
 *   path		the path of the URL, without host and query
 *   body		the body of the request, JSON
 *   status, headers	the status of the answer, 0 if none came; content-type and the
 *			headers that say whether to ask again
 *   pieces		the body of the answer as it came: [MS, TEXT], the time since the
 *			request and the bytes; {"base64": ...} for bytes that are not UTF-8
 *   error		{errno, text}: why the connection failed; absent if it did not
 *
 * A cassette holds no headers of the request and no keys. A key in a body is overwritten
 * with asterisks, so that the pieces keep their lengths.
 */
#ifndef RUNNER_MODEL_CASSETTE_H
#define RUNNER_MODEL_CASSETTE_H

#include "base/net/http.h"
#include "runner/settings/settings.h"

#define CASSETTE_FILE_MAX (256u << 20)
#define CASSETTE_DEPTH    256 /* of JSON */

struct cassette;
struct cassette_call;

/*
 * Open FOLDER/NAME; all users of an unchanged file share one cassette. *out is one reference for
 * the caller. -ENOENT; -EINVAL: outside of the folder, or invalid, err has "FILE:LINE: reason";
 * -EFBIG; -ENOMEM; another -errno. Any thread.
 */
MUST_CHECK int cassette_open(const char *folder, const char *name, struct cassette **out,
			     struct err *err);
void cassette_unref(struct cassette *cassette); /* NULL is fine */
DEFINE_CLEANUP(struct cassette, cassette_unref);

/* A provider and a model that were asked. The texts live as long as the cassette. */
struct cassette_source {
	const char *provider;
	const char *model;
	struct settings *settings; /* the recorded ones, without the environment */
};

/* The sources of a cassette, each once. */
const struct cassette_source *cassette_sources(const struct cassette *cassette, size_t *count);

/*
 * Find the answers to a request by its body, in the form of cassette_body(). Equal requests are
 * taken in their order; after the last one they begin again. -ENOENT: no such request; -ENOMEM.
 * Any thread.
 */
MUST_CHECK int cassette_take(struct cassette *cassette, const struct cassette_source *source,
			     struct span body, const struct cassette_call **out);

/* Report how a request that is not in the cassette differs from the nearest one. -ENOENT. */
int cassette_differs(const struct cassette *cassette, struct span body, struct err *err);

/* How a call is played. */
struct cassette_player {
	const struct cassette *cassette;
	const struct cassette_call *call;
	bool paced; /* pieces come as far apart as they did */
};

/* Find the line of an attempt, in canonical form. -EINVAL: the call has no such attempt. */
MUST_CHECK int cassette_attempt(const struct cassette_player *player, unsigned number,
				struct span *line, struct err *err);

/* Play an attempt: this does and returns what http_send() did. Cancelling ends a paced answer. */
MUST_CHECK int cassette_play(const struct cassette_player *player, unsigned attempt,
			     struct cancel *cancel, struct http_answer *answer, struct err *err);

/* Append a JSON object with the headers that a cassette keeps. */
void cassette_headers(const struct http_answer *answer, struct buf *out);

/*
 * Append the form of a request's body in which bodies are compared: canonical JSON, with numbers
 * in place of the UUIDs of ids that adkfs made up (adk-UUID). -ENOMEM.
 */
MUST_CHECK int cassette_body(struct span body, struct buf *out);

#endif
