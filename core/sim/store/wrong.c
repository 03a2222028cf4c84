/* Kinds of faults; see wrong.h. */
#include "sim/store/wrong.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/object/status.h"
#include "sim/store/action.h"
#include "sim/store/form.h"
#include "sim/text/duration.h"
#include "sim/text/tree.h"

enum { OVERSIZE = 9 << 20 };

static const char *const names[] = {
    [SIM_WRONG_STATUS] = "status",
    [SIM_WRONG_DELAY] = "delay",
    [SIM_WRONG_CLOSE] = "close",
    [SIM_WRONG_RESET] = "reset",
    [SIM_WRONG_SILENCE] = "silence",
    [SIM_WRONG_PAUSE] = "pause",
    [SIM_WRONG_CUT] = "cut",
    [SIM_WRONG_HALF_LINE] = "half-line",
    [SIM_WRONG_INVALID_JSON] = "invalid-json",
    [SIM_WRONG_UNKNOWN_TYPE] = "unknown-type",
    [SIM_WRONG_NO_METADATA] = "no-metadata",
    [SIM_WRONG_OVERSIZE] = "oversize",
    [SIM_WRONG_ERROR_EVENT] = "error-event",
    [SIM_WRONG_END] = "end",
    [SIM_WRONG_LINE] = "line",
    [SIM_WRONG_NO_END] = "no-end-bookmark",
    [SIM_WRONG_IGNORE_INITIAL] = "ignore-initial-events",
};

static char *text_or(const json_t *step, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(step, key));
    return xstrdup(text ? text : otherwise);
}

void sim_wrong_read(const json_t *step, struct sim_wrong *wrong)
{
    const json_t *after = json_object_get(step, "after");
    const char *what = sim_text_at(step, "what");
    *wrong = (struct sim_wrong){
        .size = OVERSIZE, .in_stream = after != NULL, .after = (size_t)json_integer_value(after)};
    while (strcmp(what, names[wrong->kind]) != 0) must(++wrong->kind < ARRAY_LEN(names));
    sim_duration_read(json_object_get(step, "for"), &wrong->for_ms);
    if (json_object_get(step, "size")) sim_size_read(json_object_get(step, "size"), &wrong->size);
    wrong->code = (int)sim_int_at(step, "code", wrong->kind == SIM_WRONG_ERROR_EVENT ? 410 : 500);
    wrong->retry_after_s = (int)sim_int_at(step, "retry_after", 0);
    wrong->reason = text_or(step, "reason", sim_status_reason(wrong->code));
    wrong->message = text_or(step, "message", "the scenario wants it so");
    wrong->text = text_or(step, "text", "");
}

void sim_wrong_clear(struct sim_wrong *wrong)
{
    free(wrong->reason);
    free(wrong->message);
    free(wrong->text);
    *wrong = (struct sim_wrong){0};
}

bool sim_wrong_is_response(const struct sim_wrong *wrong)
{
    switch (wrong->kind) {
    case SIM_WRONG_STATUS:
    case SIM_WRONG_DELAY: return true;
    case SIM_WRONG_CLOSE:
    case SIM_WRONG_RESET:
    case SIM_WRONG_SILENCE: return !wrong->in_stream;
    default: return false;
    }
}

json_t *sim_wrong_status(const struct sim_wrong *wrong)
{
    json_t *status = sim_status(wrong->code, wrong->reason, wrong->message, NULL, NULL);
    if (wrong->retry_after_s)
        json_object_set_new(sim_submap(status, "details"), "retryAfterSeconds",
                            json_integer(wrong->retry_after_s));
    return status;
}

/* A stream that something is put into. */
struct wrong_stream {
    struct sim_api *api;
    const struct sim_served *served;
    const char *namespace_; /* of its objects; NULL: any */
    bool watch;
};

/* Kind and apiVersion, then `members`, as an event; without the former as an item, if `type` is NULL. */
static void write_object(struct buf *out, const struct sim_served *served, const char *type,
                         const char *members)
{
    if (type)
        buf_printf(out, "{\"type\":\"%s\",\"object\":{%s%s}}\n", type, served->head, members);
    else
        buf_printf(out, "{%s}", members);
}

/* The beginning of the metadata of an object that is not stored: such as the stream may have. */
static void write_place(struct buf *out, const struct wrong_stream *stream, const char *name)
{
    buf_printf(out, "\"metadata\":{\"name\":\"%s\",", name);
    if (stream->served->kind->namespaced)
        buf_printf(out, "\"namespace\":\"%s\",", stream->namespace_ ? stream->namespace_ : "default");
}

static void invent(struct buf *out, const struct wrong_stream *stream, const char *type)
{
    struct buf members = {0};
    write_place(&members, stream, "half");
    buf_puts(&members, "\"resourceVersion\":\"1\"}");
    write_object(out, stream->served, type, buf_text(&members));
    buf_clear(&members);
}

/* Any object of the stream, as an event or as an item. */
static void real_object(struct buf *out, const struct wrong_stream *stream, const char *type)
{
    struct sim_out text = {0};
    struct sim_event_form form = {.served = stream->served, .form = SIM_FORM_JSON};
    struct omap_cursor cursor;
    char *prefix = stream->namespace_ ? xasprintf("%s/", stream->namespace_) : xstrdup("");
    sim_store_lock(stream->api->store);
    omap_seek(&cursor, stream->served->resource->map, prefix);
    const struct sim_object *object = omap_next(&cursor);
    if (object && strncmp(object->key, prefix, strlen(prefix)) != 0) object = NULL;
    if (object && type)
        sim_form_event(&text, &form, type, object, 0);
    else if (object)
        sim_form_item(&text, stream->served, SIM_FORM_JSON, object);
    sim_store_unlock(stream->api->store);
    if (object)
        buf_str(out, buf_slice(&text.kept));
    else
        invent(out, stream, type);
    sim_out_clear(&text);
    free(prefix);
}

static void half(struct buf *out, const struct wrong_stream *stream)
{
    real_object(out, stream, stream->watch ? "MODIFIED" : NULL);
    out->len /= 2;
}

static void oversize(struct buf *out, const struct sim_wrong *wrong, const struct wrong_stream *stream)
{
    struct buf members = {0};
    write_place(&members, stream, "oversize");
    buf_puts(&members, "\"uid\":\"00000000-0000-4000-8000-000000000000\",\"resourceVersion\":\"1\","
                       "\"annotations\":{\"pad\":\"");
    memset(buf_reserve(&members, wrong->size), 'x', wrong->size);
    members.len += wrong->size;
    buf_puts(&members, "\"}}");
    write_object(out, stream->served, stream->watch ? "ADDED" : NULL, buf_text(&members));
    buf_clear(&members);
}

static void bytes_of(struct buf *out, const struct sim_wrong *wrong, const struct wrong_stream *stream)
{
    bool watch = stream->watch;
    switch (wrong->kind) {
    case SIM_WRONG_CUT:
    case SIM_WRONG_HALF_LINE: half(out, stream); break;
    case SIM_WRONG_INVALID_JSON:
        buf_puts(out, watch ? "{\"type\":\"MODIFIED\",\"object\":{]}\n" : "{\"metadata\":}");
        break;
    case SIM_WRONG_UNKNOWN_TYPE: real_object(out, stream, "RENAMED"); break;
    case SIM_WRONG_NO_METADATA:
        write_object(out, stream->served, watch ? "ADDED" : NULL, "\"spec\":{}");
        break;
    case SIM_WRONG_OVERSIZE: oversize(out, wrong, stream); break;
    case SIM_WRONG_ERROR_EVENT: sim_form_error(out, sim_wrong_status(wrong)); break;
    case SIM_WRONG_LINE: buf_printf(out, watch ? "%s\n" : "%s", wrong->text); break;
    default: break;
    }
}

static enum sim_then then_of(const struct sim_wrong *wrong)
{
    switch (wrong->kind) {
    case SIM_WRONG_CLOSE:
    case SIM_WRONG_CUT: return SIM_THEN_CUT;
    case SIM_WRONG_RESET: return SIM_THEN_RESET;
    case SIM_WRONG_SILENCE: return wrong->for_ms ? SIM_THEN_GO_ON : SIM_THEN_SILENCE;
    case SIM_WRONG_HALF_LINE:
    case SIM_WRONG_ERROR_EVENT:
    case SIM_WRONG_END: return SIM_THEN_END;
    default: return SIM_THEN_GO_ON;
    }
}

bool sim_wrong_is_end(const struct sim_wrong *wrong)
{
    return wrong->kind == SIM_WRONG_STATUS || then_of(wrong) != SIM_THEN_GO_ON;
}

bool sim_wrong_suits(const struct sim_wrong *wrong, const char *verb)
{
    if (sim_wrong_is_response(wrong) || strcmp(verb, "watch") == 0) return true;
    bool watches_only = wrong->kind == SIM_WRONG_NO_END || wrong->kind == SIM_WRONG_IGNORE_INITIAL ||
                        wrong->kind == SIM_WRONG_UNKNOWN_TYPE || wrong->kind == SIM_WRONG_ERROR_EVENT;
    return !watches_only && strcmp(verb, "list") == 0;
}

struct sim_action *sim_wrong_action(const struct sim_wrong *wrong, struct sim_api *api,
                                    const struct sim_served *served, const char *namespace_, bool watch)
{
    struct buf text = {0};
    bytes_of(&text, wrong, &(const struct wrong_stream){api, served, namespace_, watch});
    size_t len = text.len;
    struct sim_action *action =
        sim_action_new(wrong->after, len ? buf_take(&text) : NULL, len, then_of(wrong));
    if (wrong->kind == SIM_WRONG_PAUSE || wrong->kind == SIM_WRONG_SILENCE) action->pause_ms = wrong->for_ms;
    buf_clear(&text);
    return action;
}

/* --- Wrong things to do */

struct sim_action *sim_action_new(size_t after, char *text, size_t len, enum sim_then then)
{
    struct sim_action *action = NEW(struct sim_action);
    *action = (struct sim_action){.after = after, .text = text, .len = len, .then = then};
    return action;
}

struct sim_action *sim_action_copy(const struct sim_action *action)
{
    struct sim_action *copy = sim_action_new(
        action->after, action->text ? xstrndup(action->text, action->len) : NULL, action->len, action->then);
    copy->pause_ms = action->pause_ms;
    return copy;
}

void sim_action_free(struct sim_action *action)
{
    if (!action) return;
    free(action->text);
    free(action);
}

struct sim_action *sim_actions_due(struct sim_actions *actions, size_t done)
{
    struct sim_action *action;
    STAILQ_FOREACH (action, actions, link)
        if (action->after <= done) break;
    if (action) STAILQ_REMOVE(actions, action, sim_action, link);
    return action;
}

void sim_actions_clear(struct sim_actions *actions)
{
    struct sim_action *action;
    while ((action = STAILQ_FIRST(actions))) {
        STAILQ_REMOVE_HEAD(actions, link);
        sim_action_free(action);
    }
}
