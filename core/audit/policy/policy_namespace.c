/* A namespace and its reports; see policy_writer_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_writer_internal.h"
#include "base/array.h"
#include "base/log.h"

/* --- namespaces */

struct policy_namespace *policy_namespace_find(struct policy_writer *writer, struct str ns)
{
    struct policy_namespace *space;
    HASH_FIND(hh, writer->spaces, ns.p ? ns.p : "", ns.n, space);
    return space;
}

struct policy_namespace *policy_namespace_get(struct policy_writer *writer, struct str ns)
{
    struct policy_namespace *space = policy_namespace_find(writer, ns);
    if (space) return space;
    space = NEW(struct policy_namespace);
    space->ns = xstrndup(ns.p ? ns.p : "", ns.n);
    HASH_ADD_KEYPTR(hh, writer->spaces, space->ns, ns.n, space);
    return space;
}

static void leave(struct policy_writer *writer, struct policy_namespace *space)
{
    if (space->waits) {
        TAILQ_REMOVE(&writer->waiting, space, link);
        writer->waiting_count--;
    }
    if (space->left_out) writer->left_out_count--;
    space->waits = space->left_out = false;
}

void policy_namespace_free(struct policy_writer *writer, struct policy_namespace *space)
{
    leave(writer, space);
    for (size_t i = 0; i < space->part_count; i++) policy_namespace_set_part(writer, &space->parts[i], false);
    HASH_DEL(writer->spaces, space);
    free(space->parts);
    free(space->ns);
    free(space);
}

void policy_namespace_tidy(struct policy_writer *writer, struct policy_namespace *space)
{
    while (space->part_count && !space->parts[space->part_count - 1].there) space->part_count--;
    if (!space->part_count && !space->waits && !space->left_out && !space->under_way)
        policy_namespace_free(writer, space);
}

/* --- reports */

struct known_part *policy_namespace_part(struct policy_namespace *space, size_t part)
{
    while (part >= space->part_count) *array_add(space->parts, space->part_count) = (struct known_part){0};
    return &space->parts[part];
}

void policy_namespace_set_part(struct policy_writer *writer, struct known_part *part, bool there)
{
    if (part->there != there) writer->reports += there ? 1 : (size_t)-1;
    part->there = there;
    if (!there) *part->content = '\0';
}

/* --- schedule */

void policy_namespace_wait(struct policy_writer *writer, struct policy_namespace *space)
{
    int64_t now_ms = clock_now_ms(writer->options.clock);
    space->changed_ms = now_ms;
    if (space->waits) return;
    leave(writer, space);
    space->first_ms = now_ms;
    space->waits = true;
    TAILQ_INSERT_TAIL(&writer->waiting, space, link);
    writer->waiting_count++;
}

bool policy_namespace_is_due(const struct policy_writer *writer, const struct policy_namespace *space,
                             int64_t now_ms)
{
    if (space->under_way || now_ms < space->not_before_ms || !writer->scopes[!*space->ns].listed)
        return false;
    return now_ms - space->changed_ms >= POLICY_QUIET_MS || now_ms - space->first_ms >= POLICY_LATEST_MS;
}

/* --- writing */

static void send(struct policy_writer *writer, struct policy_namespace *space, size_t part,
                 const char *content, struct str body)
{
    struct policy_write_call *flight = NEW(struct policy_write_call);
    struct buf name = {0};
    int64_t now_ms = clock_now_ms(writer->options.clock);
    flight->space = space;
    flight->part = part;
    flight->deletes = !body.p;
    flight->is_new = body.p && !space->parts[part].there;
    if (content) memcpy(flight->content, content, sizeof flight->content);
    LIST_INSERT_HEAD(&writer->flights, flight, link);
    writer->flight_count++;
    writer->coming += flight->is_new;
    space->under_way++;
    token_bucket_take(&writer->rate, now_ms);
    policy_put_name(writer->name, part + 1, &name);
    const struct policy_write write = {space->ns, buf_text(&name), body};
    writer->options.write(writer->options.ctx, &write, flight);
    buf_clear(&name);
}

static bool has_room(struct policy_writer *writer, struct policy_namespace *space)
{
    if (writer->reports + writer->coming < writer->options.max_reports) return true;
    if (!space->left_out) writer->left_out_count++;
    space->left_out = true;
    if (!writer->full_logged)
        log_warn("Policy report limit reached, some namespaces have no report", F("namespace", space->ns),
                 FI("limit", writer->options.max_reports));
    writer->full_logged = true;
    return false;
}

static void write_part(struct policy_writer *writer, struct policy_namespace *space,
                       struct policy_parts *parts, size_t i)
{
    struct known_part *known = policy_namespace_part(space, i);
    char content[POLICY_CONTENT_SIZE];
    struct buf body = {0};
    policy_parts_content(parts, i, content);
    /* The hash spares the write and its event when the report would not change. */
    if (known->there && strcmp(known->content, content) == 0) return;
    if (!known->there && !has_room(writer, space)) return;
    policy_parts_put(parts, i, clock_wall_us(writer->options.clock) / 1000000, content, &body);
    send(writer, space, i, content, buf_slice(&body));
    buf_clear(&body);
}

void policy_namespace_begin(struct policy_writer *writer, struct policy_namespace *space)
{
    struct policy_pass *round = &writer->round;
    leave(writer, space);
    space->failed = false;
    /* The pass counts too: the namespace must not be freed while it is gathered. */
    space->under_way++;
    round->space = space;
    round->first_ms = space->first_ms;
    round->parts = policy_parts_new(&(const struct policy_parts_options){
        .api = writer->options.api,
        .name = writer->name,
        .instance = writer->instance,
        .ns = str_of(space->ns),
        .incomplete = writer->incomplete.len ? buf_text(&writer->incomplete) : NULL,
        .before = space->part_count,
        .walk = writer->options.walk(writer->options.ctx, str_of(space->ns))});
}

static int64_t measure(const struct policy_writer *writer)
{
    return writer->options.now_ns ? writer->options.now_ns() : clock_thread_ns();
}

/* Gathers results until its time is over. A namespace that changes meanwhile is written again after this
 * round. */
static void gather(struct policy_writer *writer, int64_t end_ns)
{
    enum { STEP = 64 }; /* results, from one look at the time to the next */
    struct policy_pass *round = &writer->round;
    while (policy_parts_gather(round->parts, STEP))
        if (measure(writer) >= end_ns) return;
    round->gathered = true;
}

/* Writes the next document; returns false after the last. */
static bool write_document(struct policy_writer *writer)
{
    struct policy_pass *round = &writer->round;
    size_t count = policy_parts_count(round->parts);
    if (round->next < count) write_part(writer, round->space, round->parts, round->next++);
    return round->next < count;
}

/* Deletes nothing while rules are not evaluated: the reports may be theirs. */
static void delete_others(struct policy_writer *writer, struct policy_namespace *space, size_t count)
{
    if (writer->round.unevaluated || (!count && writer->waiting_ms >= 0)) return;
    for (size_t i = count; i < space->part_count; i++)
        if (space->parts[i].there) send(writer, space, i, NULL, (struct str){0});
}

/* Ends the pass and sets the earliest time of the next: a large namespace costs more, and is written less
 * often. */
static void end_round(struct policy_writer *writer, int64_t least_ms)
{
    enum { SHARE = 200 }; /* divisor: share of the thread's time for one namespace */
    struct policy_pass *round = &writer->round;
    int64_t rest_ms = round->spent_ns / 1000000 * SHARE;
    round->space->not_before_ms =
        clock_now_ms(writer->options.clock) + (rest_ms > least_ms ? rest_ms : least_ms);
    policy_parts_free(round->parts);
    *round = (struct policy_pass){0};
}

void policy_namespace_end(struct policy_writer *writer)
{
    end_round(writer, POLICY_COOLDOWN_MS);
}

/* --- missing results */

/* Returns whether the pass must wait. After a reload, missing results of new rules are not gone: they are
 * only not evaluated yet. */
static bool is_to_be_put_off(struct policy_writer *writer)
{
    struct policy_pass *round = &writer->round;
    if (writer->is_paused) return true;
    round->unevaluated = policy_parts_unevaluated(round->parts) > 0;
    if (!round->unevaluated) return false;
    if (clock_now_ms(writer->options.clock) - round->first_ms < POLICY_LATEST_MS) return true;
    if (!writer->is_late) policy_parts_add_incomplete(round->parts, POLICY_NOT_ALL_EVALUATED);
    return false;
}

/* Queues the namespace again without writing it. The time of its first change stays, so that the wait is
 * bounded. */
static void put_off(struct policy_writer *writer)
{
    struct policy_namespace *space = writer->round.space;
    int64_t first_ms = writer->round.first_ms;
    end_round(writer, 0);
    policy_namespace_wait(writer, space);
    space->first_ms = first_ms;
    policy_writer_settle(writer, space);
}

/* --- pass, a slice at a time */

static void finish(struct policy_writer *writer)
{
    struct policy_namespace *space = writer->round.space;
    delete_others(writer, space, policy_parts_count(writer->round.parts));
    if (writer->round.unevaluated) policy_namespace_wait(writer, space);
    policy_namespace_end(writer);
    policy_writer_settle(writer, space);
}

bool policy_namespace_continue(struct policy_writer *writer)
{
    enum { SLICE_NS = 1000000 };
    struct policy_pass *round = &writer->round;
    if (!round->space) return false;
    int64_t begun_ns = measure(writer);
    bool gathers = !round->gathered, more = true;
    if (gathers)
        gather(writer, begun_ns + SLICE_NS);
    else
        more = write_document(writer);
    round->spent_ns += measure(writer) - begun_ns;
    if (gathers && round->gathered && is_to_be_put_off(writer))
        put_off(writer);
    else if (!more)
        finish(writer);
    return true;
}
