/* Schedule of writing reports; see policy_writer.h. */
#include "audit/policy/policy_writer.h"

#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_writer_internal.h"
#include "base/log.h"

enum {
    TICK_MS = 1000,
    NEXT_MS = 5,          /* pause between two documents */
    UNDER_WAY_MAX = 32,   /* writes in flight before the next namespace */
    WAITING_BYTES = 1000, /* bound of names of rules or kinds in a reason */
};

/* --- reasons for incomplete reports */

/* Sets the reason. The string stays the same while its cause does, as a new one causes all reports to be
 * written again. */
static void set_incomplete(struct policy_writer *writer, struct buf *why)
{
    struct policy_namespace *space, *next;
    if (str_eq(buf_slice(&writer->incomplete), buf_slice(why))) return;
    writer->incomplete.len = 0;
    buf_str(&writer->incomplete, buf_slice(why));
    buf_text(&writer->incomplete); /* NUL-terminated for the status */
    HASH_ITER (hh, writer->spaces, space, next) policy_namespace_wait(writer, space);
}

static void put_refused(const struct policy_outlook *outlook, struct buf *why)
{
    if (*outlook->refused)
        buf_printf(why, "%sObjects are missing because the engine refused them (see kubelua status): %.*s",
                   why->len ? ". " : "", WAITING_BYTES, outlook->refused);
}

static void observe(struct policy_writer *writer, int64_t now_ms)
{
    struct policy_outlook outlook = {.waiting = "", .refused = ""};
    struct buf why = {0};
    writer->options.observe(writer->options.ctx, &outlook);
    bool waits = *outlook.waiting;
    if (!waits) writer->waiting_ms = -1;
    if (waits && writer->waiting_ms < 0) writer->waiting_ms = now_ms;
    bool long_enough = waits && now_ms - writer->waiting_ms >= POLICY_WAIT_MS;
    writer->is_paused = waits && !long_enough;
    bool is_complete = !writer->is_paused && outlook.pending == 0;
    if (is_complete) writer->is_late = false;
    if (!is_complete && !writer->begun) writer->is_late = now_ms - writer->active_ms >= POLICY_BEGIN_MS;
    writer->begun |= is_complete || writer->is_late;
    if (long_enough)
        buf_printf(&why, "Rules are not evaluated because their caches have not synced: %.*s", WAITING_BYTES,
                   outlook.waiting);
    put_refused(&outlook, &why);
    if (outlook.findings_left_out)
        buf_printf(&why, "%sFindings are omitted because of the memory limit of %d MiB", why.len ? ". " : "",
                   CONTINUOUS_FINDING_BYTES_MAX >> 20);
    if (writer->is_late) buf_printf(&why, "%s" POLICY_NOT_ALL_EVALUATED, why.len ? ". " : "");
    set_incomplete(writer, &why);
    buf_clear(&why);
}

/* --- writes */

/* Returns whether the namespace is terminating, or gone: nothing new can be stored there, however often it is
 * sent, and the objects of one that is created again are new. */
static bool is_terminating(const struct err *err)
{
    return (err->http_status == 403 && strstr(err->text, "being terminated")) ||
           (err->http_status == 404 && strstr(err->text, "namespaces \""));
}

static void write_failed(struct policy_writer *writer, struct policy_namespace *space, const struct err *err)
{
    writer->failed++;
    if (is_terminating(err)) return;
    writer->err = *err;
    if (!writer->write_logged)
        log_warn("Failed to write policy report, retrying; further failures are only counted",
                 F("namespace", space->ns), F("err", err->text));
    writer->write_logged = true;
    /* Several documents of one pass may fail: the delay is doubled once. */
    if (space->failed) return;
    space->failed = true;
    space->retry_ms = space->retry_ms ? space->retry_ms * 2 : POLICY_RETRY_MS;
    if (space->retry_ms > POLICY_RETRY_MAX_MS) space->retry_ms = POLICY_RETRY_MAX_MS;
}

/* Queues namespaces that had no room for reports. */
static void take_in(struct policy_writer *writer)
{
    struct policy_namespace *space, *next;
    if (!writer->left_out_count) return;
    HASH_ITER (hh, writer->spaces, space, next)
        if (space->left_out) policy_namespace_wait(writer, space);
}

static void write_done(struct policy_writer *writer, struct policy_write_call *flight)
{
    struct known_part *part = policy_namespace_part(flight->space, flight->part);
    writer->write_logged = false;
    err_clear(&writer->err);
    policy_namespace_set_part(writer, part, !flight->deletes);
    memcpy(part->content, flight->content, sizeof part->content);
    part->seen = true; /* a list in flight may lack it */
    if (!flight->deletes) {
        writer->written++;
        return;
    }
    writer->deleted++;
    take_in(writer);
}

void policy_writer_settle(struct policy_writer *writer, struct policy_namespace *space)
{
    space->under_way--;
    if (space->under_way) return;
    if (space->failed) {
        policy_namespace_wait(writer, space);
        space->not_before_ms = clock_now_ms(writer->options.clock) + space->retry_ms;
    } else {
        space->retry_ms = 0;
        policy_namespace_tidy(writer, space);
    }
}

void policy_writer_wrote(struct policy_writer *writer, struct policy_write_call *flight,
                         const struct err *err)
{
    struct policy_namespace *space = flight->space;
    LIST_REMOVE(flight, link);
    writer->flight_count--;
    writer->coming -= flight->is_new;
    if (err && !(flight->deletes && err->http_status == 404)) {
        *policy_namespace_part(space, flight->part)->content = '\0'; /* may have been carried out */
        write_failed(writer, space, err);
    } else
        write_done(writer, flight);
    free(flight);
    policy_writer_settle(writer, space);
}

/* --- ticks */

/* Starts the next namespace; false if none is due. */
static bool write_next(struct policy_writer *writer, int64_t now_ms)
{
    struct policy_namespace *space;
    TAILQ_FOREACH (space, &writer->waiting, link)
        if (policy_namespace_is_due(writer, space, now_ms)) {
            policy_namespace_begin(writer, space);
            return true;
        }
    return false;
}

static void on_tick(struct timer *timer)
{
    struct policy_writer *writer = container_of(timer, struct policy_writer, tick);
    int64_t now_ms = clock_now_ms(writer->options.clock), wait_ms = 0;
    bool wrote = false;
    policy_list(writer, now_ms);
    observe(writer, now_ms);
    if (policy_namespace_continue(writer))
        wrote = true;
    else if (writer->begun && !writer->is_paused && writer->flight_count < UNDER_WAY_MAX) {
        /* Looks for a token without using it: send takes one for each document. */
        wait_ms = token_bucket_take(&writer->rate, now_ms);
        token_bucket_give_back(&writer->rate, wait_ms, now_ms);
        wrote = wait_ms == 0 && write_next(writer, now_ms);
    }
    timer_start(timer, writer->options.clock, wrote ? NEXT_MS : TICK_MS);
}

void policy_writer_changed(struct policy_writer *writer, struct str ns)
{
    if (writer->active) policy_namespace_wait(writer, policy_namespace_get(writer, ns));
}

/* --- start and stop */

struct policy_writer *policy_writer_new(const struct policy_writer_options *options)
{
    struct policy_writer *writer = NEW(struct policy_writer);
    writer->options = *options;
    writer->name = xstrdup(options->name);
    writer->instance = xstrdup(options->instance);
    writer->tick.fn = on_tick;
    TAILQ_INIT(&writer->waiting);
    LIST_INIT(&writer->flights);
    token_bucket_start(&writer->rate, POLICY_RATE, POLICY_BURST, clock_now_ms(options->clock));
    return writer;
}

static void forget(struct policy_writer *writer)
{
    struct policy_write_call *flight;
    struct policy_namespace *space, *next;
    timer_cancel(&writer->tick);
    /* Calls in flight go first: their results would arrive for namespaces that are freed below. */
    writer->options.cancel(writer->options.ctx);
    if (writer->round.space) policy_namespace_end(writer);
    while ((flight = LIST_FIRST(&writer->flights))) {
        LIST_REMOVE(flight, link);
        free(flight);
    }
    writer->flight_count = writer->coming = 0;
    HASH_ITER (hh, writer->spaces, space, next) policy_namespace_free(writer, space);
    memset(writer->scopes, 0, sizeof writer->scopes);
    writer->incomplete.len = 0;
    writer->begun = writer->is_late = writer->full_logged = writer->write_logged = false;
    err_clear(&writer->err);
}

void policy_writer_free(struct policy_writer *writer)
{
    if (!writer) return;
    forget(writer);
    buf_clear(&writer->incomplete);
    free(writer->name);
    free(writer->instance);
    free(writer);
}

void policy_writer_set_active(struct policy_writer *writer, bool active)
{
    if (active == writer->active) return;
    writer->active = active;
    if (!active) {
        forget(writer);
        return;
    }
    writer->active_ms = clock_now_ms(writer->options.clock);
    writer->waiting_ms = -1;
    timer_start(&writer->tick, writer->options.clock, 0);
}

struct policy_writer_status policy_writer_status(const struct policy_writer *writer)
{
    const char *error = writer->err.code ? writer->err.text : "";
    for (size_t i = 0; i < ARRAY_LEN(writer->scopes); i++)
        if (writer->scopes[i].err.code) error = writer->scopes[i].err.text;
    return (struct policy_writer_status){.active = writer->active,
                                         .begun = writer->begun,
                                         .reports = writer->reports,
                                         .waiting = writer->waiting_count,
                                         .left_out = writer->left_out_count,
                                         .under_way = writer->flight_count,
                                         .written = writer->written,
                                         .deleted = writer->deleted,
                                         .failed = writer->failed,
                                         .incomplete = writer->incomplete.len ? writer->incomplete.data : "",
                                         .error = error};
}
