/*
 * Streams: turn the pieces of an answer, which have any size, into whole events.
 */
#ifndef BASE_NET_STREAM_H
#define BASE_NET_STREAM_H

#include "base/buf.h"

#define STREAM_EVENT_MAX (32u << 20)
#define STREAM_ID_MAX    1024 /* bytes; a longer id is ignored */
#define STREAM_RETRY_MS  1000 /* unless the server sets another time */
#define STREAM_RETRY_MAX 3600000

enum stream_kind {
	STREAM_SSE, /* server-sent events: the joined `data` of each; JSON lines without `data` too
		     */
	STREAM_NDJSON, /* each line is an event */
	STREAM_WHOLE,  /* the whole answer is one event */
};

struct stream {
	enum stream_kind kind;
	struct buf line; /* the line that has not ended yet */
	struct buf data; /* the event that has not ended yet */
	struct buf id;   /* the latest id of server-sent events; empty: none */
	int retry_ms;    /* how long to wait before asking for more server-sent events */
	bool has_data;
	bool bare;     /* the event is lines of JSON, as services write errors into a stream */
	bool skip_lf;  /* the last byte was CR: an LF after it belongs to it */
	bool at_start; /* no line was read yet: a byte order mark may come */
};

void stream_init(struct stream *s, enum stream_kind kind);
void stream_release(struct stream *s);

/* Receives an event. A value other than 0 stops the stream, and the caller gets it. */
typedef int stream_event_fn(void *arg, struct span data);

/* Parse a piece, and call fn for each event. -EMSGSIZE: over STREAM_EVENT_MAX; -ENOMEM; what fn
 * returned. */
MUST_CHECK int stream_feed(struct stream *s, struct span piece, stream_event_fn *fn, void *arg);

/* The stream has closed: hand on a pending event. Returns as stream_feed(). */
MUST_CHECK int stream_end(struct stream *s, stream_event_fn *fn, void *arg);

#endif
