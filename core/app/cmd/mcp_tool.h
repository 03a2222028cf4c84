/* C part of `kubelua mcp` (lua/tool/mcp/): lines of stdin, and this program run as a child, on one loop.
 * Owner: the Lua state of the command, which ends the child. */
#pragma once
#include <lua.h>

/* Adds to the host, the table on top of the stack:
 * next(): waits for what happens next: "line" with a text, "long" in place of a line that is too long, "end"
 * of the child with its exit code (-1: it was killed), its output, what it wrote to stderr, and what ended it
 * early: "limit" or "timeout"; nil: stdin is at its end and no child runs, or a signal came. start(words,
 * timeout_ms, output_max): runs `kubelua WORDS ...`; nil and why. One at a time. kill(): ends the child,
 * whose end is not told. parse(text): the value of a JSON text, or nil and why. version: of the program. */
void mcp_tool_push(lua_State *L);
