/*
 * Parameters of MCP servers: see params.h. Each table of fields follows the
 * functions that read its fields.
 */
#include "runner/mcp/params.h"

#include "base/net/http.h"
#include "base/net/secrets.h"
#include "base/net/url.h"
#include "runner/mcp/link.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define SECONDS_MAX   86400
#define MASK          "***"
#define SHORTEST      4 /* bytes of a secret; shorter texts are found everywhere */
#define NO_CREDENTIAL "is not supported: put credentials into `headers` or `env`"

struct reading {
	const struct yaml_tree *tree;
	struct mcp_params *params;
	struct err *err;
};

/* A member of a mapping. A field with a refusal is known but not supported. */
struct field {
	const char *name;
	int (*read)(const struct reading *rd, const char *path, const json_t *value);
	const char *refusal;
};

/* The path of a member. A path that is cut only makes errors less exact. */
struct path {
	char text[YAML_TREE_PATH_MAX];
};

static struct path path_of(const char *parent, const char *member)
{
	struct path path;

	(void)snprintf(path.text, sizeof path.text, "%.150s.%.100s", parent, member);
	return path;
}

static const struct field *find_field(const struct field *fields, const char *name)
{
	for (; fields->name; fields++) {
		if (!strcmp(fields->name, name))
			return fields;
	}
	return NULL;
}

static int read_field(const struct reading *rd, const char *path, const struct field *f,
		      const json_t *value)
{
	if (!f)
		return yaml_tree_fail(rd->tree, rd->err, path, "unknown field");
	if (json_is_null(value) || (f->refusal && json_is_false(value)))
		return 0;
	if (f->refusal)
		return yaml_tree_fail(rd->tree, rd->err, path, "%s", f->refusal);
	return f->read(rd, path, value);
}

static int read_fields(const struct reading *rd, const char *path, const json_t *object,
		       const struct field *fields)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be a mapping");
	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)object, key, value)
	{
		struct path at = path_of(path, key);
		int r = read_field(rd, at.text, find_field(fields, key), value);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Values */

static int read_text(const struct reading *rd, const char *path, const json_t *value,
		     const char **out)
{
	if (!json_is_string(value) || !json_string_length(value))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be a text");
	*out = json_string_value(value);
	return 0;
}

static int read_seconds(const struct reading *rd, const char *path, const json_t *value,
			double *out)
{
	double seconds = json_number_value(value);

	if (!json_is_number(value) || !(seconds >= 0) || seconds > SECONDS_MAX)
		return yaml_tree_fail(rd->tree, rd->err, path,
				      "must be a number of seconds from 0 to %d", SECONDS_MAX);
	*out = seconds;
	return 0;
}

/* A time limit of at least a millisecond. */
static int read_limit(const struct reading *rd, const char *path, const json_t *value,
		      unsigned *out)
{
	double seconds = 0;
	int r = read_seconds(rd, path, value, &seconds);

	if (r < 0)
		return r;
	*out = (unsigned)ceil(seconds * 1000);
	return *out ? 0 : yaml_tree_fail(rd->tree, rd->err, path, "must be more than 0");
}

static int check_texts(const struct reading *rd, const char *path, const json_t *list)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be a list of texts");
	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			return yaml_tree_fail(rd->tree, rd->err, path, "must be a list of texts");
	}
	return 0;
}

/* Check a mapping of names to texts. check() returns NULL, or a reason against a member. */
static int check_map(const struct reading *rd, const char *path, const json_t *map,
		     const char *(*check)(const char *name, const char *value))
{
	const char *key;
	json_t *value;

	if (!json_is_object(map))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be a mapping");
	json_object_foreach((json_t *)map, key, value)
	{
		struct path at = path_of(path, key);
		const char *reason = json_is_string(value) ? check(key, json_string_value(value))
							   : "must be a text";

		if (reason)
			return yaml_tree_fail(rd->tree, rd->err, at.text, "%s", reason);
	}
	return 0;
}

static int use_transport(const struct reading *rd, const char *path,
			 enum mcp_transport_kind transport)
{
	if (rd->params->transport)
		return yaml_tree_fail(rd->tree, rd->err, path,
				      "is a second connection, but an entry has only one");
	rd->params->transport = transport;
	return 0;
}

/* Programs */

static int read_command(const struct reading *rd, const char *path, const json_t *value)
{
	const char *command;
	int r = read_text(rd, path, value, &rd->params->command);

	if (r < 0)
		return r;
	command = rd->params->command;
	if (command[0] != '/' && (strstr(command, "/../") || !strncmp(command, "../", 3)))
		return yaml_tree_fail(rd->tree, rd->err, path, "leaves the agent's folder");
	return 0;
}

static int read_args(const struct reading *rd, const char *path, const json_t *value)
{
	int r = check_texts(rd, path, value);
	size_t i;

	if (r < 0)
		return r;
	rd->params->argv = calloc(json_array_size(value) + 2, sizeof *rd->params->argv);
	if (!rd->params->argv)
		return err_nomem(rd->err);
	for (i = 0; i < json_array_size(value); i++)
		rd->params->argv[i + 1] = json_string_value(json_array_get(value, i));
	return 0;
}

static const char *check_variable(const char *name, const char *value UNUSED)
{
	if (!*name || strchr(name, '='))
		return "is not a valid variable name";
	return NULL;
}

static int read_env(const struct reading *rd, const char *path, const json_t *value)
{
	rd->params->env = value;
	return check_map(rd, path, value, check_variable);
}

static int read_cwd(const struct reading *rd, const char *path, const json_t *value)
{
	return read_text(rd, path, value, &rd->params->cwd);
}

static const struct field program_fields[] = {
	{ "command", read_command, NULL },
	{ "args", read_args, NULL },
	{ "env", read_env, NULL },
	{ "cwd", read_cwd, NULL },
	{ 0 },
};

/* Make the label: the command, then its first argument if that looks like a script or package. */
static void make_program_label(struct mcp_params *params)
{
	const char *script = params->argv[1];
	const char *c;

	for (c = script; c && *c && (isalnum((unsigned char)*c) || strchr("@/._-", *c)); c++)
		;
	if (!script || *script == '-' || *c)
		script = "";
	(void)snprintf(params->label, sizeof params->label, "%.40s%s%.50s", params->command,
		       *script ? " " : "", script);
}

static int read_program(const struct reading *rd, const char *path, const json_t *value)
{
	struct mcp_params *params = rd->params;
	int r = use_transport(rd, path, MCP_TRANSPORT_STDIO);

	if (r == 0)
		r = read_fields(rd, path, value, program_fields);
	if (r < 0)
		return r;
	if (!params->command)
		return yaml_tree_fail(rd->tree, rd->err, path, "needs a command");
	if (!params->argv)
		params->argv = calloc(2, sizeof *params->argv);
	if (!params->argv)
		return err_nomem(rd->err);
	params->argv[0] = params->command;
	make_program_label(params);
	return 0;
}

static int read_timeout(const struct reading *rd, const char *path, const json_t *value)
{
	return read_limit(rd, path, value, &rd->params->timeout_ms);
}

static const struct field stdio_fields[] = {
	{ "server_params", read_program, NULL },
	{ "timeout", read_timeout, NULL },
	{ 0 },
};

static int read_stdio(const struct reading *rd, const char *path, const json_t *value)
{
	int r = read_fields(rd, path, value, stdio_fields);

	if (r == 0 && !rd->params->command)
		return yaml_tree_fail(rd->tree, rd->err, path, "needs server_params");
	return r;
}

/* Services */

static int read_url(const struct reading *rd, const char *path, const json_t *value)
{
	struct mcp_params *params = rd->params;
	CLEANUP(url_release) struct url url = { 0 };
	int r = read_text(rd, path, value, &params->url);

	if (r < 0)
		return r;
	if (!url_has_scheme(params->url, "http") && !url_has_scheme(params->url, "https"))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be an http or https address");
	if (url_userinfo(params->url).data)
		return yaml_tree_fail(rd->tree, rd->err, path,
				      "contains credentials, which belong in `headers`");
	r = url_parse(params->url, &url);
	if (r == -ENOMEM)
		return err_nomem(rd->err);
	if (r < 0)
		return yaml_tree_fail(rd->tree, rd->err, path, "is not a valid address");
	(void)snprintf(params->label, sizeof params->label, "%.*s",
		       (int)MIN(strcspn(params->url, "?#"), sizeof params->label - 1), params->url);
	return 0;
}

/* Headers that adkfs sets in each request. */
static const char *const own_headers[] = {
	"Accept",     "Content-Type",  "Content-Length", "Host",           "Transfer-Encoding",
	"Mcp-Method", "Last-Event-ID", "Mcp-Name",       "Mcp-Session-Id", "MCP-Protocol-Version",
};

static const char *check_header(const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own_headers); i++) {
		if (!strcasecmp(own_headers[i], name))
			return "is set by adkfs";
	}
	if (!http_is_token(span_of(name)))
		return "is not a valid header name";
	for (; *value; value++) {
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return "must not contain control characters";
	}
	return NULL;
}

static int read_headers(const struct reading *rd, const char *path, const json_t *value)
{
	int r = check_map(rd, path, value, check_header);

	if (r == 0 && json_object_size(value) > MCP_HEADERS_MAX)
		return yaml_tree_fail(rd->tree, rd->err, path, "has more than %d headers",
				      MCP_HEADERS_MAX);
	rd->params->headers = value;
	return r;
}

static int read_silence(const struct reading *rd, const char *path, const json_t *value)
{
	return read_limit(rd, path, value, &rd->params->silence_ms);
}

static int read_terminate(const struct reading *rd, const char *path, const json_t *value)
{
	if (!json_is_boolean(value))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be true or false");
	rd->params->terminate = json_is_true(value);
	return 0;
}

static const struct field http_fields[] = {
	{ "url", read_url, NULL },
	{ "headers", read_headers, NULL },
	{ "timeout", read_timeout, NULL },
	{ "sse_read_timeout", read_silence, NULL },
	{ "terminate_on_close", read_terminate, NULL },
	{ 0 },
};

static int read_http(const struct reading *rd, const char *path, const json_t *value)
{
	int r = use_transport(rd, path, MCP_TRANSPORT_HTTP);

	if (r == 0)
		r = read_fields(rd, path, value, http_fields);
	if (r == 0 && !rd->params->url)
		return yaml_tree_fail(rd->tree, rd->err, path, "needs a url");
	return r;
}

/* Tools */

static int read_filter(const struct reading *rd, const char *path, const json_t *value)
{
	rd->params->filter = value;
	return check_texts(rd, path, value);
}

static int read_prefix(const struct reading *rd, const char *path, const json_t *value)
{
	const char *c;

	if (!json_is_string(value))
		return yaml_tree_fail(rd->tree, rd->err, path, "must be a text");
	rd->params->prefix = json_string_value(value);
	for (c = rd->params->prefix; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			break;
	}
	if (*c || strlen(rd->params->prefix) > MCP_NAME_MAX / 2)
		return yaml_tree_fail(rd->tree, rd->err, path,
				      "must be at most %d letters, digits, _ and -",
				      MCP_NAME_MAX / 2);
	return 0;
}

static int read_ttl(const struct reading *rd, const char *path, const json_t *value)
{
	double seconds = 0;
	int r = read_seconds(rd, path, value, &seconds);

	rd->params->ttl_ms = (int64_t)(seconds * 1000);
	return r;
}

static const struct field entry_fields[] = {
	{ "stdio_server_params", read_program, NULL },
	{ "stdio_connection_params", read_stdio, NULL },
	{ "streamable_http_connection_params", read_http, NULL },
	{ "sse_connection_params", NULL,
	  "is the transport of 2024, which is not supported: use "
	  "streamable_http_connection_params" },
	{ "tool_filter", read_filter, NULL },
	{ "tool_name_prefix", read_prefix, NULL },
	{ "tool_list_cache_ttl_seconds", read_ttl, NULL },
	{ "use_mcp_resources", NULL, "is not supported: only tools are used" },
	{ "auth_scheme", NULL, NO_CREDENTIAL },
	{ "auth_credential", NULL, NO_CREDENTIAL },
	{ "credential_key", NULL, NO_CREDENTIAL },
	{ 0 },
};

/* The whole */

int mcp_params_read(const struct yaml_tree *tree, const char *path, const json_t *args,
		    struct mcp_params **out, struct err *err)
{
	CLEANUP(mcp_params_free_p) struct mcp_params *params = calloc(1, sizeof *params);
	struct reading rd = { tree, params, err };
	int r;

	if (!params)
		return err_nomem(err);
	params->terminate = true;
	params->silence_ms = MCP_HTTP_SILENCE_MS;
	params->ttl_ms = -1;
	params->grace_ms = MCP_CLOSE_GRACE_MS;
	params->prefix = "";
	params->args = args ? json_deep_copy(args) : json_object();
	if (!params->args)
		return err_nomem(err);
	r = read_fields(&rd, path, params->args, entry_fields);
	if (r < 0)
		return r;
	if (!params->transport)
		return yaml_tree_fail(tree, err, path,
				      "needs a connection, such as stdio_server_params");
	*out = STEAL(&params);
	return 0;
}

void mcp_params_free(struct mcp_params *params)
{
	if (!params)
		return;
	json_decref(params->args);
	free(params->argv);
	free(params);
}

/* Secrets */

static bool is_secret_map(const char *key)
{
	return !strcmp(key, "env") || !strcmp(key, "headers");
}

static int mask_values(json_t *map)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(map, next, key, value)
	{
		if (json_object_set_new(map, key, json_string(MASK)))
			return -ENOMEM;
	}
	return 0;
}

static int mask_maps(json_t *object)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach(object, key, value)
	{
		r = is_secret_map(key) ? mask_values(value) : mask_maps(value);
		if (r < 0)
			break;
	}
	return r;
}

json_t *mcp_params_show(const struct mcp_params *params)
{
	json_auto_t *copy = json_deep_copy(params->args);

	if (!copy || mask_maps(copy) < 0)
		return NULL;
	return STEAL(&copy);
}

static void mask_all(struct buf *text, const json_t *map)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)map, key, value)
	{
		struct secrets secrets = { .shortest = SHORTEST, .mask = MASK };

		secrets_add_header(&secrets, span_of(json_string_value(value)));
		secrets_mask(&secrets, text);
	}
}

int mcp_fail(const struct mcp_params *params, struct err *err, int code, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	char plain[1024];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(plain, sizeof plain, fmt, args);
	va_end(args);
	buf_text(&text, plain);
	mask_all(&text, params->env);
	mask_all(&text, params->headers);
	if (!buf_cstr(&text))
		return err_nomem(err);
	return err_set(err, code, "MCP server %s: %s", params->label, text.data);
}
