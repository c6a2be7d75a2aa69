/*
 * Keys of the store. Only this module knows their bytes.
 *
 * A key is one byte that names a space, then numbers of 8 bytes in big endian, then perhaps a
 * text. Each object (app, user, session, state key, artifact, turn, ...) has a number that is
 * never used twice. The root has number 1.
 *
 *   F                            format of the store as text (store/format.h)
 *   C                            the next free number, 8 bytes
 *   n parent kind name        -> item number, 8 bytes (state: a record)
 *   i parent kind item        -> record of the item; listings are scans of this
 *   l session end             -> the bytes of the log that end at offset `end`
 *   L session end             -> bytes of many such rows, folded into one large value
 *   e session id              -> record: start and length of the event's line
 *   t session n               -> record of turn n
 *   q session n               -> record: app, user; turn n has not ended
 *   y session n               -> record: app, user; a compaction was asked for after turn n
 *   c session n sequence      -> record of a call in turn n, of a model or a tool
 *   d session n sequence      -> what the call's program wrote to standard error
 *   k session start           -> record of a line that acts on earlier lines (session/mark.h)
 *   a session number piece    -> piece of an attachment
 *   m message piece           -> piece of a message that was closed and is not submitted;
 *                                piece 0 is a record: app, user, session, kind
 *   v artifact n              -> record of version n
 *   x artifact n page         -> extents of version n, if its bytes are not one whole bulk
 *   x artifact 0              -> version numbers that were never used (artifact/version.h)
 *   b bulk                    -> record: how many versions refer to the bulk; one or more
 *   p bulk                    -> record: node; no version refers to the bulk
 *   h bulk page               -> checksums of blocks of the bulk (artifact/sums.h)
 *   s session                 -> record: the log is folded up to this offset
 *   f number                  -> record: node, is_removed; rows under this number belong to no
 *                                scope: to a fork that is not complete, or to a removed scope
 *   w user word NUL link start -> record of an event that has the word; its line begins at `start`
 *   w user NUL                -> stamp, 8 bytes: the latest change of what can be found
 *   o link start              -> the words of that event
 *   g link                    -> record: app, user; rows of w and o must be made or removed
 *
 * `node` is the number of the daemon that made the row (store_node()).
 *
 * `kind` is one byte, enum key_kind. record.h specifies the form of records, and the module that
 * owns a row specifies its members.
 */
#ifndef STORE_TX_KEY_H
#define STORE_TX_KEY_H

#include "base/buf.h"

#define KEY_ROOT  1  /* number of the object that holds the apps */
#define KEY_FIRST 16 /* the first number given to an object */

enum key_space {
	KEY_META_FORMAT = 'F',
	KEY_META_COUNTER = 'C',
	KEY_NAME = 'n',
	KEY_ITEM = 'i',
	KEY_LOG = 'l',
	KEY_SEGMENT = 'L',
	KEY_EVENT = 'e',
	KEY_TURN = 't',
	KEY_QUEUE = 'q',
	KEY_COMPACTION = 'y',
	KEY_CALL = 'c',
	KEY_CALL_STDERR = 'd',
	KEY_MARK = 'k',
	KEY_ATTACHMENT = 'a',
	KEY_MESSAGE = 'm',
	KEY_VERSION = 'v',
	KEY_MAP = 'x',
	KEY_REF = 'b',
	KEY_PENDING = 'p',
	KEY_SUMS = 'h',
	KEY_SEAL = 's',
	KEY_LOOSE = 'f',
	KEY_WORD = 'w',
	KEY_WORDS = 'o',
	KEY_INDEXING = 'g',
};

enum key_kind {
	KEY_NONE = 0,
	KEY_APP = 'A',
	KEY_USER = 'U',
	KEY_SESSION = 'S',
	KEY_STATE = 'K',
	KEY_FILE = 'F',
	KEY_ATTACHED = 'T',
	KEY_MEMORY = 'M',
};

#define KEY_MAX 320

struct key {
	size_t len;
	char data[KEY_MAX];
};

static inline struct span key_span(const struct key *k)
{
	return (struct span){ k->data, k->len };
}

/* space + number, such as 'l' session: a prefix of rows. */
struct key key_1(enum key_space space, uint64_t a);
/* space + two numbers. */
struct key key_2(enum key_space space, uint64_t a, uint64_t b);
/* space + three numbers. */
struct key key_3(enum key_space space, uint64_t a, uint64_t b, uint64_t c);
/* space + parent + kind, + name or + item. */
struct key key_dir(enum key_space space, uint64_t parent, enum key_kind kind);
struct key key_name(uint64_t parent, enum key_kind kind, struct span name);
struct key key_item(uint64_t parent, enum key_kind kind, uint64_t item);
/* 'e' session id */
struct key key_event(uint64_t session, struct span id);
/* 'w' user word NUL, a prefix, and the whole key of a posting. The word has no NUL. */
struct key key_word(uint64_t user, struct span word);
struct key key_posting(uint64_t user, struct span word, uint64_t link, uint64_t start);
/* The space alone: a prefix of all its rows. */
struct key key_space(enum key_space space);

/* The first key after all that start with this prefix. */
struct key key_after(struct key prefix);

/* A key from its bytes. */
struct key key_from(struct span bytes);

/* The first key after this one. */
struct key key_next(struct span key);

/* The last 8 bytes of a key as a number. */
uint64_t key_last_number(struct span key);
/* The 8 bytes before the last 8 as a number. */
uint64_t key_second_last_number(struct span key);
/* The 8 bytes after the space as a number. */
uint64_t key_first_number(struct span key);
/* Whether a KEY_ITEM key is of this kind. */
bool key_is_item(struct span key, enum key_kind kind);
/* The name in a KEY_NAME key. */
struct span key_name_of(struct span key);
/* The id in a KEY_EVENT key. */
struct span key_event_id(struct span key);

#endif
