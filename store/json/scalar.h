/*
 * Scalars: the values in ADK's JSON that are no objects, lists or maps, each in its canonical form.
 */
#ifndef STORE_JSON_SCALAR_H
#define STORE_JSON_SCALAR_H

#include "store/json/shape.h"

/*
 * Take one value of a kind and append its canonical text. FIELD_ROUTE here means an item of a
 * route. -EINVAL, -ENODATA, -ENOMEM as in base/json_text.h.
 */
MUST_CHECK int scalar_take(struct json_scan *s, enum field_kind kind, struct buf *out);

#endif
