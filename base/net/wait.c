/*
 * Waiting for sockets: see wait.h.
 */
#include "base/net/wait.h"

#include "base/clock.h"

#include <errno.h>

static struct pollfd *find(struct http_wait *w, curl_socket_t socket)
{
	unsigned i;

	for (i = 0; i < w->count; i++) {
		if (w->list[i].fd == socket)
			return &w->list[i];
	}
	return NULL;
}

/* libcurl calls this when it begins or ends to wait for a socket, or waits for something else. */
static int on_socket(CURL *easy UNUSED, curl_socket_t socket, int what, void *arg, void *own UNUSED)
{
	struct http_wait *w = arg;
	struct pollfd *p = find(w, socket);

	if (what == CURL_POLL_REMOVE) {
		if (p)
			*p = w->list[--w->count];
		return 0;
	}
	if (!p && w->count == HTTP_WAIT_MAX) {
		w->is_full = true;
		return -1;
	}
	if (!p)
		p = &w->list[w->count++];
	*p = (struct pollfd){ .fd = socket };
	if (what & CURL_POLL_IN)
		p->events |= POLLIN;
	if (what & CURL_POLL_OUT)
		p->events |= POLLOUT;
	return 0;
}

static int on_timer(CURLM *multi UNUSED, long ms, void *arg)
{
	struct http_wait *w = arg;

	w->timer = ms < 0 ? 0 : clock_monotonic() + (uint64_t)ms * NSEC_PER_MSEC;
	return 0;
}

void http_wait_init(struct http_wait *w, CURLM *multi)
{
	*w = (struct http_wait){ 0 };
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, w);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, w);
}

void http_wait_end(CURLM *multi)
{
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, NULL);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, NULL);
}

static int wait_ms(const struct http_wait *w, int ms)
{
	uint64_t now = w->timer ? clock_monotonic() : 0;

	if (!w->timer)
		return ms;
	if (now >= w->timer)
		return 0;
	return (int)MIN((w->timer - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, (uint64_t)ms);
}

static int ready_bits(short revents)
{
	return (revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) |
	       (revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
	       (revents & (POLLERR | POLLNVAL) ? CURL_CSELECT_ERR : 0);
}

/* Tell libcurl what is ready. We copy the list, since libcurl changes it while it works. */
static CURLMcode work(struct http_wait *w, CURLM *multi, int *running)
{
	struct pollfd ready[HTTP_WAIT_MAX];
	unsigned count = 0;
	unsigned i;
	CURLMcode code = CURLM_OK;

	for (i = 0; i < w->count; i++) {
		if (w->list[i].revents)
			ready[count++] = w->list[i];
	}
	for (i = 0; code == CURLM_OK && i < count; i++) {
		if (find(w, ready[i].fd))
			code = curl_multi_socket_action(multi, ready[i].fd,
							ready_bits(ready[i].revents), running);
	}
	if (code == CURLM_OK && w->timer && clock_monotonic() >= w->timer) {
		w->timer = 0; /* libcurl sets the next time in this call */
		code = curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, running);
	}
	return code;
}

bool http_wait_step(struct http_wait *w, CURLM *multi, int other, int ms, int *running)
{
	struct pollfd *last = &w->list[w->count];
	bool works;

	*last = (struct pollfd){ .fd = other, .events = POLLIN };
	if (poll(w->list, w->count + 1, wait_ms(w, ms)) < 0)
		return errno == EINTR; /* a signal came */
	works = work(w, multi, running) == CURLM_OK && !w->is_full;
	w->is_full = false; /* this transfer has failed; the next one starts without sockets */
	return works;
}
