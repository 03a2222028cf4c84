/* The verbs that C gives to lua/k8s: each bind_*.c fills its part of the table `raw`, one file per Lua class.
 * Owner: the state. Each is called once for each state, by bind.c alone: with the table `raw` on top of the
 * stack, which stays there. */
#pragma once
#include <lua.h>

#include "base/str.h"
#include "script/inventory/inventory.h"

/* Makes `raw`, as REF_RAW: what every script needs is in it, and the rest comes when it is asked for. */
void bind_all(lua_State *L);

void bind_view(lua_State *L);     /* raw.view: iteration */
void bind_object(lua_State *L);   /* raw.object: what may be asked of a view; the methods of whole objects */
void bind_int64(lua_State *L);    /* raw.int64 */
void bind_quantity(lua_State *L); /* raw.quantity */
void bind_json(lua_State *L);     /* raw.json */
void bind_text(lua_State *L);     /* raw.base64, raw.sha256 */
void bind_informer(lua_State *L); /* raw.informer */
void bind_registration(lua_State *L);    /* raw.registration */
void bind_handler_options(lua_State *L); /* raw.handler_options */
void bind_lister(lua_State *L);          /* raw.lister */
void bind_live(lua_State *L);            /* raw.live */
void bind_write(lua_State *L);           /* raw.write */
void bind_host(lua_State *L);            /* raw.print, raw.log, raw.main, raw.raise, raw.null */
void bind_task(lua_State *L);            /* raw.task: what waiting needs */
void bind_time(lua_State *L);            /* raw.time */
void bind_cron(lua_State *L);            /* raw.time.cron; after bind_time */
void bind_index(lua_State *L);           /* raw.index */
void bind_query(lua_State *L);           /* raw.query */
void bind_snapshot(lua_State *L);        /* raw.snapshot */
void bind_selects(lua_State *L);         /* raw.selects */
void bind_queue(lua_State *L);           /* raw.queue */
void bind_job(lua_State *L);             /* raw.job */
void bind_leader(lua_State *L);          /* raw.leader */
void bind_reload(lua_State *L);          /* raw.reload */
void bind_inventory(lua_State *L);       /* raw.plan */
void bind_metric(lua_State *L);          /* raw.metric */
void bind_command(lua_State *L);         /* raw.command */
void bind_rule(lua_State *L);            /* raw.rule */
void bind_http(lua_State *L);            /* raw.http */
void bind_state(lua_State *L);           /* raw.state */
void bind_limits(lua_State *L);          /* raw.limits */
void bind_event(lua_State *L);           /* raw.event */
void bind_wait(lua_State *L);            /* raw.informer.wait_version, .wait_synced */

/* Adds to the script's plan, with the place of what it registers at this moment. Allocates in C alone, so
 * that nothing raises. */
void inventory_note(lua_State *L, enum inventory_class class, struct str key, struct str detail);
