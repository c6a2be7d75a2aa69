/*
 * Artifacts and versions: see info.h.
 */
#include "store/artifact/info.h"

void attr_merge(struct artifact_attr *to, const struct artifact_attr *from)
{
	to->has |= from->has;
	if (from->has & ATTR_MODE)
		to->mode = from->mode;
	if (from->has & ATTR_UID)
		to->uid = from->uid;
	if (from->has & ATTR_GID)
		to->gid = from->gid;
	if (from->has & ATTR_MTIME)
		to->mtime = from->mtime;
	if (from->has & ATTR_ATIME)
		to->atime = from->atime;
}
