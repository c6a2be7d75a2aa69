/*
 * MCP over Streamable HTTP.
 */
#include "runner/mcp_link.h"

#include <errno.h>

bool mcp_is_token(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] <= 0x20 || (unsigned char)text.data[i] >= 0x7f ||
		    strchr("\"(),/:;<=>?@[\\]{}", text.data[i]))
			return false;
	}
	return text.len > 0;
}

static int http_open(const struct mcp_params *params, const char *folder UNUSED,
		     struct mcp_link **out UNUSED, struct err *err)
{
	return mcp_fail(params, err, -EPROTONOSUPPORT,
			"streamable HTTP is not supported by this version of adkfs");
}

const struct mcp_transport mcp_http = { .open = http_open };
