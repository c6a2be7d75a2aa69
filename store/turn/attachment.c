/*
 * Attachments: see attachment.h.
 *
 * Rows: KEY_NAME session KEY_ATTACHED name -> number; KEY_ITEM session
 * KEY_ATTACHED number -> attachment_fields; KEY_ATTACHMENT
 * session number piece -> bytes, pieces from 0. The session's record has their
 * count, their bytes together, and the stamp of their latest change.
 */
#include "store/turn/attachment.h"

#include "store/artifact/mime.h"
#include "store/json/base64.h"
#include "store/tx/key.h"
#include "store/tx/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
	struct ref ref;
	uint64_t number;
	const char *name;
	const char *mime;
	const struct attachment_rename *rename;
	uint64_t size;
	struct span bytes;
	struct buf *out;
	struct attachment_info info;
};

static uint64_t pieces_of(uint64_t size)
{
	return (size + ENGINE_VALUE_MAX - 1) / ENGINE_VALUE_MAX;
}

#define NUMBER(member) RECORD_NUMBER(struct attachment_info, member)
#define TEXT(member)   RECORD_TEXT(struct attachment_info, member)

static const struct record_field attachment_fields[] = {
	TEXT(name), TEXT(mime), NUMBER(size), NUMBER(stamp), { 0 },
};

static int decode(struct span record, uint64_t number, struct attachment_info *a)
{
	struct record_reader r = { .left = record };

	*a = (struct attachment_info){ .number = number };
	record_take(attachment_fields, &r, a);
	return r.bad ? -EIO : 0;
}

static int load(struct store_tx *tx, uint64_t session, uint64_t number, struct attachment_info *a)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(session, KEY_ATTACHED, number);
	int r = store_get(tx, &key, &record);

	if (r == -ENOENT)
		return err_set(tx->err, r, "the attachment was removed or sent");
	return r < 0 ? r : decode(buf_span(&record), number, a);
}

/* -ENOENT comes without a text, because it may be no error. */
static int load_name(struct store_tx *tx, uint64_t session, const char *name,
		     struct attachment_info *a)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_name(session, KEY_ATTACHED, span_of(name));
	int r = store_get(tx, &key, &value);

	return r < 0 ? r : load(tx, session, key_last_number(buf_span(&value)), a);
}

static int need_name(struct store_tx *tx, uint64_t session, const char *name,
		     struct attachment_info *a)
{
	int r = load_name(tx, session, name, a);

	return r == -ENOENT ? err_set(tx->err, r, "there is no attachment '%s'", name) : r;
}

static int save(struct session_tx *s, struct attachment_info *a)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	uint64_t session = s->ref.session;
	struct key item = key_item(session, KEY_ATTACHED, a->number);
	struct key name = key_name(session, KEY_ATTACHED, span_of(a->name));

	a->stamp = s->stamp;
	record_put(attachment_fields, a, &record);
	store_put(s->tx, &item, buf_span(&record));
	store_put_number(s->tx, &name, a->number);
	s->session.attachments_stamp = s->stamp;
	return buf_check(&record, s->tx->err);
}

static int tell(struct session_tx *s, enum change_kind kind, const struct attachment_info *a)
{
	struct change *change = store_add_change(s->tx, kind, s->ref);

	if (!change)
		return err_nomem(s->tx->err);
	change->item = a->number;
	(void)snprintf(change->name, sizeof change->name, "%s", a->name);
	return 0;
}

static void drop_name(struct session_tx *s, const char *name)
{
	struct key key = key_name(s->ref.session, KEY_ATTACHED, span_of(name));

	store_delete(s->tx, &key);
}

static int drop(struct session_tx *s, const struct attachment_info *a)
{
	struct key item = key_item(s->ref.session, KEY_ATTACHED, a->number);
	struct key bytes = key_2(KEY_ATTACHMENT, s->ref.session, a->number);

	store_delete(s->tx, &item);
	store_delete_all(s->tx, &bytes);
	drop_name(s, a->name);
	s->session.attachments--;
	s->session.attachment_bytes -= a->size;
	s->session.attachments_stamp = s->stamp;
	return tell(s, CHANGE_ATTACHMENT_REMOVED, a);
}

static int find(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;

	return rq->name ? need_name(tx, rq->ref.session, rq->name, &rq->info)
			: load(tx, rq->ref.session, rq->number, &rq->info);
}

int attachment_find(struct store *st, struct ref session, const char *name,
		    struct attachment_info *out, struct err *err)
{
	struct request rq = { .ref = session, .name = name };
	int r = store_view(st, find, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

int attachment_stat(struct store *st, struct ref session, uint64_t number,
		    struct attachment_info *out, struct err *err)
{
	struct request rq = { .ref = session, .number = number };
	int r = store_view(st, find, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

struct listing {
	struct ref ref;
	uint64_t after;
	attachment_fn *fn;
	void *arg;
};

static int emit(void *arg, struct span key, struct span value)
{
	struct listing *l = arg;
	struct attachment_info info;
	int r = decode(value, key_last_number(key), &info);

	return r < 0 ? r : l->fn(l->arg, &info);
}

static int list(struct store_tx *tx, void *arg)
{
	struct listing *l = arg;
	struct key prefix = key_dir(KEY_ITEM, l->ref.session, KEY_ATTACHED);
	struct key from = key_item(l->ref.session, KEY_ATTACHED, l->after + 1);

	return store_scan(tx, &from, &prefix, emit, l);
}

int attachment_list(struct store *st, struct ref session, uint64_t after, attachment_fn *fn,
		    void *arg, struct err *err)
{
	struct listing l = { session, after, fn, arg };

	return store_view(st, list, &l, err);
}

static int take_piece(void *arg, struct span key, struct span value)
{
	(void)key;
	buf_span_add(arg, value);
	return buf_check(arg, NULL);
}

static int read_bytes(struct store_tx *tx, struct ref ref, uint64_t number, struct buf *out)
{
	struct key prefix = key_2(KEY_ATTACHMENT, ref.session, number);
	int r = store_scan(tx, &prefix, &prefix, take_piece, out);

	return r < 0 ? err_set(tx->err, r, "the attachment cannot be read") : 0;
}

static int read_one(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	int r = load(tx, rq->ref.session, rq->number, &rq->info);

	return r < 0 ? r : read_bytes(tx, rq->ref, rq->number, rq->out);
}

int attachment_read(struct store *st, struct ref session, uint64_t number, struct buf *out,
		    struct err *err)
{
	struct request rq = { .ref = session, .number = number, .out = out };

	return store_view(st, read_one, &rq, err);
}

/* Load the attachment of that name (number 0: none), and check that `size` bytes fit. */
static int check_room(struct store_tx *tx, const struct scope_info *session, const char *name,
		      uint64_t size, struct attachment_info *old)
{
	uint64_t others;
	int r = load_name(tx, session->number, name, old);

	if (r == -ENOENT)
		*old = (struct attachment_info){ 0 };
	else if (r < 0)
		return r;
	others = session->attachment_bytes - old->size;
	if (size > ATTACHMENTS_MAX - MIN(others, ATTACHMENTS_MAX))
		return err_set(tx->err, -EFBIG,
			       "the attachments of the message are over %u bytes%s",
			       ATTACHMENTS_MAX, others ? " with the others" : "");
	if (!old->number && session->attachments >= ATTACHMENTS_COUNT_MAX)
		return err_set(tx->err, -ENOSPC, "the message already has %u attachments",
			       ATTACHMENTS_COUNT_MAX);
	return 0;
}

static int check(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	struct scope_info session;
	int r = scope_need(tx, rq->ref, &session);

	return r < 0 ? r : check_room(tx, &session, rq->name, rq->size, &rq->info);
}

int attachment_check(struct store *st, struct ref session, const char *name, uint64_t size,
		     struct err *err)
{
	struct request rq = { .ref = session, .name = name, .size = size };

	return store_view(st, check, &rq, err);
}

static void put_pieces(struct session_tx *s, const struct request *rq, uint64_t number,
		       uint64_t old_size)
{
	struct span left = rq->bytes;
	uint64_t piece = 0;
	struct key key;

	for (; left.len; piece++) {
		size_t n = MIN(left.len, ENGINE_VALUE_MAX);

		key = key_3(KEY_ATTACHMENT, s->ref.session, number, piece);
		store_put(s->tx, &key, span_sub(left, 0, n));
		left = span_sub(left, n, left.len);
	}
	for (; piece < pieces_of(old_size); piece++) {
		key = key_3(KEY_ATTACHMENT, s->ref.session, number, piece);
		store_delete(s->tx, &key);
	}
}

/* The number for a new attachment: the wanted one, unless another attachment has it by now. */
static uint64_t choose_number(struct store_tx *tx, const struct request *rq)
{
	CLEANUP(buf_release) struct buf record = { 0 };
	struct key key = key_item(rq->ref.session, KEY_ATTACHED, rq->number);

	if (rq->number && store_get(tx, &key, &record) == -ENOENT)
		return rq->number;
	return store_tx_number(tx);
}

static int put(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	struct attachment_info old = { 0 };
	struct attachment_info a = { .size = rq->bytes.len };
	int r = session_begin(&s, tx, rq->ref);

	if (r == 0)
		r = check_room(tx, &s.session, rq->name, rq->bytes.len, &old);
	if (r < 0)
		return r;
	a.number = old.number ? old.number : choose_number(tx, rq);
	if (!a.number)
		return -EIO;
	(void)snprintf(a.name, sizeof a.name, "%s", rq->name);
	(void)snprintf(a.mime, sizeof a.mime, "%s", rq->mime);
	put_pieces(&s, rq, a.number, old.size);
	s.session.attachments += !old.number;
	s.session.attachment_bytes += a.size - old.size;
	r = save(&s, &a);
	if (r == 0)
		r = tell(&s, old.number ? CHANGE_ATTACHMENT : CHANGE_ATTACHMENT_ADDED, &a);
	return r < 0 ? r : session_finish(&s);
}

int attachment_put(struct store *st, struct ref session, const char *name, struct span bytes,
		   uint64_t number, struct err *err)
{
	struct span head = span_sub(bytes, 0, MIN(bytes.len, MIME_LOOK_BYTES));
	char mime[128];
	struct request rq = {
		.ref = session, .name = name, .bytes = bytes, .number = number, .mime = mime
	};

	mime_guess(head, name, mime, sizeof mime);
	return store_update(st, put, &rq, err);
}

static int remove_one(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	int r = session_begin(&s, tx, rq->ref);

	if (r == 0)
		r = need_name(tx, rq->ref.session, rq->name, &rq->info);
	if (r == 0)
		r = drop(&s, &rq->info);
	return r < 0 ? r : session_finish(&s);
}

int attachment_remove(struct store *st, struct ref session, const char *name, struct err *err)
{
	struct request rq = { .ref = session, .name = name };

	return store_update(st, remove_one, &rq, err);
}

/* Guess the type after a change of the name. */
static int guess_again(struct store_tx *tx, struct ref ref, struct attachment_info *a)
{
	CLEANUP(buf_release) struct buf first = { 0 };
	struct key key = key_3(KEY_ATTACHMENT, ref.session, a->number, 0);
	int r = store_get(tx, &key, &first);

	if (r < 0 && r != -ENOENT)
		return r;
	mime_guess(span_sub(buf_span(&first), 0, MIN(first.len, MIME_LOOK_BYTES)), a->name, a->mime,
		   sizeof a->mime);
	return 0;
}

static int replace(struct session_tx *s, const struct attachment_rename *rename)
{
	struct attachment_info other;
	int r = load_name(s->tx, s->ref.session, rename->new_name, &other);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (rename->must_be_new)
		return err_set(s->tx->err, -EEXIST, "there is '%s' already", rename->new_name);
	return drop(s, &other);
}

static int rename_one(struct store_tx *tx, void *arg)
{
	struct request *rq = arg;
	CLEANUP(session_release) struct session_tx s;
	struct attachment_info *a = &rq->info;
	int r = session_begin(&s, tx, rq->ref);

	if (r == 0)
		r = need_name(tx, rq->ref.session, rq->name, a);
	if (r < 0)
		return r;
	if (!strcmp(rq->name, rq->rename->new_name))
		return 0;
	r = replace(&s, rq->rename);
	if (r < 0)
		return r;
	drop_name(&s, a->name);
	(void)snprintf(a->name, sizeof a->name, "%s", rq->rename->new_name);
	r = guess_again(tx, rq->ref, a);
	if (r == 0)
		r = save(&s, a);
	if (r == 0)
		r = tell(&s, CHANGE_ATTACHMENT, a);
	return r < 0 ? r : session_finish(&s);
}

int attachment_rename(struct store *st, struct ref session, const struct attachment_rename *rename,
		      struct attachment_info *out, struct err *err)
{
	struct request rq = { .ref = session, .name = rename->name, .rename = rename };
	int r = store_update(st, rename_one, &rq, err);

	if (r == 0)
		*out = rq.info;
	return r;
}

/* Collecting all attachments for a message. */

struct collecting {
	struct ref ref;
	struct attachments *all;
	struct buf infos; /* of struct attachment_info */
};

static int note(void *arg, const struct attachment_info *info)
{
	buf_add(arg, info, sizeof *info);
	return buf_check(arg, NULL);
}

static int by_name(const void *a, const void *b)
{
	const struct attachment_info *x = a;
	const struct attachment_info *y = b;

	return strcmp(x->name, y->name);
}

static int add_part(struct store_tx *tx, struct collecting *c, const struct attachment_info *a)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct part *p = content_add(c->all->parts, PART_INLINE);
	int r = p ? read_bytes(tx, c->ref, a->number, &bytes) : err_nomem(tx->err);

	if (r < 0)
		return r;
	base64_encode(&p->text, buf_span(&bytes), BASE64_URL_SAFE);
	p->name = strdup(a->name);
	p->mime = strdup(a->mime);
	if (!p->name || !p->mime)
		return err_nomem(tx->err);
	return buf_check(&p->text, tx->err);
}

static int collect(struct store_tx *tx, void *arg)
{
	struct collecting *c = arg;
	struct listing l = { .ref = c->ref, .fn = note, .arg = &c->infos };
	struct attachment_info *infos;
	struct scope_info session;
	size_t count;
	size_t i;
	int r = scope_need(tx, c->ref, &session);

	if (r < 0)
		return r;
	c->all->stamp = session.attachments_stamp;
	if (!session.attachments)
		return 0;
	c->all->parts = content_new(NULL);
	r = c->all->parts ? list(tx, &l) : err_nomem(tx->err);
	infos = BUF_LIST(struct attachment_info, &c->infos, &count);
	if (r == 0 && count)
		qsort(infos, count, sizeof *infos, by_name);
	for (i = 0; r == 0 && i < count; i++)
		r = add_part(tx, c, &infos[i]);
	return r;
}

int attachments_collect(struct store *st, struct ref session, struct attachments *out,
			struct err *err)
{
	struct collecting c = { .ref = session, .all = out };
	int r;

	*out = (struct attachments){ 0 };
	r = store_view(st, collect, &c, err);
	buf_release(&c.infos);
	return r;
}

void attachments_release(struct attachments *a)
{
	content_free(a->parts);
	a->parts = NULL;
}

int attachments_take(struct session_tx *s, const struct attachments *a)
{
	CLEANUP(buf_release) struct buf infos = { 0 };
	struct listing l = { .ref = s->ref, .fn = note, .arg = &infos };
	const struct attachment_info *all;
	size_t count;
	size_t i;
	int r;

	if (s->session.attachments_stamp != a->stamp)
		return -ECANCELED;
	if (!s->session.attachments)
		return 0;
	r = list(s->tx, &l);
	all = BUF_LIST(struct attachment_info, &infos, &count);
	for (i = 0; r == 0 && i < count; i++)
		r = drop(s, &all[i]);
	return r;
}
