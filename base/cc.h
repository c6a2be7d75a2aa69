/*
 * Attributes and macros: what the compiler can check or do for us.
 *
 * CLEANUP(fn) calls fn on a variable when its scope ends. STEAL moves the value
 * of a pointer out and leaves NULL, so that its cleanup does nothing. clang
 * checks the annotations of threads (-Wthread-safety); gcc ignores them.
 */
#ifndef BASE_CC_H
#define BASE_CC_H

#include <stddef.h>

#define CLEANUP(fn)  __attribute__((cleanup(fn)))
#define MUST_CHECK   __attribute__((warn_unused_result))
#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#define UNUSED       __attribute__((unused))

/* Define fn##_p() for CLEANUP, which calls fn, a destructor that accepts NULL. */
#define DEFINE_CLEANUP(type, fn)                                                                   \
	static inline void fn##_p(type **p)                                                        \
	{                                                                                          \
		fn(*p);                                                                            \
	}                                                                                          \
	struct cc_needs_semicolon

/* The value of *pp for its new owner. *pp becomes NULL, so that its CLEANUP does nothing. */
#define STEAL(pp)                                                                                  \
	__extension__({                                                                            \
		__typeof__(*(pp)) stolen_ = *(pp);                                                 \
		*(pp) = (void *)0;                                                                 \
		stolen_;                                                                           \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The struct of TYPE that embeds *ptr as its member. */
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#ifdef __clang__
#define THREAD_ANNOTATION(x) __attribute__((x))
#else
#define THREAD_ANNOTATION(x)
#endif

#define CAPABILITY THREAD_ANNOTATION(capability("mutex"))
/*
 * A member of a struct can name its lock only if the compiler parses attributes
 * late. Otherwise GUARDED_BY is a comment, and REQUIRES does the checking.
 */
#ifdef ADKFS_LATE_PARSED_ATTRIBUTES
#define GUARDED_BY(m) THREAD_ANNOTATION(guarded_by(m))
#else
#define GUARDED_BY(m)
#endif
#define REQUIRES(...)      THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...)       THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...)       THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define NO_THREAD_ANALYSIS THREAD_ANNOTATION(no_thread_safety_analysis)

#endif
