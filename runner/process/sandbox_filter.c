/*
 * The filter of system calls: see sandbox.h.
 *
 * The kernel's keyrings belong to a user, not to a sandbox, and outlive its programs.
 * Keyrings may hold keys of a login, and would lead from one session to another. So the
 * three system calls for keyrings are refused.
 */
#include "runner/process/sandbox.h"

#include <errno.h>
#include <seccomp.h>

static const int refused[] = { SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl) };

/* Machines whose kernels run programs of a second kind, which has numbers of its own for calls. */
static const struct {
	uint32_t machine;
	uint32_t second;
} kinds[] = {
	{ SCMP_ARCH_X86_64, SCMP_ARCH_X86 },           { SCMP_ARCH_X86_64, SCMP_ARCH_X32 },
	{ SCMP_ARCH_AARCH64, SCMP_ARCH_ARM },          { SCMP_ARCH_MIPS64, SCMP_ARCH_MIPS },
	{ SCMP_ARCH_MIPS64, SCMP_ARCH_MIPS64N32 },     { SCMP_ARCH_MIPSEL64, SCMP_ARCH_MIPSEL },
	{ SCMP_ARCH_MIPSEL64, SCMP_ARCH_MIPSEL64N32 }, { SCMP_ARCH_PPC64, SCMP_ARCH_PPC },
	{ SCMP_ARCH_S390X, SCMP_ARCH_S390 },           { SCMP_ARCH_PARISC64, SCMP_ARCH_PARISC },
};

static int add_rules(scmp_filter_ctx filter)
{
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && r == 0; i++) {
		if (kinds[i].machine == seccomp_arch_native())
			r = seccomp_arch_add(filter, kinds[i].second);
	}
	for (i = 0; i < ARRAY_SIZE(refused) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	return r;
}

int sandbox_write_filter(int fd)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!filter)
		return -ENOMEM;
	r = add_rules(filter);
	if (r == 0)
		r = seccomp_export_bpf(filter, fd);
	seccomp_release(filter);
	return r;
}
