/* Readers of live lists, watches and lines: userdata that holds the read. What came and was not taken yet
 * waits in it: one page, one stretch of events or of text. bind_reader.c makes them, reader.c waits for what
 * comes. Owner:
 * Lua's collector. On the engine thread; functions with a lua_State are inside a call into Lua and may raise.
 */
#pragma once
#include <lua.h>

#include "informer/live/live_client.h"
#include "kube/kinds/resource.h"
#include "script/vm/state.h"

struct task_wait;
struct task_wait_ops;

struct read_wait;

struct reader {
    struct script *script;
    const struct cluster_parts *cluster; /* held as long as it reads, then NULL */
    struct live_read *read;              /* NULL: closed */
    enum live_verb verb;
    const char *name;              /* "k8s.watch" */
    bool whole;                    /* a list that is gathered: what it has in all is bounded */
    bool is_requested;             /* a response is under way, or here and not yet taken */
    bool responded;                /* it is here */
    bool last;                     /* and nothing follows */
    struct live_response response; /* its objects from `next` on were not handed out */
    size_t next, total;            /* of lines: `next` is that in `text` */
    struct buf version;            /* of a list */
    struct buf text;               /* of lines */
    struct err err;                /* why it ended; ERR_NONE for a good end */
    struct timer timeout;          /* of a watch, or of lines */
    struct read_wait *waiter;
};

/* Begins to read; the request is copied. */
void reader_start(struct reader *reader, const struct live_request *request);
/* The server hears no more of it, and what has not been taken is gone. Who waits is told that nothing comes.
 */
void reader_end(struct reader *reader);
/* For the collector. */
void reader_clear(struct reader *reader);
/* For the clock of `timeout`: what came may still be taken. */
void reader_on_timeout(struct timer *timer);
struct reader *reader_arg(lua_State *L, int idx, const char *method);

/* page(reader): objects, version, from_start, last; nothing at the end; nil, err when it failed. Waits. */
int reader_page(lua_State *L);
/* event(reader): type, object; nothing at the end. Waits. */
int reader_event(lua_State *L);
/* line(reader); see reader_lines.c. */
int reader_line(lua_State *L);

/* Has the task wait for the next response, requesting it. */
int reader_wait(lua_State *L, struct reader *reader, const struct task_wait_ops *ops);
/* NULL: it was collected meanwhile. */
struct reader *reader_of_wait(struct task_wait *wait);
void reader_drop_wait(struct task_wait *wait);
/* Pushes a reader that has not started, of the cluster of the resource at 1, if there is one. */
struct reader *reader_push(lua_State *L, enum script_class class_, enum live_verb verb, const char *name);

/* --- Live reads as Lua sees them: what their two files share.
 * Owner: the state. On the engine thread, inside a call into Lua. */

enum read_function {
    READ_FUNCTION_GET,
    READ_FUNCTION_LIST,
    READ_FUNCTION_PAGES,
    READ_FUNCTION_WATCH,
    READ_FUNCTION_LOGS
};

/* By its name: "k8s.list". */
enum read_function read_function_arg(lua_State *L, int idx);
/* Returns the resolved kind of a read that is about to be sent; raises when the script did not declare it. */
const struct resource *read_resource_arg(lua_State *L, int idx, enum read_function of);
/* Adds the verbs of lists and watches to the table on top of the stack. */
void bind_reader(lua_State *L);
/* Likewise those of texts. */
void bind_text(lua_State *L);
