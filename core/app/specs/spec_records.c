/* Records of a script for its spec: writes, Events, lines of the log and of print, failures, each with the
 * time of the clock; see spec_engine.h. */
#include <string.h>

#include "app/specs/spec_engine.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/json_out.h"

static void begin(struct spec_engine *engine, const char *what)
{
    json_open(&engine->records, NULL, '{');
    json_text(&engine->records, "what", what);
    json_int(&engine->records, "at_ms", spec_engine_elapsed_ms(engine));
}

static void end(struct spec_engine *engine)
{
    json_close(&engine->records, '}');
}

static void put_optional(struct buf *out, const char *key, const char *value)
{
    if (value) json_text(out, key, value);
}

/* Appends JSON unchanged. */
static void put_raw(struct buf *out, const char *key, struct str json)
{
    if (json.n) json_raw(out, key, json);
}

/* Appends "merge" for "application/merge-patch+json". */
static void put_patch_type(struct buf *out, const char *content_type)
{
    static const char *const types[][2] = {{"application/merge-patch", "merge"},
                                           {"application/json-patch", "json"},
                                           {"application/strategic-merge-patch", "strategic"},
                                           {"application/apply-patch", "apply"}};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strncmp(content_type, types[i][0], strlen(types[i][0])) == 0) json_text(out, "type", types[i][1]);
}

void spec_engine_note_write(void *ctx, const struct sim_inside_about *about,
                            const struct sim_inside_request *request,
                            const struct sim_inside_response *response)
{
    struct spec_engine *engine = ctx;
    struct buf *out = &engine->records;
    if (!about->resource) return;
    begin(engine, "write");
    put_optional(out, "cluster", engine->writing);
    json_text(out, "verb", about->verb);
    json_text(out, "kind", about->kind);
    json_text(out, "resource", about->resource);
    json_text(out, "apiVersion", about->api_version);
    put_optional(out, "namespace", about->namespace_);
    put_optional(out, "name", about->name);
    put_optional(out, "subresource", about->subresource);
    if (about->dry_run) json_bool(out, "dry_run", true);
    if (strcmp(about->verb, "patch") == 0 && request->content_type)
        put_patch_type(out, request->content_type);
    json_int(out, "code", response->code);
    put_raw(out, "body", request->body);
    put_raw(out, "response", buf_slice(&response->body));
    end(engine);
}

void spec_engine_note_request(void *ctx, const struct spec_web_request *request)
{
    struct spec_engine *engine = ctx;
    struct buf *out = &engine->records;
    begin(engine, "request");
    json_text(out, "method", request->method);
    json_text(out, "url", request->url);
    json_open(out, "headers", '{');
    for (const struct http_header *h = request->headers; h && h->name; h++) json_text(out, h->name, h->value);
    json_close(out, '}');
    if (request->body.p) json_str(out, "body", request->body);
    if (request->status) json_int(out, "status", request->status);
    end(engine);
}

void spec_engine_note_print(void *ctx, struct str line)
{
    struct spec_engine *engine = ctx;
    begin(engine, "print");
    json_str(&engine->records, "text", line);
    end(engine);
}

static void put_fields(struct buf *out, const struct log_field *fields)
{
    json_open(out, "fields", '{');
    for (const struct log_field *f = fields; f->key; f++) {
        json_key(out, str_of(f->key));
        log_put_value(out, f);
    }
    json_close(out, '}');
}

void spec_engine_note_failure(void *ctx, const char *call, const char *error, const char *traceback,
                              const struct log_field *about)
{
    struct spec_engine *engine = ctx;
    struct buf *out = &engine->records;
    begin(engine, "failure");
    json_text(out, "call", call);
    json_text(out, "error", error);
    json_text(out, "traceback", traceback);
    put_fields(out, about);
    end(engine);
}

void spec_engine_note_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                          const struct log_field *fields)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    struct spec_engine *engine = ctx;
    struct buf *out = &engine->records;
    begin(engine, "log");
    json_text(out, "level", levels[level]);
    json_text(out, "message", msg);
    json_text(out, "file", file);
    json_int(out, "line", line);
    put_fields(out, fields);
    end(engine);
}

void spec_engine_note_main(struct spec_engine *engine, const char *result, int exit_code)
{
    begin(engine, "main");
    json_text(&engine->records, "result", result);
    json_int(&engine->records, "code", exit_code);
    end(engine);
}
