/* Notes of writes; see write_record.h. */
#include "script/server/write_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "informer/history/history.h"
#include "script/server/write_log.h"
#include "script/server/write_request.h"
#include "script/vm/args.h"
#include "script/vm/bundle.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

FAMILY(family_writes, 400, COUNTER, "kubelua_writes_total", "script,cluster,verb,resource,code", NULL,
       "Number of writes of scripts by response code.");

/* Limit of distinct kinds that are counted: `*:create` must not fill the memory with series. */
enum { COUNTERS_MAX = 1000 };

struct write_counter {
    LIST_ENTRY(write_counter) link;
    char *cluster, *verb, *resource, *code;
    struct series *series;
};

static bool is_of(const struct write_counter *c, const char *cluster, const char *verb, const char *resource,
                  const char *code)
{
    return strcmp(c->cluster, cluster) == 0 && strcmp(c->verb, verb) == 0 &&
           strcmp(c->resource, resource) == 0 && strcmp(c->code, code) == 0;
}

/* `cluster`: "" for the home cluster. */
static void count(struct script *script, const char *cluster, const char *verb, const char *resource,
                  const char *code)
{
    struct write_counter *c;
    size_t found = 0;
    LIST_FOREACH (c, &script->own.writes->counters, link) {
        found++;
        if (is_of(c, cluster, verb, resource, code)) {
            series_inc(c->series);
            return;
        }
    }
    if (found >= COUNTERS_MAX) return;
    c = NEW(struct write_counter);
    *c = (struct write_counter){.cluster = xstrdup(cluster),
                                .verb = xstrdup(verb),
                                .resource = xstrdup(resource),
                                .code = xstrdup(code)};
    c->series = SERIES(&family_writes, script->id.name, cluster, verb, resource, code);
    series_inc(c->series);
    LIST_INSERT_HEAD(&script->own.writes->counters, c, link);
}

void write_counters_clear(struct script_writes *writes)
{
    struct write_counter *c;
    while ((c = LIST_FIRST(&writes->counters))) {
        LIST_REMOVE(c, link);
        series_free(c->series);
        free(c->cluster);
        free(c->verb);
        free(c->resource);
        free(c->code);
        free(c);
    }
}

/* Returns the hash of the script's file, which only writes need: it is computed with the first one. */
static const char *hash_of(struct script *script)
{
    char hash[BUNDLE_HASH_LEN + 1];
    if (!*script->id.hash) {
        bundle_hash(script->id.bundle, hash);
        memcpy(script->id.hash, hash, sizeof script->id.hash - 1);
    }
    return script->id.hash;
}

void write_record_begin(struct write_record *record, struct script *script,
                        const struct cluster_parts *cluster, const struct object_request *request)
{
    struct object_request kept = *request;
    kept.body = (struct str){0};
    kept.fence = NULL;
    *record = (struct write_record){
        .begun_us = clock_wall_us(script_clock(script)),
        .script = script->id.name,
        .hash = hash_of(script),
        .request = object_request_copy(&kept),
        .cluster = cluster,
        .is_recorded = script->write_mode == WRITES_RECORDED,
    };
    task_describe(&script->tasks, &record->caller, &record->trigger);
}

/* Their reasons and fields stay: they are names, while messages repeat what was sent. */
static void veil_causes(struct err *err)
{
    struct err veiled;
    struct err_cause cause;
    err_clear(&veiled);
    for (size_t at = 0; err_next_cause(err, &at, &cause);) {
        if (cause.message.n) cause.message = STR("hidden because it may contain secrets");
        if (!err_add_cause(&veiled, &cause)) break;
    }
    memcpy(err->causes, veiled.causes, veiled.causes_len);
    err->causes_len = veiled.causes_len;
}

void write_record_veil(const struct write_record *record, struct err *err)
{
    if (!write_request_is_secret(record->request) || !err->http_status) return;
    snprintf(err->text, sizeof err->text,
             "%s: %s (the server's message is hidden because it may contain secrets)",
             write_function_of(record->request)->name, err_reason(err));
    veil_causes(err);
}

/* As client-go's metrics have it: the status, or that there was none. */
static void count_sent(struct script *script, const struct write_record *record, int http_status)
{
    const struct object_request *request = record->request;
    const char *cluster = record->cluster && record->cluster->name ? record->cluster->name : "";
    struct buf resource = {0}, code = {0};
    write_request_resource(request, &resource);
    if (http_status)
        buf_printf(&code, "%d", http_status);
    else
        buf_puts(&code, "<error>");
    count(script, cluster, write_function_of(request)->access_name, buf_text(&resource), buf_text(&code));
    buf_clear(&resource);
    buf_clear(&code);
}

/* Counts a failed write. A script may expect a 404 or 409: such a write has failed if the call fails too,
 * which is known at its end. */
static void count_failed(struct task *task, struct script *script, const struct object_response *response)
{
    int status = response->err ? response->err->http_status : 0;
    task->write_refused = status == 404 || status == 409;
    script->report.counters.failed_writes += response->err && !task->write_refused;
}

/* The history names the script beside the version that it wrote. */
static void note_version(const struct write_record *record, const struct object_response *response)
{
    struct history *history = record->cluster->history;
    if (history && response->object && !record->is_recorded && !record->request->dry_run)
        history_note_write(history, record->request->place.resource, response->object, record->script);
}

void write_record_end(struct write_record *record, struct task *task, const struct object_response *response)
{
    struct script *script = task->script;
    count_failed(task, script, response);
    if (!record->is_recorded) count_sent(script, record, response->http_status);
    note_version(record, response);
    if (script->host->audit)
        write_log_add(script->host->audit, record, clock_wall_us(script_clock(script)), response);
    buf_clear(&record->caller);
    buf_clear(&record->trigger);
    object_request_free(record->request);
}
