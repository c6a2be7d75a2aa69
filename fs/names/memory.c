/*
 * memory/: see memory.h.
 *
 * A link in sessions/ has the name of its session, and makes the session
 * remembered. Each name in search/ is a query: a lookup finds a file with the
 * matches, but no listing shows it.
 */
#include "fs/names/memory.h"

#include "base/name.h"
#include "fs/names/scopes.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "store/memory/memory.h"

#include <errno.h>
#include <pthread.h>
#include <uuid/uuid.h>

#define TARGET       "../../sessions/"
#define QUERY_NUMBER (1ull << 55) /* the highest bit that a number may have */

static int target_of(const char *id, struct buf *out)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = name_encode(span_of(id), NAME_PLAIN, &name, NULL);

	buf_text(out, TARGET);
	buf_span_add(out, buf_span(&name));
	return r < 0 ? r : buf_check(out, NULL);
}

static int memory_link_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct memory_link link;
	int r = memory_stat(at->fs->store, at->ref, at->item, &link, err);

	if (r == 0)
		st->mtime = link.stamp;
	return r;
}

static int memory_link_target(const struct place *at, struct buf *out, struct err *err)
{
	struct memory_link link;
	int r = memory_stat(at->fs->store, at->ref, at->item, &link, err);

	return r < 0 ? r : target_of(link.id, out);
}

static const struct node_type memory_session = {
	.name = "<session>",
	.id = ID_OBJECT,
	.mode = S_IFLNK | 0777,
	.stat = memory_link_stat,
	.link = memory_link_target,
};

static void link_place(const struct place *dir, uint64_t number, struct place *child)
{
	*child = place_child(dir, dir->type->members);
	child->item = number;
}

static int sessions_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		st->mtime = MAX(info.memory_stamp, at->fs->mounted);
	return r;
}

static int list_memory_link(void *arg, const struct memory_link *link)
{
	struct lister *l = arg;
	CLEANUP(buf_release) struct buf target = { 0 };
	struct node_stat st = { .mtime = link->stamp };
	struct place child;

	if (target_of(link->id, &target) < 0 || !buf_cstr(&target))
		return -ENOMEM;
	st.size = target.len;
	link_place(l->dir, link->number, &child);
	return lister_emit(l, target.data + strlen(TARGET), &child, link->number, &st);
}

static int sessions_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	return memory_list(dir->fs->store, dir->ref, after, list_memory_link, l, err);
}

static int find_session(const struct place *dir, const char *name, struct ref *session,
			struct scope_info *info, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r = scopes_id(name, &id, err);

	return r < 0 ? r : scope_find(dir->fs->store, dir->ref, id.data, session, info, err);
}

static int sessions_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err)
{
	struct scope_info info;
	struct ref session;
	int r = find_session(dir, name, &session, &info, err);

	(void)text;
	if (r == 0 && !info.memory)
		r = err_set(err, -ENOENT, "the session '%s' is not remembered", info.id);
	if (r == 0)
		link_place(dir, info.memory, child);
	return r;
}

static int sessions_remove(const struct place *dir, const char *name, struct err *err)
{
	struct scope_info info;
	struct ref session;
	int r = find_session(dir, name, &session, &info, err);

	return r < 0 ? r : memory_forget(dir->fs->store, session, err);
}

/* Append the path of the user's directory in the mount, and a slash. */
static int user_path(const struct place *dir, struct buf *out, struct err *err)
{
	struct scopes scopes;
	int r = scope_stat_all(dir->fs->store, dir->ref, &scopes, err);

	buf_text(out, "/apps/");
	if (r == 0)
		r = name_encode(span_of(scopes.app.id), NAME_PLAIN, out, err);
	buf_text(out, "/users/");
	if (r == 0)
		r = name_encode(span_of(scopes.user.id), NAME_PLAIN, out, err);
	buf_char(out, '/');
	return r < 0 ? r : buf_check(out, err);
}

/* Resolve a relative path `rest` against `path`, which begins with a slash and ends without one. */
static void walk_path(struct buf *path, const char *rest)
{
	while (*rest) {
		size_t len = strcspn(rest, "/");
		struct span part = { rest, len };

		if (span_is(part, "..")) {
			while (path->len && path->data[--path->len] != '/')
				;
		} else if (len && !span_is(part, ".")) {
			buf_char(path, '/');
			buf_span_add(path, part);
		}
		rest += len + (rest[len] == '/');
	}
}

/*
 * The name of the session, in sessions/ of the user, that a target leads to. The mountpoint in an
 * absolute target is not checked, since the mount may be visible in several places.
 */
static int name_of_target(const struct place *dir, const char *target, struct buf *name,
			  struct err *err)
{
	CLEANUP(buf_release) struct buf user = { 0 };
	CLEANUP(buf_release) struct buf path = { 0 };
	const char *found;
	int r = user_path(dir, &user, err);

	if (r < 0)
		return r;
	if (target[0] != '/') {
		buf_span_add(&path, buf_span(&user));
		buf_text(&path, "memory/sessions");
	}
	walk_path(&path, target);
	buf_text(&user, "sessions/");
	if (!buf_cstr(&user) || !buf_cstr(&path))
		return err_nomem(err);
	found = strstr(path.data, user.data);
	while (found && strchr(found + user.len, '/'))
		found = strstr(found + 1, user.data);
	if (!found || !found[user.len])
		return err_set(err, -EINVAL,
			       "the link must lead to a session of this user, as " TARGET
			       "ID does, not to '%.100s'",
			       target);
	buf_text(name, found + user.len);
	return buf_cstr(name) ? 0 : err_nomem(err);
}

static int sessions_link_to(const struct place *dir, const char *name, const char *target,
			    struct err *err)
{
	CLEANUP(buf_release) struct buf wanted = { 0 };
	struct scope_info info;
	struct ref session;
	int r = name_of_target(dir, target, &wanted, err);

	if (r < 0)
		return r;
	if (strcmp(name, wanted.data) != 0)
		return err_set(err, -EINVAL, "the link must have the name of the session: '%s'",
			       wanted.data);
	r = find_session(dir, name, &session, &info, err);
	return r < 0 ? r : memory_remember(dir->fs->store, session, NULL, err);
}

static const struct dir_ops memory_sessions_ops = {
	.list = sessions_list,
	.find = sessions_find,
	.link_to = sessions_link_to,
	.remove = sessions_remove,
};

static int show_match(void *arg, const struct memory_match *match)
{
	int r = memory_show(match, arg);

	buf_char(arg, '\n');
	return r;
}

static int query_show(const struct place *at, struct buf *out, struct err *err)
{
	struct memory_query query = { at->ref, span_of(at->name), MEMORY_MATCHES_MAX };
	int r = memory_search(at->fs->store, &query, show_match, out, err);

	return r < 0 ? r : buf_check(out, err);
}

static int query_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	uint64_t stamp;
	int r = memory_stamp(at->fs->store, at->ref, &stamp, err);

	if (r == 0)
		st->mtime = MAX(stamp, at->fs->mounted);
	return r; /* tree_stat() measures the size */
}

/* NODE_DIRECT: an open file shows the matches of one moment. */
const struct node_type memory_query = {
	.name = "<query>",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0400,
	.flags = NODE_SHOWS_MEMORY | NODE_DIRECT | NODE_LAZY,
	.news = NEWS_MEMORY,
	.stat = query_stat,
	.show = query_show,
};

static uuid_t secret; /* random for each daemon */

static void make_secret(void)
{
	uuid_generate_random(secret);
}

/*
 * The number of a query: always the same for the same query, and above all numbers of the store.
 * The secret prevents a user from finding a query with the number of another user's query.
 */
static uint64_t number_of_query(uint64_t user, struct span query, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	CLEANUP(buf_release) struct buf text = { 0 };
	uint64_t number;
	uuid_t hash;

	(void)pthread_once(&once, make_secret);
	buf_add(&text, &user, sizeof user);
	buf_span_add(&text, query);
	if (buf_check(&text, err) < 0)
		return 0;
	uuid_generate_sha1(hash, secret, text.data, text.len);
	memcpy(&number, hash + sizeof hash - sizeof number, sizeof number);
	return QUERY_NUMBER | (number & (QUERY_NUMBER - 1));
}

static int memory_query_find(const struct place *dir, const char *name, struct place *child,
			     struct buf *text, struct err *err)
{
	int r = scopes_id(name, text, err);

	if (r < 0)
		return r;
	*child = place_child(dir, dir->type->members);
	child->ref.session = 0;
	child->name = text->data;
	child->item = number_of_query(dir->ref.user, buf_span(text), err);
	return child->item ? 0 : -ENOMEM;
}

const struct dir_ops memory_query_ops = {
	.find = memory_query_find,
};

const struct node_type memory_entries[] = {
	{ .name = "sessions",
	  .id = ID_MEMORY_SESSIONS,
	  .mode = S_IFDIR | 0700,
	  .news = NEWS_MEMORY,
	  .help = "ln -s " TARGET "ID remembers a session, rm forgets it",
	  .stat = sessions_stat,
	  .members = &memory_session,
	  .dir = &memory_sessions_ops },
	{ .name = "search",
	  .id = ID_MEMORY_SEARCH,
	  .mode = S_IFDIR | 0700,
	  .help = "any name is a query: its file has what the memory knows about it",
	  .members = &memory_query,
	  .dir = &memory_query_ops },
	{ 0 },
};
