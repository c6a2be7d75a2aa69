/*
 * Gates: see gate.h.
 */
#include "runner/mcp/gate.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mcp_gate_init(struct mcp_gate *gate)
{
	*gate = (struct mcp_gate){ .fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE) };
	if (gate->fd < 0)
		return -errno;
	mutex_init(&gate->lock);
	return 0;
}

void mcp_gate_release(struct mcp_gate *gate)
{
	mutex_release(&gate->lock);
	(void)close(gate->fd);
}

uint64_t mcp_gate_failures(struct mcp_gate *gate)
{
	uint64_t n;

	mutex_lock(&gate->lock);
	n = gate->failures;
	mutex_unlock(&gate->lock);
	return n;
}

int mcp_gate_enter(struct mcp_gate *gate, struct cancel *cancel, struct err *err)
{
	struct pollfd polls[] = { { .fd = gate->fd, .events = POLLIN },
				  { .fd = cancel->fd, .events = POLLIN } };
	eventfd_t one;

	for (;;) {
		if (cancel_fired(cancel))
			return err_set(err, -ECANCELED, "cancelled");
		if (eventfd_read(gate->fd, &one) == 0)
			return 0;
		(void)poll(polls, ARRAY_SIZE(polls), -1); /* however it ends, we look */
	}
}

int mcp_gate_outcome(struct mcp_gate *gate, uint64_t n, struct err *err)
{
	int r = 0;

	mutex_lock(&gate->lock);
	if (gate->failures != n) {
		r = gate->failure;
		*err = gate->reason;
	}
	mutex_unlock(&gate->lock);
	return r;
}

void mcp_gate_fail(struct mcp_gate *gate, int r, const struct err *reason)
{
	if (r == -ECANCELED || r == -ESTALE)
		return;
	mutex_lock(&gate->lock);
	gate->failures++;
	gate->failure = r;
	gate->reason = *reason;
	mutex_unlock(&gate->lock);
}

void mcp_gate_leave(struct mcp_gate *gate)
{
	(void)eventfd_write(gate->fd, 1); /* it holds 0: this cannot fail */
}
