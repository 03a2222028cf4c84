/* Arguments of raw.sink.new: name, to, spool, batch, timeout, then those of enum sink_text in their order,
 * true for one that a function will give (sink_texts.h), then header, value, ... Owner: the caller has the
 * settings that are read. On the engine thread. */
#pragma once
#include <lua.h>

#include "script/server/sink.h"

/* Raises for what is no sink. Returns the name, which is the script's. */
const char *sink_args_check(lua_State *L);
/* After a check: with copies of all texts. */
struct sink_config sink_args_read(lua_State *L);
/* The arguments from `first` on, as texts of a sink; borrowed from the stack. Raises for those that its
 * target has no use for, or that lack another one. */
void sink_args_texts(lua_State *L, int first, const char *name, const char *to,
                     const char *texts[SINK_TEXTS]);
void sink_config_clear(struct sink_config *config);
