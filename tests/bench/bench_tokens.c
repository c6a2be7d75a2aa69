/*
 * bench_tokens: what a streamed piece of an answer costs, and how soon it is read.
 *
 *	bench_tokens ROOT STORE AGENTS [-k RUNS] [-n COUNT]
 *
 * A model service in this process streams COUNT pieces, a millisecond apart, to an
 * agent "tokens" that is made in AGENTS. Each piece holds the time when it was sent.
 *
 * cost		CPU of the daemon for a turn that nobody reads until it is over; the floor
 *		is the CPU of libcurl alone for the same stream, in a process of its own,
 *		its pieces thrown away.
 * with a reader	the same, while somebody reads `output` piece by piece
 * latency	from sending a piece until a blocked read of `output` has it; the floor is
 *		until libcurl hands it over.
 */
#include "base/cc.h"
#include "tests/bench/measure.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	RUNS = 5,
	PIECES = 1000,
	PIECES_MAX = 100000,
	PACE_US = 1000,
	STAMP = 17, /* bytes of a piece: sixteen digits and a blank */
};

struct service {
	int socket;
	unsigned port, pieces;
	atomic_uint served; /* streams that are over */
};

struct options {
	const char *root, *agents;
	struct service service;
	unsigned runs;
	clockid_t daemon; /* its CPU time */
};

/* Delays of pieces, in seconds. */
struct delays {
	double *list;
	unsigned count, most;
};

/* The service */

static bool send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool send_chunk(int fd, const char *event)
{
	char chunk[512];
	int n = snprintf(chunk, sizeof(chunk), "%zx\r\n%s\r\n", strlen(event), event);

	return send_all(fd, chunk, (size_t)n);
}

static bool send_piece(int fd)
{
	char event[256];

	snprintf(event, sizeof(event),
		 "data: {\"id\":\"t\",\"object\":\"chat.completion.chunk\",\"created\":1,"
		 "\"model\":\"tokens\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
		 "\"%016.6f \"},\"finish_reason\":null}]}\n\n",
		 seconds_now());
	return send_chunk(fd, event);
}

/* A request is taken for whole when its head and as much body as it says are there. */
static bool take_request(int fd)
{
	char text[65536];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 &&
	       (n = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0) {
		const char *body, *length;

		text[len += (size_t)n] = 0;
		body = strstr(text, "\r\n\r\n");
		length = strcasestr(text, "\r\nContent-Length:");
		if (body && (!length || strlen(body + 4) >= strtoul(length + 17, NULL, 10)))
			return true;
	}
	return false;
}

static void answer(struct service *s, int fd)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
				   "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
	static const char end[] = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
				  "\"stop\"}]}\n\ndata: [DONE]\n\n";
	bool sent = take_request(fd) && send_all(fd, head, sizeof(head) - 1);

	for (unsigned i = 0; sent && i < s->pieces; i++) {
		sent = send_piece(fd);
		usleep(PACE_US);
	}
	if (sent && send_chunk(fd, end))
		(void)send_all(fd, "0\r\n\r\n", 5);
}

static void *serve(void *arg)
{
	struct service *s = arg;
	int fd, on = 1;

	while ((fd = accept(s->socket, NULL, NULL)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		answer(s, fd);
		close(fd);
		atomic_fetch_add(&s->served, 1);
	}
	return NULL;
}

static int service_start(struct service *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	pthread_t thread;

	s->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->socket < 0 || bind(s->socket, (struct sockaddr *)&at, len) || listen(s->socket, 8) ||
	    getsockname(s->socket, (struct sockaddr *)&at, &len))
		return -errno;
	s->port = ntohs(at.sin_port);
	return -pthread_create(&thread, NULL, serve, s);
}

static int write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fputs(text, f);
	return fclose(f) ? -errno : 0;
}

static int agent_make(const struct options *o)
{
	char folder[PATH_MAX], url[128];
	int r;

	snprintf(folder, sizeof(folder), "%s/tokens", o->agents);
	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	snprintf(url, sizeof(url), "OPENAI_BASE_URL=http://127.0.0.1:%u/v1\n", o->service.port);
	r = write_file(folder, ".env", url);
	return r < 0 ? r
		     : write_file(folder, "root_agent.yaml",
				  "name: tokens\nmodel: openai/tokens\ninstruction: Answer.\n");
}

/* Delays */

/* Each whole piece in a text that has just arrived. */
static void delays_take(struct delays *d, const char *text, size_t len)
{
	double now = seconds_now();

	for (; len >= STAMP && d->count < d->most; text += STAMP, len -= STAMP)
		d->list[d->count++] = now - strtod(text, NULL);
}

/* libcurl alone */

/* The stamps of the events that a piece holds; events are never cut on the loopback device. */
static size_t take_piece(char *data, size_t size, size_t n, void *arg)
{
	struct delays *d = arg;
	const char *end = data + size * n;
	const char *at = data;

	while (d && (at = memmem(at, (size_t)(end - at), "\"content\":\"", 11)) &&
	       end - at > 11 + STAMP) {
		at += 11;
		delays_take(d, at, STAMP);
	}
	return size * n;
}

static double thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double curl_perform(const struct options *o, struct delays *d)
{
	CURL *curl = curl_easy_init();
	double before = thread_cpu();
	char url[128];
	CURLcode code;

	if (!curl)
		return NAN;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1/chat/completions", o->service.port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "{}");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_piece);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, d);
	code = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	return code == CURLE_OK ? thread_cpu() - before : NAN;
}

/* In a process of its own, as the daemon is: changing between two of them costs something. */
static double curl_run(const struct options *o, struct delays *d)
{
	struct delays own = { d->list + d->count, 0, o->service.pieces };
	double cpu = NAN;
	int ends[2];
	pid_t pid;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC) || (pid = fork()) < 0)
		return NAN;
	if (!pid) {
		FILE *out = fdopen(ends[1], "w");

		cpu = curl_perform(o, &own);
		_exit(!out || fwrite(&cpu, sizeof(cpu), 1, out) != 1 ||
		      fwrite(own.list, sizeof(double), own.count, out) != own.count || fclose(out));
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (in && fread(&cpu, sizeof(cpu), 1, in) == 1)
		d->count += (unsigned)fread(own.list, sizeof(double), own.most, in);
	if (in)
		fclose(in);
	waitpid(pid, NULL, 0);
	return cpu;
}

/* A turn */

static double daemon_cpu(const struct options *o)
{
	struct timespec t;

	if (clock_gettime(o->daemon, &t))
		return NAN;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int file_open(const char *session, const char *name, int flags)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", session, name);
	return open(path, flags | O_CLOEXEC);
}

static int message_send(const char *session)
{
	int fd = file_open(session, "input", O_WRONLY);
	bool sent = fd >= 0 && write(fd, "go\n", 3) == 3;

	if (fd < 0)
		return -errno;
	return close(fd) || !sent ? -EIO : 0;
}

/* Read `output` until the turn ends. d NULL: nobody looks at the pieces. */
static int output_read(const char *session, struct delays *d, size_t *all)
{
	int fd = file_open(session, "output", O_RDONLY);
	static char text[65536];
	size_t kept = 0;
	ssize_t n;

	*all = 0;
	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + kept, sizeof(text) - kept)) > 0) {
		size_t len = kept + (size_t)n;

		if (d)
			delays_take(d, text, len);
		kept = len % STAMP; /* of a piece whose rest comes with the next read */
		memmove(text, text + len - kept, kept);
		*all += (size_t)n;
	}
	close(fd);
	return n < 0 ? -EIO : 0;
}

/* A new one: its turn has nothing before it. */
static int session_new(const struct options *o, char path[PATH_MAX])
{
	static const char *const parts[] = { "/apps/tokens", "/users/bench", "/sessions/s%d-%u" };
	static unsigned made;
	size_t len = (size_t)snprintf(path, PATH_MAX, "%s", o->root);

	made++;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		len += (size_t)snprintf(path + len, PATH_MAX - len, parts[i], (int)getpid(), made);
		if (mkdir(path, 0700) && errno != EEXIST) {
			fprintf(stderr, "bench_tokens: %s: %s\n", path, strerror(errno));
			return -errno;
		}
	}
	return 0;
}

/* CPU of the daemon for a turn; with delays somebody reads while it runs. */
static double turn_run(struct options *o, struct delays *d)
{
	unsigned served = atomic_load(&o->service.served);
	char session[PATH_MAX];
	size_t all = 0;
	int r = session_new(o, session);
	double before = daemon_cpu(o);

	if (r == 0)
		r = message_send(session);

	while (r == 0 && !d && atomic_load(&o->service.served) == served)
		usleep(PACE_US);
	if (r == 0)
		r = output_read(session, d, &all);
	return r == 0 && all >= (size_t)o->service.pieces * STAMP ? daemon_cpu(o) - before : NAN;
}

static double worst(struct delays *d, double part)
{
	if (!d->count)
		return NAN;
	qsort(d->list, d->count, sizeof(*d->list), double_compare);
	return d->list[(size_t)((double)(d->count - 1) * part)];
}

static int run(struct options *o)
{
	static const struct target cheap = { TARGET_ADDED, 0.005 }, soon = { TARGET_BELOW, 0.001 },
				   none = { TARGET_NONE, 0 };
	double alone[RUNS_MAX], quiet[RUNS_MAX], read_by[RUNS_MAX];
	unsigned most = o->service.pieces * o->runs;
	struct delays curl = { calloc(most, sizeof(double)), 0, most };
	struct delays ours = { calloc(most, sizeof(double)), 0, most };
	double floor;

	if (!curl.list || !ours.list)
		return 1;
	(void)turn_run(o, NULL); /* warms up */
	for (unsigned i = 0; i < o->runs; i++) {
		alone[i] = curl_run(o, &curl);
		quiet[i] = turn_run(o, NULL);
		read_by[i] = turn_run(o, &ours);
	}
	floor = median(alone, o->runs);
	report_row("CPU of a stream of pieces", UNIT_SECONDS, cheap, median(quiet, o->runs), floor);
	report_row("  with a reader", UNIT_SECONDS, none, median(read_by, o->runs), floor);
	report_row("  until a piece is read, median", UNIT_SECONDS, soon, worst(&ours, 0.5),
		   worst(&curl, 0.5));
	report_row("  of a hundred the slowest", UNIT_SECONDS, soon, worst(&ours, 0.99),
		   worst(&curl, 0.99));
	free(curl.list);
	free(ours.list);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: bench_tokens ROOT STORE AGENTS [-k RUNS] [-n COUNT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct options o = { .runs = RUNS, .service = { .pieces = PIECES } };
	int c, daemon, r;

	if (argc < 4)
		return usage();
	optind = 4;
	while ((c = getopt(argc, argv, "k:n:")) != -1) {
		unsigned n = c == '?' ? 0 : (unsigned)strtoul(optarg, NULL, 10);

		if (n == 0)
			return usage();
		*(c == 'k' ? &o.runs : &o.service.pieces) = n;
	}
	if (optind != argc || o.runs > RUNS_MAX || o.service.pieces > PIECES_MAX)
		return usage();
	o.root = argv[1];
	o.agents = argv[3];
	daemon = daemon_find(argv[2]);
	if (!daemon || clock_getcpuclockid(daemon, &o.daemon)) {
		fprintf(stderr, "bench_tokens: nobody has the store %s\n", argv[2]);
		return 1;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	r = service_start(&o.service);
	if (r == 0)
		r = agent_make(&o);
	if (r < 0)
		fprintf(stderr, "bench_tokens: %s\n", strerror(-r));
	return r < 0 ? 1 : run(&o);
}
