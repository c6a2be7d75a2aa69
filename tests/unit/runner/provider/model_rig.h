/*
 * What the tests of model providers share: questions and answers as files.
 *
 * NAME.body is an answer, NAME.expect.json what has to become of it, however its
 * bytes are cut. A request NAME.json is a question with the request, or the
 * error, that it makes. Recordings of real providers are used too when
 * ADKFS_RECORDED names their folder.
 *
 * A program defines `rig` and lists those of the tests below that it has the
 * members for. What is not as expected ends the test that runs.
 */
#ifndef UNIT_MODEL_RIG_H
#define UNIT_MODEL_RIG_H

#include "base/net/http.h"
#include "runner/model/ask.h"
#include "runner/wire/decode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A folder of fixtures, of which there are more than `above`. */
struct rig_folder {
	const char *path;
	size_t above;
};

/* The body of an answer that is an error, and the message in it. */
struct rig_error {
	const char *body;    /* NULL ends a table */
	const char *message; /* NULL: it is not of the provider's form */
};

/* Requests that a real service took, and how they are made again. */
struct rig_again {
	const char *prefix; /* how their names in the folder requests/ begin */
	size_t above;       /* there are more than so many */

	/* A question, in the form of a request fixture, for this body. New. */
	json_t *(*fixture)(json_t *recorded);

	/* Take away what differs on purpose. */
	void (*level)(json_t *recorded, json_t *got);
};

struct model_rig {
	const char *model;            /* one of the provider */
	const char *const *variables; /* settings that a request may find; NULL at the end */
	struct rig_folder bodies;
	struct rig_folder requests;
	const char *const *recorded; /* folders of recordings; NULL at the end */
	const char *end_marker;      /* how it begins, in a stream */

	/* An answer that calls f with { "a": 1.50, "b": 12345678901234567890123, "c": 1E400 }. */
	const char *numbers;

	/* A body, and what is heard of it while it comes in pieces. */
	struct {
		const char *body;
		const char *text;
		const char *thought;
		const char *finish_word;
	} heard;

	const struct rig_error *errors;
	struct rig_again again;
};

/* The provider that is tested. */
extern const struct model_rig rig;

/* Tests, and the members that they need */

void test_bodies(void **state);            /* bodies */
void test_requests(void **state);          /* requests, variables */
void test_recorded(void **state);          /* recorded, end_marker */
void test_recorded_requests(void **state); /* again, variables */
void test_numbers(void **state);           /* numbers */
void test_pieces_are_heard(void **state);  /* bodies, heard */
void test_error_messages(void **state);    /* errors */
void test_memory(void **state);            /* bodies, requests, variables; model_memory.c */

/* Files */

typedef void file_fn(const char *folder, const char *name);

/*
 * Call fn with the names in a folder that begin with prefix and have suffix from their first dot
 * on; fn gets them without it. Returns how many they are.
 */
size_t each_file(const char *folder, const char *prefix, const char *suffix, file_fn *fn);

/* The same in a folder of the recordings. Without recordings the test is skipped. */
size_t each_recorded(const char *folder, const char *prefix, const char *suffix, file_fn *fn);

/* NAME.json in a folder of the recordings. Without recordings the test is skipped. New. */
json_t *read_recorded(const char *folder, const char *name);

/* Whether there are recordings. */
bool has_recordings(void);

/* The file NAME and suffix of a folder. */
void read_text(struct buf *out, const char *folder, const char *name, const char *suffix);
json_t *read_json(const char *folder, const char *name, const char *suffix);

/* JSON text as a value. New. */
json_t *parsed(struct span text);

/* Answers */

/* Who answers for a model; asked for it by this name. */
const struct model_provider *found(const char *model, const char *name);

/* The provider of the rig. */
const struct model_provider *provider(void);

/* One answer, decoded. */
struct outcome {
	const struct model_provider *provider;
	struct model_decode *decoder;
	struct model_reply reply;
	struct err err;
	struct buf heard;   /* what on_text got, without thoughts */
	struct buf thought; /* and with */
	int r;
};

/* Decode bytes that come in pieces of this size. */
void outcome_make(struct outcome *o, struct span bytes, size_t size);

/* The same with the body of a fixture. */
void outcome_of_body(struct outcome *o, const char *name, size_t size);

/* The same with rig.numbers, all at once; in the call they are as the model wrote them. */
void outcome_of_numbers(struct outcome *o);

void outcome_release(struct outcome *o);

/* expect: what the answer's file says of it. size: of the pieces. */
typedef void outcome_fn(const char *name, size_t size, json_t *expect, const struct outcome *o);

/* Check what becomes of an answer, for pieces of several sizes. */
void check_answer(struct span bytes, const char *name, json_t *expect, outcome_fn *check);

/* Requests */

/* Unset the variables of the rig, then set those that are members of env, which may be NULL. */
void set_environment(json_t *env);

/* The same with one variable that is set. */
void set_only(const char *variable, const char *value);

/* The contents and tools of a request fixture, as C objects; borrows from the JSON. */
struct fixture_question {
	struct question rq;
	struct content *contents[16];
	struct model_tool tools[8];
};

/* From the member `request` of a fixture. */
void fixture_question_make(struct fixture_question *q, const json_t *from);
void fixture_question_release(struct fixture_question *q);

/* Who is asked: the model of the fixture, or that of the rig; and what the settings make of it. */
void fixture_question_settle(struct fixture_question *q, const json_t *fixture);

/* Ask the question of a fixture in its environment. Returns what encode() does. */
int ask_fixture(const json_t *fixture, struct http_request *http, struct err *err);

/* Ask a question of one word. env: taken. */
int ask_word(json_t *env, struct http_request *http, struct err *err);

/* Ask the provider of the rig with nothing but contents, which it takes. */
void ask_contents(struct content *const *contents, size_t count, struct http_request *http);

/* The request fixtures of a folder. */
void check_requests(const struct rig_folder *folder);

/* What the provider of the rig says about a request, a line each sentence. */
void assert_review(const struct question *rq, const char *wanted);

#endif
