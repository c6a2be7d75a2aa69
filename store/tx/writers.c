/*
 * Writers: see writers.h.
 */
#include "store/tx/writers.h"

void writers_init(struct writers *w)
{
	mutex_init(&w->lock);
	cond_init(&w->changed);
}

void writers_release(struct writers *w)
{
	cond_release(&w->changed);
	mutex_release(&w->lock);
}

void writers_enter(struct writers *w)
{
	mutex_lock(&w->lock);
	while (w->turn < w->next_turn)
		cond_wait(&w->changed, &w->lock);
	w->running++;
	mutex_unlock(&w->lock);
}

void writers_leave(struct writers *w)
{
	bool awaited;

	mutex_lock(&w->lock);
	awaited = --w->running == 0 && w->turn < w->next_turn;
	mutex_unlock(&w->lock);
	if (awaited)
		cond_wake_all(&w->changed);
}

void writers_enter_alone(struct writers *w)
{
	uint64_t mine;

	mutex_lock(&w->lock);
	mine = w->next_turn++;
	while (w->turn < mine || w->running)
		cond_wait(&w->changed, &w->lock);
	mutex_unlock(&w->lock);
}

void writers_leave_alone(struct writers *w)
{
	mutex_lock(&w->lock);
	w->turn++;
	mutex_unlock(&w->lock);
	cond_wake_all(&w->changed);
}
