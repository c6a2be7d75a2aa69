/*
 * Declarations: the file NAME.json beside a tool's program tells the model what the
 * tool does. Its members:
 *
 *   name			as the model calls the tool; default: the program's file name
 *   description		required
 *   parameters			JSON Schema of an object; checked before each call
 *   responseSchema		JSON Schema; shown to the model, not checked
 *   isLongRunning		true: the result may come later
 *   requireConfirmation	true: the user is asked before each call
 *   network			true: the program may use the network
 */
#ifndef RUNNER_AGENT_DECLARATION_H
#define RUNNER_AGENT_DECLARATION_H

#include "base/buf.h"
#include "runner/agent/agent.h"

#define DECLARATION_SUFFIX   ".json"
#define DECLARATION_NAME_MAX 64

/*
 * Fill in a tool from the text of its declaration.
 *
 * @file	the path of the declaration, which ends with DECLARATION_SUFFIX
 * Returns 0; -EINVAL: err has "FILE:LINE: member: reason"; -ENOMEM. The caller releases
 * the tool, even after an error, when it may be half filled.
 */
MUST_CHECK int declaration_read(struct span text, const char *file, struct tool *tool,
				struct err *err);

#endif
