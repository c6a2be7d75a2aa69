/*
 * Transcripts: a session as people read it, in more than one format.
 *
 * A transcript says in order who speaks, what is said, which tools are called
 * with which answers, and which state and files change. transcript.c walks the
 * events and decides about the order. A format writes each of these things;
 * markdown.c and page.c have one each.
 */
#ifndef FS_VIEW_TRANSCRIPT_H
#define FS_VIEW_TRANSCRIPT_H

#include "fs/view/walk.h"

struct transcript;

#define TRANSCRIPT_VALUE_MAX (16u << 10) /* bytes of a value that a format shows */

/* A call of a tool. Borrowed. */
struct transcript_call {
	const char *name;
	struct span args;             /* len 0: the call stands elsewhere, this is its answer */
	struct span response;         /* len 0: none yet, or in a later event */
	const struct call_info *info; /* NULL: the store has no record of the call */
};

/* A file that was saved. Borrowed. */
struct transcript_file {
	const char *name; /* as ADK spells it */
	uint64_t version;
	const char *path; /* from the session's directory; "": no path can hold the name */
	bool is_image;
};

/* The functions of a format. Each one appends to t->out. */
struct transcript_format {
	void (*begin)(struct transcript *t);
	void (*turn)(struct transcript *t, const struct turn_info *turn);
	/* `name` says what follows. */
	void (*speaker)(struct transcript *t, const char *name);
	void (*text)(struct transcript *t, struct span text);
	void (*thought)(struct transcript *t, struct span text);
	void (*code)(struct transcript *t, const char *language, struct span text);
	/* A part that holds bytes (PART_INLINE), or the address of some (PART_FILE). */
	void (*data)(struct transcript *t, const struct part *part);
	void (*call)(struct transcript *t, const struct transcript_call *call);
	/* value len 0: the key was deleted */
	void (*state)(struct transcript *t, struct span key, struct span value);
	void (*file)(struct transcript *t, const struct transcript_file *file);
	void (*note)(struct transcript *t, const char *text);
	void (*error)(struct transcript *t, const char *code, const char *text);
	void (*end)(struct transcript *t);
};

struct transcript {
	/* for formats */
	const struct transcript_format *format;
	struct buf *out;
	struct scopes scopes;
	bool in_turn;                 /* for the format alone: a turn has begun */
	bool by_user;                 /* the user speaks */
	const struct walk_turn *turn; /* NULL: none has begun */

	/* for transcript.c alone */
	struct store *st;
	struct ref ref;
	char speaker[256];
	uint64_t speaker_turn;
	struct content *open;  /* the latest event with calls, until it is answered */
	char caller[256];      /* the author of that event */
	struct buf open_calls; /* of struct call_info: the records of those calls */
	struct buf held;       /* output that follows the calls */
	struct buf latest;     /* of struct saved_version: the latest one of each file */
	struct err *err;
};

/* Why a call has no response: "no answer yet" or "answered later"; NULL: it has one. */
const char *transcript_unanswered(const struct transcript_call *call);

/* Append the transcript of a session in a format. */
MUST_CHECK int transcript_write(struct store *st, struct ref session,
				const struct transcript_format *format, struct buf *out,
				struct err *err);

#endif
