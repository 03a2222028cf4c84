/* Notes of writes; see write_record.h. */
#include "script/server/write_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "script/server/write_log.h"
#include "script/vm/args.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

FAMILY(family_writes, 400, COUNTER, "kubelua_writes_total", "script,verb,resource,code", NULL,
       "Number of writes of scripts by response code.");

/* With more the next ones are not counted: `*:create` must not fill the memory. */
enum { COUNTERS_MAX = 1000 };

struct write_counter {
    LIST_ENTRY(write_counter) link;
    char *verb, *resource, *code;
    struct series *series;
};

static void count(struct script *script, const char *verb, const char *resource, const char *code)
{
    struct write_counter *c;
    size_t found = 0;
    LIST_FOREACH (c, &script->own.writes->counters, link) {
        found++;
        if (strcmp(c->verb, verb) == 0 && strcmp(c->resource, resource) == 0 && strcmp(c->code, code) == 0) {
            series_inc(c->series);
            return;
        }
    }
    if (found >= COUNTERS_MAX) return;
    c = NEW(struct write_counter);
    *c = (struct write_counter){.verb = xstrdup(verb), .resource = xstrdup(resource), .code = xstrdup(code)};
    c->series = SERIES(&family_writes, script->id.name, verb, resource, code);
    series_inc(c->series);
    LIST_INSERT_HEAD(&script->own.writes->counters, c, link);
}

void write_counters_clear(struct script_writes *writes)
{
    struct write_counter *c;
    while ((c = LIST_FIRST(&writes->counters))) {
        LIST_REMOVE(c, link);
        series_free(c->series);
        free(c->verb);
        free(c->resource);
        free(c->code);
        free(c);
    }
}

void write_record_begin(struct write_record *note, struct script *script, const struct write_request *r)
{
    *note = (struct write_record){
        .script = script,
        .begun_us = clock_wall_us(script_clock(script)),
        .function = r->function,
        .ns = xstrdup(r->ns),
        .name = xstrdup(r->name),
        .subresource = xstrdup(r->subresource),
        .manager = xstrdup(r->manager),
        .is_secret = write_request_is_secret(r),
        .is_dry = r->dry_run,
    };
    write_request_resource(r, &note->resource);
    task_describe(&script->tasks, &note->caller, &note->trigger);
}

/* As client-go's metrics have it: the status, or that there was none. */
static const char *code_of(int http_status, char text[16])
{
    if (!http_status) return "<error>";
    snprintf(text, 16, "%d", http_status);
    return text;
}

/* A server may repeat in its message what is wrong with a value. */
static const char *message_of(const struct write_record *note, const struct err *err)
{
    return !err || note->is_secret ? "" : err->text;
}

void write_record_veil(const struct write_record *note, struct err *err)
{
    if (!note->is_secret || !err->http_status) return;
    snprintf(err->text, sizeof err->text,
             "%s: %s (the server's message is hidden because it may contain secrets)", note->function->name,
             err_reason(err));
}

static void put_in_write_log(struct write_record *note, const struct root *response, const struct err *err,
                             const char *dry_run)
{
    const struct script *script = note->script;
    struct buf name = {0}, version = {0};
    struct text text;
    buf_puts(&name, note->name);
    if (response && !name.len) buf_str(&name, root_name(response, &text)); /* that the server found */
    if (response) buf_str(&version, root_resource_version(response, &text));
    write_log_add(script->host->audit,
                  &(struct write_log_entry){
                      .time_us = note->begun_us,
                      .took_ms = (clock_wall_us(script_clock(script)) - note->begun_us) / 1000,
                      .script = script->id.name,
                      .hash = script->id.hash,
                      .caller = buf_text(&note->caller),
                      .trigger = buf_text(&note->trigger),
                      .verb = note->function->access_name,
                      .resource = buf_text(&note->resource),
                      .subresource = note->subresource,
                      .namespace_ = note->ns,
                      .name = buf_text(&name),
                      .manager = note->manager,
                      .dry_run = dry_run,
                      .result = err ? err_reason(err) : "ok",
                      .code = err ? err->http_status : 0,
                      .message = message_of(note, err),
                      .resource_version = buf_text(&version),
                  });
    buf_clear(&name);
    buf_clear(&version);
}

void write_record_end(struct write_record *note, const struct root *response, int http_status,
                      const struct err *err)
{
    struct script *script = note->script;
    char code[16];
    script->report.counters.failed_writes += err != NULL;
    bool sent = script->host->write_mode != WRITES_RECORDED;
    const char *dry_run = !sent ? "client" : note->is_dry ? "server" : "";
    if (err) http_status = err->http_status;
    if (sent)
        count(script, note->function->access_name, buf_text(&note->resource), code_of(http_status, code));
    if (script->host->audit) put_in_write_log(note, response, err, dry_run);
    buf_clear(&note->caller);
    buf_clear(&note->trigger);
    buf_clear(&note->resource);
    free(note->ns);
    free(note->name);
    free(note->subresource);
    free(note->manager);
}
