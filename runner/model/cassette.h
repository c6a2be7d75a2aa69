/*
 * Cassettes: exchanges with model services, recorded to be played again.
 *
 * A cassette is a file of JSON lines, an attempt each:
 *
 *   call, attempt	the question, and the number of the attempt, from 0
 *   provider, model	who was asked
 *   settings		of the provider, as far as they decide what is asked; keys are "[key]"
 *   path		of the URL, without host and query
 *   body		the request, JSON
 *   status, headers	of the answer; 0: none came. Headers that matter: content-type and
 *			those that say whether to ask again
 *   pieces		its body as it came: [MS, TEXT], the time since the request and the
 *			bytes; {"base64": ...} in place of text that is not UTF-8
 *   error		{errno, text}: how the connection ended, if not well
 *
 * A cassette has no header of a request and no key: a key that was sent or came back
 * is overwritten with asterisks, so that the pieces keep their lengths.
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
 * Open FOLDER/NAME, the one that others play too if it has not changed since.
 * *out is one reference. -ENOENT; -EINVAL: outside of the folder, or FILE:LINE
 * is not of the form; -EFBIG; -ENOMEM; another -errno. Any thread.
 */
MUST_CHECK int cassette_open(const char *folder, const char *name, struct cassette **out,
			     struct err *err);
void cassette_unref(struct cassette *cassette); /* NULL is fine */
DEFINE_CLEANUP(struct cassette, cassette_unref);

/* A provider and a model that were asked in a cassette. Texts live as long as the cassette. */
struct cassette_source {
	const char *provider;
	const char *model;
	struct settings *settings; /* nothing of the environment */
};
const struct cassette_source *cassette_sources(const struct cassette *cassette, size_t *count);

/*
 * Find the answers to a request by its canonical body; ids that adkfs made up
 * (adk-UUID) count by their order. Among equal requests the first
 * that was not taken yet counts; when all were taken, they begin again. -ENOENT: there is none;
 * -ENOMEM. Any thread.
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

/* The line of an attempt, canonical. -EINVAL: the call has no such attempt. */
MUST_CHECK int cassette_attempt(const struct cassette_player *player, unsigned number,
				struct span *line, struct err *err);

/* Give what http_send() gave for this attempt; cancelling ends a paced answer. */
MUST_CHECK int cassette_play(const struct cassette_player *player, unsigned attempt,
			     struct cancel *cancel, struct http_answer *answer, struct err *err);

/* Append the headers of an answer that matter, an object. */
void cassette_headers(const struct http_answer *answer, struct buf *out);

/* Append the canonical form of a request's body, as it is compared. -ENOMEM. */
MUST_CHECK int cassette_body(struct span body, struct buf *out);

#endif
