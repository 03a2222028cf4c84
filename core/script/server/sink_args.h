/* Arguments of raw.sink.new: name, to, spool, batch, timeout, then those of enum sink_text in their order,
 * then header, value, ... Owner: the caller has the settings that are read. On the engine thread. */
#pragma once
#include <lua.h>

#include "script/server/sink.h"

/* Raises for what is no sink. Returns the name, which is the script's. */
const char *sink_args_check(lua_State *L);
/* After a check: with copies of all texts. */
struct sink_config sink_args_read(lua_State *L);
void sink_config_clear(struct sink_config *config);
