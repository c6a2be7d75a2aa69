/*
 * Replay: see replay.h.
 */
#include "store/timeline/replay.h"

#include "base/json_text.h"
#include "store/json/deleted.h"
#include "store/json/state_key.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_AT_START 64

static struct replay_item **slot_of(const struct replay_map *map, uint64_t hash, struct span name)
{
	struct replay_item **at = &map->slots[hash & (map->size - 1)];

	while (*at &&
	       ((*at)->hash != hash || !span_equal((struct span){ (*at)->name, (*at)->len }, name)))
		at = &(*at)->next;
	return at;
}

static int grow(struct replay_map *map)
{
	size_t size = map->size ? map->size * 2 : SLOTS_AT_START;
	struct replay_item **slots = calloc(size, sizeof(struct replay_item *));
	size_t i;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < map->size; i++) {
		while (map->slots[i]) {
			struct replay_item *item = map->slots[i];

			map->slots[i] = item->next;
			item->next = slots[item->hash & (size - 1)];
			slots[item->hash & (size - 1)] = item;
		}
	}
	free(map->slots);
	map->slots = slots;
	map->size = size;
	return 0;
}

/* Find or make an item. NULL: out of memory. */
static struct replay_item *need(struct replay_map *map, struct span name)
{
	uint64_t hash = span_hash(name);
	struct replay_item **slot;

	if (map->count >= map->size && grow(map) < 0)
		return NULL;
	slot = slot_of(map, hash, name);
	if (*slot)
		return *slot;
	*slot = calloc(1, sizeof **slot + name.len + 1);
	if (!*slot)
		return NULL;
	(*slot)->hash = hash;
	(*slot)->len = name.len;
	memcpy((*slot)->name, name.data, name.len);
	map->count++;
	return *slot;
}

struct replay_item *replay_find(const struct replay_map *map, struct span name)
{
	return map->size ? *slot_of(map, span_hash(name), name) : NULL;
}

int replay_each(const struct replay_map *map, replay_fn *fn, void *arg)
{
	struct replay_item *item;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < map->size; i++) {
		for (item = map->slots[i]; r == 0 && item; item = item->next)
			r = fn(arg, item);
	}
	return r;
}

static void release_map(struct replay_map *map)
{
	size_t i;

	for (i = 0; i < map->size; i++) {
		while (map->slots[i]) {
			struct replay_item *item = map->slots[i];

			map->slots[i] = item->next;
			buf_release(&item->text);
			free(item);
		}
	}
	free(map->slots);
	*map = (struct replay_map){ 0 };
}

void replay_release(struct replay *r)
{
	release_map(&r->keys);
	release_map(&r->artifacts);
}

struct taking {
	struct replay *replay;
	struct deleted deleted; /* keys of the line */
};

static int take_key(void *arg, struct span key, struct span value)
{
	struct taking *t = arg;
	struct replay_item *item;
	struct span bare;

	if (statekey_scope(key, &bare) != SCOPE_SESSION)
		return 0;
	item = need(&t->replay->keys, key);
	if (!item)
		return -ENOMEM;
	buf_clear(&item->text);
	if (!span_is(value, "null") || !deleted_find(&t->deleted, key))
		buf_span_add(&item->text, value);
	return buf_check(&item->text, NULL);
}

static int take_artifact(void *arg, struct span name, struct span value)
{
	struct taking *t = arg;
	struct replay_item *item;
	uint64_t version = 0;
	size_t i;

	if (name.len > 5 && !memcmp(name.data, "user:", 5))
		return 0;
	/* An appended line may have any value here; one that is no version number is ignored. */
	for (i = 0; i < value.len && value.data[i] >= '0' && value.data[i] <= '9'; i++)
		version = version * 10 + (uint64_t)(value.data[i] - '0');
	if (!version || i < value.len)
		return 0;
	item = need(&t->replay->artifacts, name);
	if (!item)
		return -ENOMEM;
	item->version = version;
	return 0;
}

static bool has(struct span line, struct span what)
{
	return memmem(line.data, line.len, what.data, what.len);
}

bool replay_has_delta(struct span line)
{
	return has(line, SPAN("\"stateDelta\":{\"")) || has(line, SPAN("\"artifactDelta\":{\""));
}

int replay_line(struct replay *r, struct span line)
{
	struct taking t = { .replay = r };
	struct span metadata = { "", 0 };
	struct span actions;
	struct span delta;
	int got;

	if (!replay_has_delta(line))
		return 0;
	got = json_member(line, "actions", &actions);
	if (got < 0)
		return got == -ENOENT ? 0 : -EIO;
	if (json_member(line, "customMetadata", &metadata) < 0)
		metadata.len = 0;
	got = json_member(actions, "stateDelta", &delta);
	if (got == 0)
		got = deleted_read(metadata, &t.deleted, NULL);
	if (got == 0)
		got = json_each(delta, take_key, &t);
	deleted_release(&t.deleted);
	if (got < 0 && got != -ENOENT)
		return got == -ENOMEM ? got : -EIO;
	got = json_member(actions, "artifactDelta", &delta);
	if (got == 0)
		got = json_each(delta, take_artifact, &t);
	return got == -ENOENT ? 0 : got < 0 && got != -ENOMEM ? -EIO : got;
}
