/* Webhooks of a script: k8s.webhook. Each request is a call that may wait, begun in a turn of the script; it
 * belongs to the generation that began it, which a reload lets finish. Owner: the script has its webhooks and
 * the calls, from the request to its one response. On the engine thread, outside of Lua, but for what is for
 * bind_webhook.c. */
#pragma once
#include <lua.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "net/loop.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/work/webhook_auth.h"

struct webhook_paths;

/* WEBHOOK_CALLS_MAX: in flight or waiting for a turn, of a script. */
enum { WEBHOOKS_MAX = 100, WEBHOOK_CALLS_MAX = 100 };
enum { WEBHOOK_BODY = 1 << 20, WEBHOOK_BODY_MAX = 16 << 20, WEBHOOK_TIMEOUT_MS = 30000 };

/* Borrowed, until the response. */
struct webhook_request {
    const char *method, *path;
    struct str query, headers; /* "name\0value\0" for each, in their order */
    struct str body;
    uint64_t verified; /* by webhook_paths_verify; 0: not yet */
};

/* Returns the value of the first header of this name; NULL: none. */
const char *webhook_header(const struct webhook_request *request, const char *name);

struct webhook_response {
    int status;
    bool is_json, is_empty; /* the type of the body, unless the headers say it */
    int retry_after_s;      /* 0: not said */
    struct buf allow;       /* of a 405 */
    struct buf headers;     /* "Name: value\n" each */
    struct buf body;
};

void webhook_response_clear(struct webhook_response *response);
/* Makes it one with a status and a line of text, without anything else. */
void webhook_response_set(struct webhook_response *response, int status, const char *text);

/* Methods, as bits. */
enum webhook_method {
    WEBHOOK_GET,
    WEBHOOK_POST,
    WEBHOOK_PUT,
    WEBHOOK_PATCH,
    WEBHOOK_DELETE,
    WEBHOOK_METHODS
};
const char *webhook_method_name(enum webhook_method method);

/* Part of a webhook that is checked before its script is asked. A plain value. */
struct webhook_rules {
    unsigned methods;
    size_t body_max;
    bool has_token; /* one that does not change */
    struct token_digest token;
};

struct webhook {
    struct script *script;
    char *path;
    char *place; /* "scripts/x.lua:12" */
    struct webhook_rules rules;
    int64_t timeout_ms;
    bool leader;
    int function;      /* in the registry */
    int token, secret; /* functions that return them; LUA_NOREF: none */
    char *header;      /* with the signature; NULL: none is asked for */
    struct buf key;    /* of the signature, unless `secret` returns it */
    enum signature_algorithm algorithm;
    struct quarantine quarantine;
    struct failure_log report;
    struct series *requests[6]; /* by the class of the status; NULL: none yet */
};

struct webhook_call;
TAILQ_HEAD(webhook_call_list, webhook_call);

struct script_webhooks {
    struct webhook **items;
    size_t count;
    struct webhook_call_list waiting, running; /* for a turn; begun */
    size_t call_count;                         /* of both */
};

/* May take the buffers. */
typedef void webhook_done(void *ctx, struct webhook_response *response);

/* Has the webhook of this path called, in a turn of its script. `done` is called once. NULL when that was
 * before this returned. */
struct webhook_call *webhook_call_start(struct webhook_paths *paths, const struct webhook_request *request,
                                        webhook_done *done, void *ctx);
/* `done` is called at once. */
void webhook_call_cancel(struct webhook_call *call);
/* NULL: the script has none of this path. */
struct webhook *webhook_find(const struct script *script, const char *path);

/* In the order of registration. */
struct script_webhook_status {
    const char *path; /* borrowed */
    bool leader;
    size_t in_flight; /* requests, with those that wait for a turn */
};
size_t script_webhook_count(const struct script *script);
/* Appends the methods, "GET, POST". */
void script_get_webhook_status(const struct script *script, size_t i, struct script_webhook_status *status,
                               struct buf *methods);
void webhook_put_methods(const struct webhook_rules *rules, struct buf *out);

/* --- webhook_call.c, for bind_webhook.c */

struct webhook_call {
    TAILQ_ENTRY(webhook_call) link;
    struct webhook *hook;
    const struct webhook_request *request;
    struct task *task; /* while it waits; NULL: for a turn */
    struct timer timeout;
    bool is_begun, is_late;
    struct webhook_response response;
    webhook_done *done;
    void *ctx;
};

/* Begins with 0, so that the first failure is seen by rate(); a generation goes on with those of the one
 * before. */
void webhook_open_series(struct webhook *hook);
/* Of the task that runs, which is one. */
struct webhook_call *webhook_call_current(const struct script *script);
/* Begins calls that wait for a turn. */
void webhooks_turn(struct script *script);
/* Refuses calls that were not begun: the script stops. */
void webhooks_refuse_waiting(struct script *script);
/* Calls of leaders end. */
void webhooks_stop_leading(struct script *script);
/* Moves calls that wait for a turn to the next generation. */
void webhooks_move_waiting(struct script *from, struct script *to);
/* Ends calls that were begun, as the script ends. */
void webhooks_cancel(struct script *script);
