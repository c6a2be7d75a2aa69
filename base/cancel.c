/*
 * Cancelling: see cancel.h.
 */
#include "base/cancel.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int cancel_init(struct cancel *c, struct err *err)
{
	c->fired = false;
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->fd < 0 ? err_errno(err, -errno, "eventfd") : 0;
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
