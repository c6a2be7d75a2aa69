/*
 * Streams: from pieces of any size to whole events. No knowledge of providers.
 */
#ifndef BASE_NET_STREAM_H
#define BASE_NET_STREAM_H

#include "base/buf.h"

#define STREAM_EVENT_MAX (32u << 20)
#define STREAM_ID_MAX    1024 /* bytes; longer ids do not count */
#define STREAM_RETRY_MS  1000 /* unless the server says so */
#define STREAM_RETRY_MAX 3600000

enum stream_kind {
	STREAM_SSE,    /* server-sent events: the joined `data` of each, and JSON without it */
	STREAM_NDJSON, /* a line each */
	STREAM_WHOLE,  /* no stream at all: everything is one event, at the end */
};

struct stream {
	enum stream_kind kind;
	struct buf line; /* not ended yet */
	struct buf data; /* of the event that is being read */
	struct buf id;   /* of server-sent events: the latest; empty: none */
	int retry_ms;    /* of server-sent events: how long to wait before asking for more */
	bool has_data;
	bool bare;     /* lines of JSON, as services write errors into a stream */
	bool skip_lf;  /* the last byte was CR: an LF after it belongs to it */
	bool at_start; /* nothing was read yet: a byte order mark may come */
};

void stream_init(struct stream *s, enum stream_kind kind);
void stream_release(struct stream *s);

/* Receives an event. Not 0: stop, the feeding function returns it. */
typedef int stream_event_fn(void *arg, struct span data);

/* Parse a piece. 0; -EMSGSIZE for an event over its limit; -ENOMEM; what fn returned. */
MUST_CHECK int stream_feed(struct stream *s, struct span piece, stream_event_fn *fn, void *arg);

/* The stream closed: hand on what is pending. */
MUST_CHECK int stream_end(struct stream *s, stream_event_fn *fn, void *arg);

#endif
