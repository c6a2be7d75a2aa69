/*
 * Schemas in files: a JSON Schema that an agent's file names.
 */
#ifndef RUNNER_AGENT_SCHEMA_FILE_H
#define RUNNER_AGENT_SCHEMA_FILE_H

#include "runner/agent/entry.h"

/*
 * Read the file that an entry's name is, which has to be the schema of an
 * object. *out is a new reference. -EINVAL: err has "FILE:LINE: member: reason"
 * of the schema, or of the entry when it cannot be read; -ENOMEM.
 */
MUST_CHECK int schema_file_read(const struct entry *entry, json_t **out);

#endif
