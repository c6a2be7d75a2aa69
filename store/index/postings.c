/*
 * Postings: see postings.h.
 */
#include "store/index/postings.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "store/index/words.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>

/* A part that is searched has text, and is no thought. */
static int visit_part(struct span part, posting_text_fn *fn, void *arg)
{
	struct span thought;
	struct span text;
	int r;

	if (json_member(part, "thought", &thought) == 0 && span_is(thought, "true"))
		return 0;
	r = json_member(part, "text", &text);
	return r == -ENOENT ? 0 : r < 0 ? r : fn(arg, text);
}

int posting_texts(struct span content, posting_text_fn *fn, void *arg)
{
	struct span parts;
	struct json_scan s;
	bool first = true;
	int r = json_member(content, "parts", &parts);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	s = json_scan_of(parts, JSON_DEPTH_MAX, NULL);
	r = json_open(&s, '[');
	while (r >= 0 && (r = json_item(&s, &first)) == 1) {
		struct span part;

		r = json_raw(&s, &part);
		if (r == 0)
			r = visit_part(part, fn, arg);
		if (r)
			break;
	}
	return r;
}

static int add_text(void *arg, struct span token)
{
	struct words *words = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = json_unquote(token, &text);

	return r < 0 ? r : words_add(words, buf_span(&text), NULL);
}

int postings_add(struct store_tx *tx, uint64_t user, const struct posting *event,
		 struct span content, size_t *count)
{
	CLEANUP(words_release) struct words words = { 0 };
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_2(KEY_WORDS, event->link, event->at);
	struct span left;
	struct span word;
	int r = content.len ? posting_texts(content, add_text, &words) : 0;

	if (count)
		*count = words.count;
	if (r == -ENOMEM)
		return err_nomem(tx->err);
	if (r < 0 || !words.count)
		return r;
	record_number(&record, (uint64_t)event->time);
	record_number(&record, event->len);
	r = buf_check(&record, tx->err);
	if (r < 0)
		return r;
	store_put(tx, &key, buf_span(&words.list));
	for (left = buf_span(&words.list); words_take(&left, &word);) {
		key = key_posting(user, word, event->link, event->at);
		store_put(tx, &key, buf_span(&record));
	}
	return 0;
}

struct dropping {
	struct store_tx *tx;
	uint64_t user;
	uint64_t link;
	struct key next;
	size_t left; /* postings that may go in this transaction */
};

static int drop_line(void *arg, struct span key, struct span words)
{
	struct dropping *d = arg;
	uint64_t at = key_last_number(key);
	struct key row = key_2(KEY_WORDS, d->link, at);
	struct span word;

	while (words_take(&words, &word)) {
		struct key posting = key_posting(d->user, word, d->link, at);

		store_delete(d->tx, &posting);
		d->left -= d->left > 0;
	}
	store_delete(d->tx, &row);
	d->next = key_next(key);
	return !d->left;
}

int postings_drop(struct store_tx *tx, uint64_t user, uint64_t link, struct key *from, size_t max)
{
	struct dropping d = { tx, user, link, *from, max };
	struct key prefix = key_1(KEY_WORDS, link);
	int r = store_scan(tx, from, &prefix, drop_line, &d);

	*from = d.next;
	return r < 0 ? err_set(tx->err, r, "the index cannot be read") : r;
}

int posting_decode(struct span key, struct span value, struct posting *out)
{
	struct record_reader r = { .left = value };

	out->link = key_second_last_number(key);
	out->at = key_last_number(key);
	out->time = (int64_t)record_take_number(&r);
	out->len = record_take_number(&r);
	return r.bad ? -EIO : 0;
}

/*
 * The stamp is written without reading it. So changes at the same time do not make each other lose
 * a race, and each leaves another value.
 */
struct change *postings_changed(struct store_tx *tx, enum change_kind kind, struct ref session)
{
	struct key key = key_word(session.user, SPAN(""));

	store_put_number(tx, &key, clock_stamp());
	return store_add_change(tx, kind, session);
}

int postings_stamp(struct store_tx *tx, uint64_t user, uint64_t *stamp)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_word(user, SPAN(""));
	int r = store_get(tx, &key, &value);

	*stamp = r == 0 ? key_last_number(buf_span(&value)) : 0;
	return r == -ENOENT ? 0 : r;
}

void postings_drop_stamp(struct store_tx *tx, uint64_t user)
{
	struct key key = key_word(user, SPAN(""));

	store_delete(tx, &key);
}
