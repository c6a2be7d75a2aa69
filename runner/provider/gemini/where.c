/*
 * The address and the headers of a request for Gemini, by the rules of Google's SDKs.
 *
 *	Gemini API   BASE/VERSION/models/NAME
 *	Vertex AI    BASE/VERSION/projects/P/locations/L/publishers/google/models/NAME
 *	with a key   BASE/VERSION/publishers/google/models/NAME
 */
#include "runner/provider/gemini/gemini.h"

#include "base/net/http.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/key.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#define GEMINI_BASE  "https://generativelanguage.googleapis.com"
#define METHOD       ":streamGenerateContent?alt=sse"
#define LOCATION_MAX 63
#define FULL_NAME    "projects/" /* begins a name that holds project and location */

#define SETTING_GOOGLE_KEY     "GOOGLE_API_KEY"
#define SETTING_GEMINI_KEY     "GEMINI_API_KEY"
#define SETTING_GEMINI_BASE    "GOOGLE_GEMINI_BASE_URL"
#define SETTING_VERTEX_BASE    "GOOGLE_VERTEX_BASE_URL"
#define SETTING_VERSION        "GOOGLE_GENAI_API_VERSION"
#define SETTING_USE_ENTERPRISE "GOOGLE_GENAI_USE_ENTERPRISE"
#define SETTING_USE_VERTEX     "GOOGLE_GENAI_USE_VERTEXAI"
#define SETTING_PROJECT        "GOOGLE_CLOUD_PROJECT"
#define SETTING_LOCATION       "GOOGLE_CLOUD_LOCATION"
#define SETTING_TOKEN          "CLOUDSDK_AUTH_ACCESS_TOKEN"

const struct model_name_rule gemini_names = { "gemini", ".:", 128 };

/* If both keys are set, the first one is sent, as in Google's SDKs. */
const struct model_setting gemini_settings[] = {
	{ SETTING_GOOGLE_KEY, MODEL_KEY },
	{ SETTING_GEMINI_KEY, MODEL_KEY },
	{ SETTING_GEMINI_BASE, MODEL_PLAIN },
	{ SETTING_VERSION, MODEL_PLAIN },
	{ SETTING_USE_ENTERPRISE, MODEL_PLAIN },
	{ SETTING_USE_VERTEX, MODEL_PLAIN },
	{ 0 },
};

const struct model_setting vertex_settings[] = {
	{ SETTING_TOKEN, MODEL_KEY },      { SETTING_GOOGLE_KEY, MODEL_KEY },
	{ SETTING_GEMINI_KEY, MODEL_KEY }, { SETTING_PROJECT, MODEL_PLAIN },
	{ SETTING_LOCATION, MODEL_PLAIN }, { SETTING_VERTEX_BASE, MODEL_PLAIN },
	{ SETTING_VERSION, MODEL_PLAIN },  { 0 },
};

const struct model_alias gemini_aliases[] = { { "base_url", SETTING_GEMINI_BASE },
					      { "api_version", SETTING_VERSION },
					      { 0 } };

const struct model_alias vertex_aliases[] = {
	{ "access_token", SETTING_TOKEN },  { "project", SETTING_PROJECT },
	{ "location", SETTING_LOCATION },   { "base_url", SETTING_VERTEX_BASE },
	{ "api_version", SETTING_VERSION }, { 0 }
};

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_true(const char *value)
{
	return strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

bool gemini_wants_vertex(const struct question *q)
{
	const char *flag = settings_get(q->settings, SETTING_USE_ENTERPRISE);

	if (!flag)
		flag = settings_get(q->settings, SETTING_USE_VERTEX);
	return (flag && is_true(flag)) || begins(q->name, FULL_NAME);
}

/* The name becomes part of the address. */
static int check_name(const struct gemini_encoder *e)
{
	const char *name = e->q->name;
	const char *p = name;

	while (isalnum((unsigned char)*p) || (*p && strchr("-._@/", *p)))
		p++;
	if (!*p && *name != '/' && !strstr(name, "..") && !strstr(name, "//"))
		return 0;
	return err_set(e->err, -EINVAL,
		       "the model name '%.80s' may contain only a-z A-Z 0-9 - . _ @ and single "
		       "slashes between them",
		       name);
}

/* Get a setting that becomes part of the address: a project, a location, a version. */
static int get_word(const struct gemini_encoder *e, const char *setting, const char **out)
{
	const char *value = settings_get(e->q->settings, setting);
	const char *p = value;

	*out = value;
	while (p && (isalnum((unsigned char)*p) || (*p && strchr("-._:", *p))))
		p++;
	if (!p || !*p)
		return 0;
	return err_set(e->err, -EINVAL,
		       "%s has characters other than a-z A-Z 0-9 - . _ :", setting);
}

/* Get the address that is set, without a slash at its end; empty: Google's. */
static int get_base(const struct gemini_encoder *e, struct span *base)
{
	const char *setting = e->service->base_setting;
	struct model_endpoint at;
	int r;

	*base = (struct span){ 0 };
	if (!settings_get(e->q->settings, setting))
		return 0;
	r = model_endpoint_find(e->q->settings, setting, GEMINI_BASE, &at, e->err);
	if (r == 0)
		*base = at.base;
	return r;
}

static int put_version(const struct gemini_encoder *e, struct buf *url)
{
	const char *version;
	int r = get_word(e, SETTING_VERSION, &version);

	if (r < 0)
		return r;
	if (!version || strcmp(version, "beta") == 0)
		version = e->service->version;
	buf_printf(url, "/%s/", version);
	return 0;
}

/* A token and a key have different headers. */
static int put_key(const struct gemini_encoder *e, struct http_request *out, const char *setting)
{
	struct model_header header = { setting, "x-goog-api-key", "", NULL };

	if (strcmp(setting, SETTING_TOKEN) == 0)
		header = (struct model_header){ setting, "Authorization", "Bearer ", NULL };
	return model_header_add(e->q->settings, &header, out, e->err);
}

/* The Gemini API */

static int put_gemini(const struct gemini_encoder *e, struct span base, struct http_request *out)
{
	const char *name = e->q->name;
	int r;

	buf_span_add(&out->url, base.len ? base : SPAN(GEMINI_BASE));
	r = put_version(e, &out->url);
	if (r < 0)
		return r;
	if (!begins(name, "models/") && !begins(name, "tunedModels/"))
		buf_text(&out->url, "models/");
	buf_text(&out->url, name);
	if (!model_key(e->q->provider, e->q->settings))
		return 0;
	return put_key(e, out, model_key_name(e->q->provider, e->q->settings));
}

/* Vertex AI */

struct place {
	const char *project; /* NULL: none */
	char location[LOCATION_MAX + 1];
};

/* Read L of "projects/P/locations/L/...". */
static void read_location(const char *name, char location[LOCATION_MAX + 1])
{
	const char *at = strstr(name, "/locations/");
	size_t n;

	if (!at)
		return;
	at += strlen("/locations/");
	n = strcspn(at, "/");
	(void)snprintf(location, LOCATION_MAX + 1, "%.*s", (int)MIN(n, LOCATION_MAX), at);
}

static int find_place(const struct gemini_encoder *e, struct place *p)
{
	const char *location;
	int r = get_word(e, SETTING_PROJECT, &p->project);

	if (r == 0)
		r = get_word(e, SETTING_LOCATION, &location);
	if (r < 0)
		return r;
	if (location && strlen(location) > LOCATION_MAX)
		return err_set(e->err, -EINVAL, "%s is longer than %d characters", SETTING_LOCATION,
			       LOCATION_MAX);
	(void)snprintf(p->location, sizeof p->location, "%s", location ? location : "global");
	if (begins(e->q->name, FULL_NAME))
		read_location(e->q->name, p->location);
	return 0;
}

static void put_host(const char *location, struct buf *url)
{
	if (strcmp(location, "global") == 0)
		buf_text(url, "https://aiplatform.googleapis.com");
	else if (strcmp(location, "us") == 0 || strcmp(location, "eu") == 0)
		buf_printf(url, "https://aiplatform.%s.rep.googleapis.com", location);
	else
		buf_printf(url, "https://%s-aiplatform.googleapis.com", location);
}

static void put_vertex_model(const char *name, struct buf *url)
{
	const char *slash = strchr(name, '/');

	if (begins(name, "publishers/") || begins(name, FULL_NAME) || begins(name, "models/"))
		buf_text(url, name);
	else if (slash)
		buf_printf(url, "publishers/%.*s/models/%s", (int)(slash - name), name, slash + 1);
	else
		buf_printf(url, "publishers/google/models/%s", name);
}

/* The setting of the key: a token is for a project, a key for none ("express mode"). */
static const char *choose_key(const struct gemini_encoder *e, const char *project)
{
	const struct settings *settings = e->q->settings;

	if (!project && !settings_get(settings, SETTING_TOKEN) &&
	    model_key(e->q->provider, settings))
		return model_key_name(e->q->provider, settings);
	return SETTING_TOKEN;
}

static int put_vertex(const struct gemini_encoder *e, struct span base, struct http_request *out)
{
	bool full = begins(e->q->name, FULL_NAME);
	struct place place = { 0 };
	const char *key;
	int r = find_place(e, &place);

	if (r < 0)
		return r;
	key = choose_key(e, full ? e->q->name : place.project);
	if (base.len)
		buf_span_add(&out->url, base);
	else
		put_host(place.project || full ? place.location : "global", &out->url);
	r = put_version(e, &out->url);
	if (r < 0)
		return r;
	if (place.project && !full)
		buf_printf(&out->url, "projects/%s/locations/%s/", place.project, place.location);
	put_vertex_model(e->q->name, &out->url);
	if (!settings_get(e->q->settings, key))
		return 0;
	return put_key(e, out, key);
}

int gemini_where(const struct gemini_encoder *e, struct http_request *out)
{
	struct span base;
	int r = check_name(e);

	if (r == 0)
		r = get_base(e, &base);
	if (r == 0)
		r = model_headers_begin(e->q->provider, out);
	if (r == 0)
		r = e->service->vertex ? put_vertex(e, base, out) : put_gemini(e, base, out);
	buf_text(&out->url, METHOD);
	return r < 0 ? r : buf_check(&out->url, NULL);
}

/* A server at another address needs no key. */
int gemini_check_key(const struct gemini_encoder *e)
{
	const struct settings *settings = e->q->settings;
	const char *project = settings_get(settings, SETTING_PROJECT);
	const char *key;

	if (settings_get(settings, e->service->base_setting))
		return 0;
	if (!e->service->vertex)
		return model_key(e->q->provider, settings)
			       ? 0
			       : model_setting_missing(SETTING_GEMINI_KEY, e->err);
	if (begins(e->q->name, FULL_NAME))
		project = e->q->name;
	key = choose_key(e, project);
	if (!settings_get(settings, key))
		return model_setting_missing(key, e->err);
	return project || strcmp(key, SETTING_TOKEN) != 0
		       ? 0
		       : model_setting_missing(SETTING_PROJECT, e->err);
}
