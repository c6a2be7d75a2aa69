/*
 * URLs, taken apart by libcurl, so that we read them as the requests do.
 */
#ifndef BASE_NET_URL_H
#define BASE_NET_URL_H

#include "base/buf.h"

/* The parts of a URL. */
struct url {
	char *host; /* without user and port; an IPv6 address has its brackets */
	char *port; /* NULL: the URL has no port */
	char *path; /* begins with '/' */
};

/*
 * Take a URL apart; the caller releases *out. -EINVAL: not a URL with a scheme and a host, or it
 * holds a space or a control character; -ERANGE: the port is not a number from 0 to 65535; -ENOMEM.
 */
MUST_CHECK int url_parse(const char *text, struct url *out);
void url_release(struct url *url);

/* Whether a text begins with SCHEME://, in any case of letters. */
bool url_has_scheme(const char *text, const char *scheme);

/*
 * Find "USER:PASSWORD" between :// and the last '@' before the path; data NULL: there is no '@'.
 * The text need not be a valid URL, so that a password can be hidden in any text.
 */
struct span url_userinfo(const char *text);

#endif
