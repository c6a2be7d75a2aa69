/*
 * The filter of system calls: see sandbox.h.
 *
 * The kernel's keyrings are nobody's in particular: they belong to a user, whatever the
 * sandbox, and outlive its programs. They may hold what a log-in left there, and would be a
 * way from one session to another. So the three calls about them are refused.
 */
#include "runner/process/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

/* add_key, request_key and keyctl have numbers in a row; in a 32-bit program others. */
#if defined(__x86_64__)
#define NATIVE      AUDIT_ARCH_X86_64
#define SMALL       AUDIT_ARCH_I386
#define SMALL_FIRST 286
#elif defined(__aarch64__)
#define NATIVE      AUDIT_ARCH_AARCH64
#define SMALL       AUDIT_ARCH_ARM
#define SMALL_FIRST 309
#else
#define NATIVE      0 /* nothing is refused */
#define SMALL       0
#define SMALL_FIRST 0
#endif
#define FIRST   SYS_add_key
#define NOT_X32 (~0x40000000u) /* the bit of x86's programs with short pointers */

_Static_assert(SYS_request_key == FIRST + 1 && SYS_keyctl == FIRST + 2, "numbers in a row");

#define LOAD(member)           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF_EQUAL(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define IF_GREATER(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, k, yes, no)
#define IF_LEAST(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, k, yes, no)

static const struct sock_filter filter[] = {
	LOAD(arch),
	IF_EQUAL(NATIVE, 0, 4),
	LOAD(nr),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, NOT_X32),
	IF_LEAST(FIRST, 0, 5),
	IF_GREATER(FIRST + 2, 4, 5),
	IF_EQUAL(SMALL, 0, 3),
	LOAD(nr),
	IF_LEAST(SMALL_FIRST, 0, 1),
	IF_GREATER(SMALL_FIRST + 2, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

struct span sandbox_filter(void)
{
	return (struct span){ (const char *)filter, sizeof filter };
}
