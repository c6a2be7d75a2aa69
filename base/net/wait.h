/*
 * Waiting for the sockets of a transfer and for its cancellation.
 *
 * libcurl says which sockets it waits for and until when. We poll these sockets
 * beside the caller's descriptor and tell libcurl which are ready. That is one
 * poll(2) for each piece of an answer; libcurl's own loop makes three.
 */
#ifndef BASE_NET_WAIT_H
#define BASE_NET_WAIT_H

#include "base/cc.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_WAIT_MAX 16 /* sockets: a connection may be tried over several addresses */

/* The sockets of one multi handle, which keeps a pointer to this struct. */
struct http_wait {
	struct pollfd list[HTTP_WAIT_MAX + 1]; /* the last place is the caller's */
	unsigned count;
	uint64_t timer; /* monotonic ns, when libcurl must be called in any case; 0: never */
	bool is_full;   /* libcurl wanted to wait for more sockets than there are places */
};

/* Let libcurl report its sockets and its timer to *w. */
void http_wait_init(struct http_wait *w, CURLM *multi);

/* Call this before the multi handle is freed. */
void http_wait_end(CURLM *multi);

/*
 * Wait until a socket is ready, the descriptor `other` is readable, or ms have passed; then let
 * libcurl work. *running is the number of transfers that are not done. False: libcurl failed.
 */
bool http_wait_step(struct http_wait *w, CURLM *multi, int other, int ms, int *running);

#endif
