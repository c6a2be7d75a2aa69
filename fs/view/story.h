/*
 * A story: a session as people read it, whatever it is written in.
 *
 * The teller walks the events and says what happens in what order: who speaks,
 * calls of tools with their answers, changes of state, files. A style writes
 * it down, one function for each thing there is to say.
 */
#ifndef FS_VIEW_STORY_H
#define FS_VIEW_STORY_H

#include "fs/view/walk.h"

struct story;

#define STORY_VALUE_MAX (16u << 10) /* bytes of JSON that are shown of a value; behind it "..." */

/* A call of a tool. Borrowed. */
struct story_call {
	const char *name;
	struct span args;
	struct span response;         /* len 0: none yet, or in a later event */
	const struct call_info *info; /* NULL: nothing is known besides */
};

/* A file that was saved. Borrowed. */
struct story_file {
	const char *name; /* as ADK has it */
	uint64_t version;
	const char *path; /* from the session's directory */
	bool is_image;
};

/* How a story is written. All append to story->out. */
struct story_style {
	void (*begin)(struct story *s);
	void (*turn)(struct story *s, const struct turn_info *turn);
	/* What follows is said by them. */
	void (*speaker)(struct story *s, const char *name, int64_t time);
	void (*text)(struct story *s, struct span text);
	void (*thought)(struct story *s, struct span text);
	void (*code)(struct story *s, const char *language, struct span text);
	/* A part with bytes of its own (PART_INLINE), or a link to some (PART_FILE). */
	void (*data)(struct story *s, const struct part *part);
	void (*call)(struct story *s, const struct story_call *call);
	/* value len 0: it was deleted */
	void (*state)(struct story *s, struct span key, struct span value);
	void (*file)(struct story *s, const struct story_file *file);
	void (*note)(struct story *s, const char *text);
	void (*error)(struct story *s, const char *code, const char *text);
	void (*end)(struct story *s);
};

struct story {
	/* for styles */
	const struct story_style *style;
	struct buf *out;
	struct scope_info app;
	struct scope_info user;
	struct scope_info session;
	bool in_turn;                 /* a style's own: a turn is open */
	bool by_user;                 /* who speaks */
	const struct walk_turn *turn; /* NULL: none has begun */

	/* the teller's own */
	struct store *st;
	struct ref ref;
	char speaker[256];
	uint64_t speaker_turn;
	struct content *open; /* the latest event with calls, until it is answered */
	char caller[256];     /* its author */
	int64_t open_time;
	struct buf open_calls; /* of struct call_info: what is known of them */
	struct buf held;       /* told while a call is open */
	struct buf latest;     /* of struct story_version: the latest version of each file */
	struct err *err;
};

/* Of a call without a response: whether it has none yet, or further down. NULL: it has one. */
const char *story_unanswered(const struct story_call *call);

/* Tell a session in a style. */
MUST_CHECK int story_tell(struct store *st, struct ref session, const struct story_style *style,
			  struct buf *out, struct err *err);

/* "2026-11-21 06:19:36" of microseconds, UTC. */
void story_time(struct buf *out, int64_t usec);

/* "1 turn", "2 turns". */
void story_count(struct buf *out, uint64_t n, const char *one, const char *many);

/* "12 ms", "1.5 s", "2 min 3 s" of microseconds. */
void story_duration(struct buf *out, int64_t usec);

/* Append checked JSON with a line for each member and item. */
void story_json(struct buf *out, struct span json);

/* Append a path as the path of a relative URL. */
void story_url(struct buf *out, const char *path);

/* At most so many bytes of a text, cut at a whole character. */
struct span story_cut(struct span text, size_t max);

#endif
