/*
 * Speakers: see speaker.h.
 */
#include "runner/history/speaker.h"

#include "runner/history/past.h"
#include "store/session/log.h"

#include <errno.h>

/* A walk back through the log. */
struct way {
	struct rewound rewound;
	int (*take)(struct way *w, const struct past_line *picked, struct span line);

	/* The last author. */
	struct speaker_filter filter;
	struct buf asked; /* authors that the filter has seen, each with a NUL */

	/* The caller. */
	const char *id;
	struct buf token; /* the id as a line has it */

	/* The result. */
	struct buf *author;
	struct caller *caller;
	int answer; /* what accepts() returned last */
};

static void way_release(struct way *w)
{
	rewound_release(&w->rewound);
	buf_release(&w->asked);
	buf_release(&w->token);
}

static int take_line(void *arg, uint64_t at, struct span text)
{
	struct way *w = arg;
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct past_line picked = { 0 };
	int r;

	if (w->token.len &&
	    !memmem(text.data, text.len, w->token.data, w->token.len)) /* most lines */
		return 0;
	r = past_pick(text, &picked);
	if (r == 0)
		r = json_unquote(picked.invocation, &invocation);
	if (r < 0 || rewound_hides(&w->rewound, buf_span(&invocation), at))
		return r;
	if (w->filter.skip && span_is(buf_span(&invocation), w->filter.skip))
		return 0;
	return w->take(w, &picked, text);
}

static int walk(struct way *w, struct store *st, struct ref session, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(st, session, &info, err);

	if (r == 0)
		r = rewound_load(&w->rewound, st, session, &info, err);
	if (r == 0)
		r = session_lines_back(st, (struct log_range){ session, 0, info.log_size },
				       take_line, w, err);
	if (r < 0 && err && !err->code)
		return err_set(err, r, "the log of the session cannot be read");
	return r;
}

static int take_author(struct way *w, const struct past_line *picked, struct span line)
{
	CLEANUP(buf_release) struct buf author = { 0 };
	int r = json_unquote(picked->author, &author);

	(void)line;
	if (r < 0 || !buf_cstr(&author))
		return r < 0 ? r : -ENOMEM;
	if (!strcmp(author.data, "user") || buf_has_text(&w->asked, author.data))
		return 0;
	buf_add(&w->asked, author.data, author.len + 1);
	if (w->asked.failed)
		return -ENOMEM;
	w->answer = w->filter.accepts(w->filter.arg, author.data);
	if (w->answer == 1)
		buf_span_add(w->author, buf_span(&author));
	return w->answer != 0;
}

int speaker_last(struct store *st, struct ref session, const struct speaker_filter *filter,
		 struct buf *author, struct err *err)
{
	CLEANUP(way_release)
	struct way w = { .take = take_author, .filter = *filter, .author = author };
	int r = walk(&w, st, session, err);

	if (r < 0)
		return r;
	return w.answer < 0 ? w.answer : buf_check(author, err);
}

void caller_release(struct caller *caller)
{
	buf_release(&caller->author);
	buf_release(&caller->branch);
	buf_release(&caller->line);
	content_free(STEAL(&caller->content));
}

static const struct part *find_call(const struct content *content, const char *id)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind == PART_CALL && p->id && !strcmp(p->id, id))
			return p;
	}
	return NULL;
}

static int take_caller(struct way *w, const struct past_line *picked, struct span line)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	struct caller *caller = w->caller;
	int r = picked->content.len ? content_from_stored(picked->content, &content) : 0;

	caller->call = content ? find_call(content, w->id) : NULL;
	if (r < 0 || !caller->call)
		return r;
	caller->content = STEAL(&content);
	r = json_unquote(picked->author, &caller->author);
	if (r == 0 && picked->branch.len)
		r = json_unquote(picked->branch, &caller->branch);
	buf_span_add(&caller->line, line);
	return r < 0 ? r : 1;
}

int speaker_of_call(struct store *st, struct ref session, const char *call_id, struct caller *out,
		    struct err *err)
{
	CLEANUP(way_release)
	struct way w = { .take = take_caller, .id = call_id, .caller = out };
	int r;

	json_quote(&w.token, span_of(call_id));
	r = buf_check(&w.token, err);
	if (r == 0)
		r = walk(&w, st, session, err);
	if (r == 0)
		return err_set(err, -ENOENT, "no event has the function call '%.100s'", call_id);
	return r < 0 ? r : buf_check(&out->line, err);
}
