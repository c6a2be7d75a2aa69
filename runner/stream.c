/*
 * Streams: see stream.h.
 *
 * Bytes are gathered to lines; a line ends at LF, CR LF or CR, and nowhere else
 * (not at U+2028). Only what cannot be known yet is kept between two pieces:
 * the unfinished line, and whether an LF still belongs to the CR before it.
 */
#include "runner/stream.h"

#include <errno.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void stream_init(struct stream *s, enum stream_kind kind)
{
	*s = (struct stream){ .kind = kind, .at_start = true };
}

void stream_release(struct stream *s)
{
	buf_release(&s->line);
	buf_release(&s->data);
}

/* Hand on the event and be ready for the next. Empty data is no event. */
static int dispatch(struct stream *s, stream_event_fn *fn, void *arg)
{
	int r = s->data.len ? fn(arg, buf_span(&s->data)) : 0;

	buf_clear(&s->data);
	s->has_data = false;
	return r;
}

static int keep(struct stream *s, struct span data)
{
	if (s->data.len + data.len > STREAM_EVENT_MAX)
		return -EMSGSIZE;
	buf_span_add(&s->data, data);
	return buf_check(&s->data, NULL);
}

static bool has_prefix(struct span text, struct span prefix)
{
	return text.len >= prefix.len && span_equal(span_sub(text, 0, prefix.len), prefix);
}

/* A line of an event stream. Comments and fields other than `data` mean nothing here. */
static int sse_line(struct stream *s, struct span line, stream_event_fn *fn, void *arg)
{
	static const struct span field = SPAN("data");
	int r = 0;

	if (!line.len)
		return dispatch(s, fn, arg);
	if (!has_prefix(line, field))
		return 0;
	line = span_sub(line, field.len, line.len);
	if (line.len && line.data[0] != ':')
		return 0;
	if (line.len)
		line = span_sub(line, 1, line.len);
	if (line.len && line.data[0] == ' ')
		line = span_sub(line, 1, line.len);
	if (s->has_data)
		r = keep(s, SPAN("\n"));
	s->has_data = true;
	return r < 0 ? r : keep(s, line);
}

static bool is_blank(struct span line)
{
	size_t i;

	for (i = 0; i < line.len; i++) {
		if (line.data[i] != ' ' && line.data[i] != '\t')
			return false;
	}
	return true;
}

static int take_line(struct stream *s, stream_event_fn *fn, void *arg)
{
	struct span line = buf_span(&s->line);
	int r;

	if (s->at_start && has_prefix(line, SPAN(BYTE_ORDER_MARK)))
		line = span_sub(line, sizeof BYTE_ORDER_MARK - 1, line.len);
	s->at_start = false;
	if (s->kind == STREAM_SSE)
		r = sse_line(s, line, fn, arg);
	else
		r = is_blank(line) ? 0 : fn(arg, line);
	buf_clear(&s->line);
	return r;
}

static size_t line_length(struct span piece)
{
	const char *lf = memchr(piece.data, '\n', piece.len);
	size_t len = lf ? (size_t)(lf - piece.data) : piece.len;
	const char *cr = memchr(piece.data, '\r', len);

	return cr ? (size_t)(cr - piece.data) : len;
}

static int gather(struct stream *s, struct span piece)
{
	if (s->line.len + piece.len > STREAM_EVENT_MAX)
		return -EMSGSIZE;
	buf_span_add(&s->line, piece);
	return buf_check(&s->line, NULL);
}

static int feed_lines(struct stream *s, struct span piece, stream_event_fn *fn, void *arg)
{
	int r = 0;

	while (r == 0 && piece.len) {
		size_t n;

		if (s->skip_lf && piece.data[0] == '\n')
			piece = span_sub(piece, 1, piece.len);
		s->skip_lf = false;
		if (!piece.len)
			break;
		n = line_length(piece);
		r = gather(s, span_sub(piece, 0, n));
		if (r < 0 || n == piece.len)
			break;
		s->skip_lf = piece.data[n] == '\r';
		piece = span_sub(piece, n + 1, piece.len);
		r = take_line(s, fn, arg);
	}
	return r;
}

int stream_feed(struct stream *s, struct span piece, stream_event_fn *fn, void *arg)
{
	if (s->kind == STREAM_WHOLE)
		return keep(s, piece);
	return feed_lines(s, piece, fn, arg);
}

int stream_end(struct stream *s, stream_event_fn *fn, void *arg)
{
	int r = s->line.len ? take_line(s, fn, arg) : 0;

	return r ? r : dispatch(s, fn, arg);
}
