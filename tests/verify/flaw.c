/*
 * flaw: a library to load before a program, which then has a file system with a flaw.
 *
 *	FLAW=KIND:N LD_PRELOAD=libflaw.so fsverify FILE
 *
 * Every Nth call of the kind goes wrong, and looks as if it had not:
 *
 *	flip	one bit of what is written is another
 *	lose	a write does not happen
 *	stale	a file that is cut and grows again has its old byte there
 *	close	the last byte is cut off when a file is closed
 *
 * It proves that the verifiers find what they are there for.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether this call of the kind is the one to go wrong. */
static bool is_due(const char *kind)
{
	static unsigned long calls;
	const char *flaw = getenv("FLAW");
	size_t len = strlen(kind);

	if (!flaw || strncmp(flaw, kind, len) != 0 || flaw[len] != ':')
		return false;
	return ++calls % strtoul(flaw + len + 1, NULL, 10) == 0;
}

/* The function that is ours to spoil. */
static void *genuine(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) = genuine("pwrite");
	unsigned char *copy;
	ssize_t n;

	if (len > 0 && is_due("lose"))
		return (ssize_t)len;
	if (!len || !is_due("flip") || !(copy = malloc(len)))
		return real(fd, data, len, at);
	memcpy(copy, data, len);
	copy[len / 2] ^= 4;
	n = real(fd, copy, len, at);
	free(copy);
	return n;
}

int ftruncate(int fd, off_t size)
{
	int (*real)(int, off_t) = genuine("ftruncate");
	struct stat st;
	bool grows = fstat(fd, &st) == 0 && st.st_size < size;
	int r = real(fd, size);

	if (r == 0 && grows && !(fcntl(fd, F_GETFL) & O_APPEND) && is_due("stale"))
		(void)!pwrite(fd, "\xff", 1, st.st_size);
	return r;
}

int close(int fd)
{
	int (*real)(int) = genuine("close");
	struct stat st;

	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_size > 0 && is_due("close"))
		(void)!ftruncate(fd, st.st_size - 1);
	return real(fd);
}
