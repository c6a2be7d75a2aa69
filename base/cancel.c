/*
 * Cancelling: see cancel.h.
 */
#include "base/cancel.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int cancel_init(struct cancel *c, struct err *err)
{
	c->fired = false;
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->fd < 0 ? err_errno(err, -errno, "making an eventfd") : 0;
}

void cancel_release(struct cancel *c)
{
	(void)close(c->fd);
}

void cancel_fire(struct cancel *c)
{
	if (!atomic_exchange(&c->fired, true))
		(void)eventfd_write(c->fd, 1); /* cannot fail: the counter starts at 0 */
}

bool cancel_fired(const struct cancel *c)
{
	return atomic_load(&c->fired);
}

int cancel_wait(const struct cancel *c, unsigned ms, struct err *err)
{
	uint64_t until = clock_monotonic() + (uint64_t)ms * NSEC_PER_MSEC;
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	uint64_t now;

	while (!cancel_fired(c) && ms && (now = clock_monotonic()) < until)
		(void)poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
	return cancel_fired(c) ? err_set(err, -ECANCELED, "cancelled") : 0;
}
