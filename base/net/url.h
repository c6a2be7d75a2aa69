/*
 * URLs, taken apart by libcurl, which also follows them.
 */
#ifndef BASE_NET_URL_H
#define BASE_NET_URL_H

#include "base/buf.h"

/* Parts of a URL as texts of their own. */
struct url {
	char *host; /* without user and port; an IPv6 address has its brackets */
	char *port; /* NULL: none is written */
	char *path; /* begins with '/' */
};

/*
 * Take a URL apart. -EINVAL: not a URL with scheme and host, or a space or a control character
 * in it; -ERANGE: the port is not a number from 0 to 65535; -ENOMEM. To be released on success.
 */
MUST_CHECK int url_parse(const char *text, struct url *out);
void url_release(struct url *url);

/* Whether a text begins with SCHEME://, in any case of letters. */
bool url_has_scheme(const char *text, const char *scheme);

/*
 * The user and the password that a text has between :// and the last '@' before the path; data
 * NULL: no '@' there. Texts that are not valid URLs have them too, so that what looks like a
 * password can be hidden in any text.
 */
struct span url_userinfo(const char *text);

#endif
