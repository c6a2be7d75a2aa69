/*
 * URLs: see url.h.
 */
#include "base/net/url.h"

#include <curl/curl.h>
#include <errno.h>
#include <strings.h>

static int url_errno(CURLUcode code)
{
	switch (code) {
	case CURLUE_OK:
		return 0;
	case CURLUE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLUE_BAD_PORT_NUMBER:
		return -ERANGE;
	default:
		return -EINVAL;
	}
}

int url_parse(const char *text, struct url *out)
{
	CURLU *parts = curl_url();
	struct url url = { 0 };
	CURLUcode code = CURLUE_OUT_OF_MEMORY;

	if (parts)
		code = curl_url_set(parts, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_HOST, &url.host, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_PATH, &url.path, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_PORT, &url.port, 0);
	if (code == CURLUE_NO_PORT)
		code = CURLUE_OK;
	curl_url_cleanup(parts);
	if (code == CURLUE_OK)
		*out = url;
	else
		url_release(&url);
	return url_errno(code);
}

void url_release(struct url *url)
{
	curl_free(url->host);
	curl_free(url->port);
	curl_free(url->path);
	*url = (struct url){ 0 };
}

bool url_has_scheme(const char *text, const char *scheme)
{
	size_t n = strlen(scheme);

	return strncasecmp(text, scheme, n) == 0 && strncmp(text + n, "://", 3) == 0;
}

struct span url_userinfo(const char *text)
{
	const char *from = strstr(text, "://");
	const char *at = from ? memrchr(from + 3, '@', strcspn(from + 3, "/?#")) : NULL;

	return at ? (struct span){ from + 3, (size_t)(at - from - 3) } : (struct span){ 0 };
}
