/*
 * Limits of what MCP servers may cost: bytes, counts, times.
 */
#ifndef RUNNER_MCP_LIMITS_H
#define RUNNER_MCP_LIMITS_H

#define MCP_MESSAGE_MAX     (16u << 20) /* bytes of one message */
#define MCP_TOOLS_MAX       1000        /* of one server */
#define MCP_LIST_BYTES      (16u << 20) /* of a list of tools, all pages together */
#define MCP_PAGES_MAX       100         /* of a list of tools */
#define MCP_NAME_MAX        64          /* bytes of a tool's name as it is offered */
#define MCP_CONNECT_MS      30000       /* to start and agree; for one page of tools/list */
#define MCP_PROBE_MS        5000   /* of that, for server/discover to a program; at most half */
#define MCP_CALL_MS         60000  /* for tools/call; starts anew with each progress */
#define MCP_CALL_MAX_MS     600000 /* for tools/call, with any progress */
#define MCP_ROUNDS_MAX      3      /* of a call whose result asks for another call */
#define MCP_CLOSE_GRACE_MS  2000   /* from closing standard input to TERM, and on to KILL */
#define MCP_HTTP_CONNECT_MS 5000
#define MCP_HTTP_SILENCE_MS 300000
#define MCP_HEADERS_MAX     32 /* in an entry's `headers` */

#endif
