/*
 * Printing: values as people read them, in each format of a transcript.
 */
#ifndef FS_VIEW_PRINT_H
#define FS_VIEW_PRINT_H

#include "base/buf.h"

/* Append "2026-11-21 06:19:36", UTC, for a time in microseconds. */
void print_time(struct buf *out, int64_t usec);

/* Append "1 turn" or "2 turns". */
void print_count(struct buf *out, uint64_t n, const char *one, const char *many);

/* Append "12 ms", "1.5 s" or "2 min 3 s" for microseconds. */
void print_duration(struct buf *out, int64_t usec);

/* Append checked JSON with a line for each member and item. */
void print_json_lines(struct buf *out, struct span json);

/* Append a path as the path of a relative URL. */
void print_url(struct buf *out, const char *path);

/* The start of a text: at most `max` bytes, cut after a whole character. */
struct span print_cut(struct span text, size_t max);

#endif
