/*
 * Reviewing a question: see review.h.
 */
#include "runner/model/review.h"

#include "runner/model/settings.h"

#include <errno.h>

/* Encode a short message: an error here would come in each conversation. */
static int try_encoding(struct question q, model_review_fn *fn, void *arg)
{
	CLEANUP(content_free_p) struct content *hello = content_new("user");
	CLEANUP(http_request_release) struct http_request http = { 0 };
	struct err reason = { 0 };
	int r = hello ? content_add_text(hello, SPAN("hello"), false) : -ENOMEM;

	if (r < 0)
		return r;
	q.contents = &hello;
	q.count = 1;
	r = q.provider->encode(&q, &http, &reason);
	if (r == 0)
		r = model_settings_apply(q.provider, q.settings, &http, &reason);
	if (r == -ENOMEM)
		return r;
	return r == -EINVAL ? fn(arg, reason.text) : 0;
}

int model_review(const struct question *q, model_review_fn *fn, void *arg)
{
	int r = q->provider->review ? q->provider->review(q, fn, arg) : 0;

	return r < 0 || !q->provider->encode ? r : try_encoding(*q, fn, arg);
}
