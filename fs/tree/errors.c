/*
 * .errors: see errors.h.
 */
#include "fs/tree/errors.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "fs/tree/ids.h"
#include "fs/tree/node.h"
#include "store/json/time.h"

void errors_init(struct errors *e)
{
	*e = (struct errors){ 0 };
	mutex_init(&e->lock);
}

void errors_release(struct errors *e) NO_THREAD_ANALYSIS /* no other thread is left */
{
	size_t i;

	for (i = 0; i < ERRORS_PLACES; i++)
		buf_release(&e->places[i].lines);
	mutex_release(&e->lock);
}

static struct error_place *find_locked(struct errors *e, uint64_t object) REQUIRES(e->lock)
{
	size_t i;

	for (i = 0; i < ERRORS_PLACES; i++) {
		if (e->places[i].object == object)
			return &e->places[i];
	}
	return NULL;
}

/* The place of a directory; a new one replaces the place with the oldest last line. */
static struct error_place *need_locked(struct errors *e, uint64_t object) REQUIRES(e->lock)
{
	struct error_place *place = find_locked(e, object);
	size_t i;

	if (place)
		return place;
	place = &e->places[0];
	for (i = 1; i < ERRORS_PLACES; i++) {
		if (e->places[i].stamp < place->stamp)
			place = &e->places[i];
	}
	place->object = object;
	buf_clear(&place->lines);
	return place;
}

/* Drop the oldest lines until the text fits. */
static void trim_lines(struct buf *lines)
{
	while (lines->len > ERRORS_BYTES) {
		char *newline = memchr(lines->data, '\n', lines->len);

		buf_consume(lines, newline ? (size_t)(newline - lines->data) + 1 : lines->len);
	}
}

void errors_add(struct errors *e, uint64_t object, const char *name, const struct err *why)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	struct error_place *place;

	buf_text(&line, "{\"time\":");
	time_print(&line, clock_now());
	buf_text(&line, ",\"name\":");
	json_quote_lossy(&line, span_of(name));
	buf_printf(&line, ",\"errno\":\"%s\",\"error\":", err_name(why->code));
	json_quote_lossy(&line, span_of(why->text));
	buf_text(&line, "}\n");
	mutex_lock(&e->lock);
	place = need_locked(e, object);
	buf_span_add(&place->lines, buf_span(&line));
	trim_lines(&place->lines);
	place->stamp = clock_stamp();
	mutex_unlock(&e->lock);
}

uint64_t errors_ino(uint64_t object)
{
	return node_ino(object, ID_ERRORS);
}

void errors_show(struct errors *e, uint64_t object, struct buf *out)
{
	struct error_place *place;

	mutex_lock(&e->lock);
	place = find_locked(e, object);
	if (place)
		buf_span_add(out, buf_span(&place->lines));
	mutex_unlock(&e->lock);
}

void errors_stat(struct errors *e, uint64_t object, uint64_t *size, uint64_t *stamp)
{
	struct error_place *place;

	mutex_lock(&e->lock);
	place = find_locked(e, object);
	*size = place ? place->lines.len : 0;
	*stamp = place ? place->stamp : 0;
	mutex_unlock(&e->lock);
}
