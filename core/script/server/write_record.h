/* Record of a write and its outcome, for the write log and for kubelua_writes_total.
 * Owner: the wait that embeds it. On the engine thread; nothing here raises. */
#pragma once
#include "base/buf.h"
#include "object/pack/pool.h"
#include "script/server/write_request.h"
#include "script/vm/host.h"

struct script_writes;

struct write_record {
    struct script *script;
    int64_t begun_us;
    const struct write_function *function;
    struct buf caller, trigger, resource;
    char *ns, *name, *subresource, *manager;
    bool is_secret, is_dry;
};

/* Inside the call that writes. */
void write_record_begin(struct write_record *note, struct script *script,
                        const struct write_request *request);
/* Has the text of a response to the write of a Secret, or its like, say nothing but the reason. */
void write_record_veil(const struct write_record *note, struct err *err);
/* Its end. `answer` is the object that the server has now, NULL for none; `err` NULL: it went well, with
 * `http_status`. */
void write_record_end(struct write_record *note, const struct root *response, int http_status,
                      const struct err *err);
/* Series of one script, one for each verb, resource and code that came up. */
void write_counters_clear(struct script_writes *writes);
