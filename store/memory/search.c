/*
 * Searching what is remembered: see memory.h.
 *
 * The postings of each word of the query come in the order of link and offset. The search merges
 * them and remembers the best events. The index also has events that a rewind undid: the search
 * drops those at the end, and looks for more.
 */
#include "base/clock.h"
#include "store/index/postings.h"
#include "store/index/words.h"
#include "store/json/time.h"
#include "store/memory/memory.h"
#include "store/session/log.h"
#include "store/timeline/rewind.h"
#include "store/tx/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POSTINGS_AT_ONCE 256 /* postings of a word in memory */
#define WIDEN            8   /* factor of the events to look for after some were dropped */

/* The postings of one word. */
struct cursor {
	struct span word;
	struct key from; /* the next row to read */
	bool is_read;    /* no row is left to read */
	struct posting posting[POSTINGS_AT_ONCE];
	size_t at;
	size_t count;
};

/* An event that has words of the query. */
struct found {
	struct posting posting;
	uint64_t session;
	unsigned shared;
};

/* The undone parts of a session; loaded once a search. */
struct undone {
	struct undone *next;
	uint64_t session;
	struct rewound rewound;
};

struct search {
	struct store_tx *tx;
	struct ref user;
	struct words words;
	struct cursor **cursors;
	size_t max;   /* matches that are wanted */
	size_t given; /* so far */
	memory_fn *fn;
	void *arg;

	struct found *best; /* in order */
	size_t count;
	size_t size;
	struct memory_link link; /* the one that was looked up last */
	bool has_link;           /* the link exists */
	struct undone *undone;
};

static void search_release(struct search *s)
{
	size_t i;

	for (i = 0; s->cursors && i < s->words.count; i++)
		free(s->cursors[i]);
	free(s->cursors);
	free(s->best);
	words_release(&s->words);
	while (s->undone) {
		struct undone *u = s->undone;

		s->undone = u->next;
		rewound_release(&u->rewound);
		free(u);
	}
}

static int note_posting(void *arg, struct span key, struct span value)
{
	struct cursor *c = arg;
	int r = posting_decode(key, value, &c->posting[c->count]);

	if (r < 0)
		return r;
	c->from = key_next(key);
	return ++c->count == POSTINGS_AT_ONCE;
}

/* The posting at the cursor; NULL at its end. */
static int peek(struct search *s, struct cursor *c, struct posting **out)
{
	struct key prefix = key_word(s->user.user, c->word);
	int r;

	if (c->at == c->count && !c->is_read) {
		c->at = c->count = 0;
		r = store_scan(s->tx, &c->from, &prefix, note_posting, c);
		if (r < 0)
			return err_set(s->tx->err, r, "the index cannot be read");
		c->is_read = r == 0;
	}
	*out = c->at < c->count ? &c->posting[c->at] : NULL;
	return 0;
}

static bool is_before(const struct posting *a, const struct posting *b)
{
	return a->link != b->link ? a->link < b->link : a->at < b->at;
}

/* The next event, and how many words it has. -ENOENT: there is none. */
static int next_event(struct search *s, struct found *f)
{
	struct posting *p = NULL;
	size_t i;
	int r;

	f->shared = 0;
	for (i = 0; i < s->words.count; i++) {
		r = peek(s, s->cursors[i], &p);
		if (r < 0)
			return r;
		if (p && (!f->shared || is_before(p, &f->posting))) {
			f->posting = *p;
			f->shared = 1;
		}
	}
	if (!f->shared)
		return -ENOENT;
	f->shared = 0;
	for (i = 0; i < s->words.count; i++) {
		struct cursor *c = s->cursors[i];

		if (c->at < c->count && !is_before(&f->posting, &c->posting[c->at])) {
			c->at++;
			f->shared++;
		}
	}
	return 0;
}

/* Whether the link of an event exists. 1: yes. The index of a removed link may still be there. */
static int check_link(struct search *s, struct found *f)
{
	int r = 0;

	if (s->link.number != f->posting.link) {
		r = memory_load(s->tx, s->user.user, f->posting.link, &s->link);
		if (r < 0 && r != -ENOENT)
			return r;
		s->link.number = f->posting.link;
		s->has_link = r == 0;
	}
	f->session = s->link.session;
	return s->has_link;
}

/* More words first, then the later event, then a fixed order. */
static bool is_better(const struct found *a, const struct found *b)
{
	if (a->shared != b->shared)
		return a->shared > b->shared;
	if (a->posting.time != b->posting.time)
		return a->posting.time > b->posting.time;
	return is_before(&b->posting, &a->posting);
}

static void keep(struct search *s, const struct found *f)
{
	size_t low = 0;
	size_t high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_better(f, &s->best[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	if (low == s->size)
		return;
	s->count = MIN(s->count + 1, s->size);
	memmove(s->best + low + 1, s->best + low, (s->count - low - 1) * sizeof *f);
	s->best[low] = *f;
}

/* Make `best` the best `size` events. */
static int rank(struct search *s, size_t size)
{
	struct found *best = realloc(s->best, size * sizeof *best);
	struct found f;
	size_t i;
	int r;

	if (!best)
		return err_nomem(s->tx->err);
	s->best = best;
	s->size = size;
	s->count = 0;
	for (i = 0; i < s->words.count; i++) {
		struct cursor *c = s->cursors[i];

		c->at = c->count = 0;
		c->is_read = false;
		c->from = key_word(s->user.user, c->word);
	}
	while ((r = next_event(s, &f)) == 0) {
		r = check_link(s, &f);
		if (r < 0)
			return r;
		if (r)
			keep(s, &f);
	}
	return r == -ENOENT ? 0 : r;
}

static int load_undone(struct search *s, struct ref session, const struct scope_info *info,
		       struct rewound **out)
{
	struct undone *u;
	int r;

	for (u = s->undone; u && u->session != session.session; u = u->next)
		;
	if (!u) {
		u = calloc(1, sizeof *u);
		if (!u)
			return err_nomem(s->tx->err);
		u->session = session.session;
		u->next = s->undone;
		s->undone = u;
		r = rewound_load(&u->rewound, s->tx->st, session, info, s->tx->err);
		if (r < 0)
			return r;
	}
	*out = &u->rewound;
	return 0;
}

/* Whether a rewind undid an event. 1: yes. */
static int is_undone(struct search *s, const struct found *f, const struct scope_info *info,
		     struct span line)
{
	struct ref session = { s->user.app, s->user.user, f->session };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct rewound *rewound = NULL;
	struct span token;
	int r;

	if (!info->rewinds)
		return 0;
	r = load_undone(s, session, info, &rewound);
	if (r < 0)
		return r;
	r = json_member(line, "invocationId", &token);
	if (r == 0)
		r = json_unquote(token, &invocation);
	if (r < 0 && r != -ENOENT)
		return r;
	return rewound_hides(rewound, buf_span(&invocation), f->posting.at);
}

/* Pass a match to fn, unless it was undone. */
static int give(struct search *s, const struct found *f)
{
	struct ref session = { s->user.app, s->user.user, f->session };
	CLEANUP(buf_release) struct buf line = { 0 };
	struct scope_info info;
	struct memory_match match = { .session = info.id, .shared = f->shared };
	int r = scope_load(s->tx, session, &info);

	if (r == 0)
		r = session_read(s->tx->st, session, f->posting.at, f->posting.len - 1, &line,
				 s->tx->err);
	if (r == 0 && line.len != f->posting.len - 1) /* the session was removed a moment ago */
		return 0;
	if (r == 0)
		r = is_undone(s, f, &info, buf_span(&line));
	if (r)
		return MIN(r, 0);
	match.line = buf_span(&line);
	s->given++;
	return s->fn(s->arg, &match);
}

static int search(struct store_tx *tx, void *arg)
{
	struct search *s = arg;
	size_t size = s->max;
	size_t seen = 0;
	int r;

	s->tx = tx;
	do {
		r = rank(s, size);
		for (; r == 0 && seen < s->count && s->given < s->max; seen++)
			r = give(s, &s->best[seen]);
		size *= WIDEN;
	} while (r == 0 && s->given < s->max && s->count == s->size);
	return r;
}

static int make_cursors(struct search *s, struct err *err)
{
	struct span left = buf_span(&s->words.list);
	struct span word;
	size_t i;

	s->cursors = calloc(s->words.count, sizeof(struct cursor *));
	for (i = 0; s->cursors && words_take(&left, &word); i++) {
		s->cursors[i] = calloc(1, sizeof(struct cursor));
		if (!s->cursors[i])
			return err_nomem(err);
		s->cursors[i]->word = word;
	}
	return s->cursors ? 0 : err_nomem(err);
}

int memory_search(struct store *st, const struct memory_query *query, memory_fn *fn, void *arg,
		  struct err *err)
{
	CLEANUP(search_release)
	struct search s = { .user = query->user, .max = query->max, .fn = fn, .arg = arg };
	int r;

	s.words.max = MEMORY_QUERY_WORDS_MAX;
	r = words_add(&s.words, query->text, err);
	if (r < 0 || !s.words.count || !query->max)
		return r;
	r = make_cursors(&s, err);
	return r < 0 ? r : store_view(st, search, &s, err);
}

struct shown {
	struct buf *out;
	bool any;
};

static int show_text(void *arg, struct span token)
{
	struct shown *shown = arg;

	buf_text(shown->out, shown->any ? ",{\"text\":" : "{\"text\":");
	buf_span_add(shown->out, token);
	buf_char(shown->out, '}');
	shown->any = true;
	return 0;
}

static int show_content(struct span content, struct buf *out)
{
	struct shown shown = { .out = out };
	struct span role;
	int r;

	buf_text(out, "{\"parts\":[");
	r = posting_texts(content, show_text, &shown);
	buf_char(out, ']');
	if (r == 0 && json_member(content, "role", &role) == 0) {
		buf_text(out, ",\"role\":");
		buf_span_add(out, role);
	}
	buf_char(out, '}');
	return r;
}

static void show_member(struct span line, const char *name, struct buf *out)
{
	struct span value;

	if (json_member(line, name, &value) < 0)
		return;
	buf_printf(out, ",\"%s\":", name);
	buf_span_add(out, value);
}

/* ADK's memories have times in RFC 3339, unlike its events. */
static void show_time(struct span line, struct buf *out)
{
	struct span token;
	struct tm tm;
	char text[40];
	int64_t usec;
	time_t seconds;

	if (json_member(line, "timestamp", &token) < 0 || time_parse(token, &usec) < 0)
		return;
	seconds = (time_t)(usec / USEC_PER_SEC);
	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	buf_printf(out, ",\"timestamp\":\"%s.%06ldZ\"", text, (long)(usec % USEC_PER_SEC));
}

int memory_show(const struct memory_match *match, struct buf *out)
{
	struct span content;
	int r = json_member(match->line, "content", &content);

	buf_text(out, "{\"content\":");
	if (r == 0)
		r = show_content(content, out);
	show_member(match->line, "author", out);
	show_time(match->line, out);
	show_member(match->line, "id", out);
	buf_text(out, ",\"customMetadata\":{\"adkfs.session\":");
	json_quote(out, span_of(match->session));
	buf_text(out, "}}");
	return r < 0 ? r : buf_check(out, NULL);
}
