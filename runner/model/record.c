/*
 * Recording: see record.h.
 */
#include "runner/model/record.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/mutex.h"
#include "base/name.h"
#include "base/net/url.h"
#include "base/utf8.h"
#include "runner/model/cassette.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/key.h"
#include "store/json/base64.h"
#include "store/json/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".jsonl"

static char *record_folder;                 /* fixed before threads; NULL: off */
static struct mutex file_lock = MUTEX_INIT; /* one line at a time; nothing is taken under it */

/* A piece of the answer, by where it ends in the bytes. */
struct piece {
	uint64_t ms;
	size_t end;
};

/* Listens to an answer and passes it on. */
struct tap {
	http_body_fn *on_body; /* receives the pieces */
	void *arg;
	uint64_t started;
	struct buf bytes;
	struct buf pieces; /* struct piece */
	bool stopped;      /* on_body ended the transfer; the connection did not fail */
};

int record_open(const char *folder, struct err *err)
{
	struct stat st;

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "%s", folder);
	if (stat(folder, &st) < 0)
		return err_errno(err, -errno, "%s", folder);
	if (!S_ISDIR(st.st_mode))
		return err_errno(err, -ENOTDIR, "%s", folder);
	if (access(folder, W_OK | X_OK) < 0)
		return err_errno(err, -errno, "%s", folder);
	record_folder = strdup(folder);
	return record_folder ? 0 : err_nomem(err);
}

void record_close(void)
{
	free(record_folder);
	record_folder = NULL;
}

const char *record_where(void)
{
	return record_folder;
}

/* Settings */

/* An address without user and password. */
static struct span without_user(const char *value, struct buf *out)
{
	struct span user = url_userinfo(value);

	if (!user.data)
		return span_of(value);
	buf_add(out, value, (size_t)(user.data - value));
	buf_text(out, user.data + user.len + 1);
	return buf_span(out);
}

/* Whether a header ends with a value: such a value says who asks, and not what is asked. */
static bool is_sent(const struct http_request *rq, const char *value)
{
	size_t n = strlen(value);
	size_t i;

	for (i = 0; i < rq->header_count; i++) {
		const char *header = rq->headers[i];
		size_t len = strlen(header);

		if (len > n && header[len - n - 1] == ' ' && strcmp(header + len - n, value) == 0)
			return true;
	}
	return false;
}

int record_settings(const struct model_provider *provider, const struct settings *settings,
		    const struct http_request *rq, struct buf *out)
{
	const struct model_setting *s;
	struct secrets secrets = { 0 };

	model_secrets(provider, settings, &secrets);
	buf_char(out, '{');
	for (s = provider->settings; s && s->name; s++) {
		CLEANUP(buf_release) struct buf clean = { 0 };
		const char *value = settings_get(settings, s->name);
		struct span shown = SPAN(SECRET_MASK);

		if (!value || s->kind == MODEL_SECRET)
			continue;
		if (s->kind == MODEL_PLAIN) {
			shown = without_user(value, &clean);
			out->failed |= clean.failed;
			if (is_sent(rq, value) || secrets_in(&secrets, shown))
				continue;
		}
		jsonput_text(out, s->name, shown);
	}
	buf_char(out, '}');
	return buf_check(out, NULL);
}

/* Listening */

static void add_piece(struct tap *tap, struct span bytes)
{
	struct piece piece = { .ms = (clock_monotonic() - tap->started) / NSEC_PER_MSEC };

	buf_span_add(&tap->bytes, bytes);
	piece.end = tap->bytes.len;
	buf_add(&tap->pieces, &piece, sizeof piece);
}

static int on_piece(void *arg, struct span bytes)
{
	struct tap *tap = arg;
	int r;

	if (!bytes.len)
		return 0; /* a lull is not recorded */
	add_piece(tap, bytes);
	r = tap->on_body(tap->arg, bytes);
	tap->stopped = r != 0;
	return r;
}

static void tap_release(struct tap *tap)
{
	buf_release(&tap->bytes);
	buf_release(&tap->pieces);
}

/* Writing */

static void put_bytes(struct buf *out, struct span bytes)
{
	if (utf8_is_valid(bytes)) {
		json_quote(out, bytes);
		return;
	}
	buf_text(out, "{\"base64\":\"");
	base64_encode(out, bytes, BASE64_STANDARD);
	buf_text(out, "\"}");
}

static void put_pieces(struct buf *out, const struct tap *tap)
{
	size_t from = 0;
	size_t i;

	buf_text(out, ",\"pieces\":[");
	for (i = 0; i + sizeof(struct piece) <= tap->pieces.len; i += sizeof(struct piece)) {
		struct piece piece;

		memcpy(&piece, tap->pieces.data + i, sizeof piece);
		buf_printf(out, "%s[%llu,", i ? "," : "", (unsigned long long)piece.ms);
		put_bytes(out, span_sub(buf_span(&tap->bytes), from, piece.end));
		buf_char(out, ']');
		from = piece.end;
	}
	buf_char(out, ']');
}

/* Append the body of the request; a body that is not JSON becomes a string. */
static int put_body(struct buf *out, struct span body)
{
	size_t before = out->len;
	int r = json_canonical_text(body, CASSETTE_DEPTH, out, NULL);

	if (r == 0 || r == -ENOMEM)
		return r;
	out->len = before;
	json_quote_lossy(out, body);
	return 0;
}

/* Make the line of an attempt. A reason with a code says how the connection failed. */
static int make_line(const struct record *record, const struct http_request *rq,
		     const struct http_answer *answer, struct tap *tap, const struct err *reason,
		     struct buf *out)
{
	CLEANUP(buf_release) struct buf path = { 0 };

	buf_printf(out, "{\"call\":\"%s\",\"attempt\":%u", record->call, record->attempt);
	jsonput_text(out, "provider", span_of(record->provider));
	jsonput_text(out, "model", span_of(record->model));
	buf_text(out, ",\"settings\":");
	buf_span_add(out, record->settings);
	http_request_path(rq, &path);
	out->failed |= path.failed;
	jsonput_text(out, "path", buf_span(&path));
	buf_text(out, ",\"body\":");
	if (put_body(out, buf_span(&rq->body)) < 0)
		return -ENOMEM;
	buf_printf(out, ",\"status\":%d,\"headers\":", answer->status);
	cassette_headers(answer, out);
	secrets_blank(record->secrets, &tap->bytes);
	put_pieces(out, tap);
	if (reason->code) {
		buf_printf(out, ",\"error\":{\"errno\":\"%s\"", err_name(reason->code));
		jsonput_text(out, "text", span_of(reason->text));
		buf_char(out, '}');
	}
	buf_text(out, "}\n");
	secrets_blank(record->secrets, out);
	return buf_check(out, NULL);
}

static int write_all(int fd, struct span text)
{
	while (text.len) {
		ssize_t n = write(fd, text.data, text.len);

		if (n < 0 && errno != EINTR)
			return -errno;
		text = span_sub(text, n > 0 ? (size_t)n : 0, text.len);
	}
	return 0;
}

static int append_line(const char *path, struct span line)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return -errno;
	mutex_lock(&file_lock);
	r = write_all(fd, line);
	mutex_unlock(&file_lock);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int keep(const struct record *record, struct span line, struct err *err)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	const char *slash = strrchr(record->agent, '/');
	int r;

	buf_printf(&path, "%s/%s" SUFFIX, record_folder, slash ? slash + 1 : record->agent);
	if (!buf_cstr(&path))
		return err_nomem(err);
	r = append_line(path.data, line);
	return r < 0 ? err_errno(err, r, "recording to %.120s", path.data) : 0;
}

int record_send(const struct record *record, const struct http_request *rq,
		const struct http_limits *limits, struct cancel *cancel, struct http_answer *answer,
		struct err *err)
{
	CLEANUP(tap_release) struct tap tap = { .on_body = answer->on_body, .arg = answer->arg };
	CLEANUP(buf_release) struct buf line = { 0 };
	struct err reason = { 0 };
	int kept;
	int r;

	if (!record_folder)
		return http_send(rq, limits, cancel, answer, err);
	tap.started = clock_monotonic();
	answer->on_body = on_piece;
	answer->arg = &tap;
	r = http_send(rq, limits, cancel, answer, &reason);
	answer->on_body = tap.on_body;
	answer->arg = tap.arg;
	reason.code = r < 0 && !tap.stopped ? r : 0;
	if (reason.code)
		(void)err_set(err, r, "%s", reason.text);
	if (r == -ECANCELED)
		return r;
	if (answer->error_body.len)
		add_piece(&tap, buf_span(&answer->error_body));
	if (tap.bytes.failed || tap.pieces.failed ||
	    make_line(record, rq, answer, &tap, &reason, &line) < 0)
		return err_nomem(err);
	kept = keep(record, buf_span(&line), err);
	return kept < 0 ? kept : r;
}
