/*
 * Declarations: the file NAME.json beside a tool's program, which tells the
 * model what the tool is for.
 *
 *   name			as the model calls it; else the program's file name
 *   description		required
 *   parameters			JSON Schema of an object; checked before each call
 *   responseSchema		JSON Schema; shown to the model, not checked
 *   isLongRunning		true: the result may come later
 *   requireConfirmation	true: the user is asked before each call
 *   network			true: the program needs one
 */
#ifndef RUNNER_AGENT_DECLARATION_H
#define RUNNER_AGENT_DECLARATION_H

#include "base/buf.h"
#include "runner/agent/agent.h"

#define DECLARATION_SUFFIX   ".json"
#define DECLARATION_NAME_MAX 64

/*
 * Fill in the tool from the text of its declaration; `file` is what errors
 * call it, a path that ends with DECLARATION_SUFFIX. -EINVAL: err has
 * "FILE:LINE: member: reason"; -ENOMEM. The tool may be half filled then:
 * tool_release() it in any case.
 */
MUST_CHECK int declaration_read(struct span text, const char *file, struct tool *tool,
				struct err *err);

#endif
