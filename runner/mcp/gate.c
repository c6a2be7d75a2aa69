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

static uint64_t count_failures(struct mcp_gate *gate)
{
	uint64_t n;

	mutex_lock(&gate->lock);
	n = gate->failures;
	mutex_unlock(&gate->lock);
	return n;
}

static int gate_enter(struct mcp_gate *gate, struct cancel *cancel, struct err *err)
{
	struct pollfd polls[] = { { .fd = gate->fd, .events = POLLIN },
				  { .fd = cancel->fd, .events = POLLIN } };
	eventfd_t one;

	for (;;) {
		if (cancel_fired(cancel))
			return err_set(err, -ECANCELED, "cancelled");
		if (eventfd_read(gate->fd, &one) == 0)
			return 0;
		(void)poll(polls, ARRAY_SIZE(polls),
			   -1); /* the loop checks both, even after an error */
	}
}

/* The failure of another caller after the first n failures. 0: no other caller failed. */
static int gate_outcome(struct mcp_gate *gate, uint64_t n, struct err *err)
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

/* Keep a failure for the callers that wait. */
static void gate_note(struct mcp_gate *gate, int r, const struct err *reason)
{
	if (r == 0 || r == -ECANCELED || r == -ESTALE)
		return;
	mutex_lock(&gate->lock);
	gate->failures++;
	gate->failure = r;
	gate->reason = *reason;
	mutex_unlock(&gate->lock);
}

int mcp_gate_once(struct mcp_gate *gate, struct cancel *cancel, mcp_gate_find_fn *find,
		  mcp_gate_make_fn *make, void *arg, struct err *err)
{
	uint64_t failures = count_failures(gate);
	struct err reason = { 0 };
	int r;

	if (find(arg))
		return 0;
	r = gate_enter(gate, cancel, err);
	if (r < 0)
		return r;
	if (!find(arg)) {
		r = gate_outcome(gate, failures, &reason);
		if (r == 0) {
			r = make(arg, cancel, &reason);
			gate_note(gate, r, &reason);
		}
	}
	(void)eventfd_write(gate->fd, 1); /* cannot fail, since the eventfd holds 0 */
	if (r < 0 && err)
		*err = reason;
	return r;
}
