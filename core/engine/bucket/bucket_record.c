/* Records of a publisher: about itself, and the cluster's kinds; see bucket_internal.h. One that cannot be
 * read is counted, and logged once; the one before it counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/bucket/bucket_internal.h"
#include "engine/bucket/bucket_value.h"
#include "kube/api/client.h"
#include "kube/kinds/catalogue.h"

FAMILY(family_silent, 340, GAUGE, "kubelua_bucket_silent_seconds", "bucket", NULL,
       "Time since the last sign of the publisher of a bucket.");
METRIC(metric_malformed, 22, "kubelua_bucket_malformed_total",
       "Number of records of publishers that could not be read.");

enum { KINDS_MAX = 64 << 20 /* bytes of their text */ };

static void note_malformed(struct object_bucket *bucket, bool *was_malformed, const char *record,
                           const char *why)
{
    metric_inc(&metric_malformed);
    if (!*was_malformed)
        log_warn("Record of the publisher is malformed, the one before it counts",
                 F("bucket", bucket->status.shown), F("record", record), F("err", why));
    *was_malformed = true;
}

void bucket_clear_kinds(struct object_bucket *bucket)
{
    for (size_t i = 0; i < bucket->kind_count; i++) {
        resource_clear(&bucket->kinds[i].resource);
        free(bucket->kinds[i].version);
    }
    free(bucket->kinds);
    bucket->kinds = NULL;
    bucket->kind_count = 0;
}

static char *field(const struct tape *tape, size_t at, struct str key)
{
    struct str text = tape_str(tape, tape_field(tape, at, key));
    return xstrndup(text.p ? text.p : "", text.n);
}

static void take_kinds(struct object_bucket *bucket, const struct tape *tape, size_t kinds)
{
    bucket_clear_kinds(bucket);
    for (size_t at = tape_first(tape, kinds, NULL); at; at = tape_next(tape, kinds, at, NULL))
        *array_add(bucket->kinds, bucket->kind_count) =
            (struct published_kind){.resource = {.group = field(tape, at, STR("group")),
                                                 .version = field(tape, at, STR("version")),
                                                 .plural = field(tape, at, STR("resource")),
                                                 .kind = xstrdup("")},
                                    .version = field(tape, at, STR("listed"))};
}

/* Both have a list as their only part without which they say nothing. */
static bool parse(struct object_bucket *bucket, struct str text, struct str list, struct buf *copy,
                  struct tape *tape, struct err *err)
{
    memset(buf_reserve(copy, text.n + TAPE_PADDING), 0, text.n + TAPE_PADDING);
    buf_str(copy, text);
    if (!tape_parse(kube_client_parser(bucket->options.client), copy->data, copy->len, tape, err))
        return false;
    size_t root = tape_root(tape), at = tape_type(tape, root) == '{' ? tape_field(tape, root, list) : 0;
    return tape_type(tape, at) == '[' || err_set(err, ERR_PARSE, "it has no list \"%.*s\"", STR_ARG(list));
}

void bucket_take_record(struct object_bucket *bucket, const struct bucket_message *message, bool is_initial)
{
    struct buf copy = {0};
    struct tape tape;
    struct err err;
    if (!parse(bucket, (struct str){message->value, message->size}, STR("kinds"), &copy, &tape, &err)) {
        note_malformed(bucket, &bucket->record_malformed, message->key, err.text);
        buf_clear(&copy);
        return;
    }
    bucket->record_malformed = false;
    struct str name = tape_str(&tape, tape_field(&tape, tape_root(&tape), STR("publisher")));
    int64_t at_us = tape_int(&tape, tape_field(&tape, tape_root(&tape), STR("atMicros")), 0);
    take_kinds(bucket, &tape, tape_field(&tape, tape_root(&tape), STR("kinds")));
    bucket->has_record = true;
    if (!bucket->silent) bucket->silent = SERIES(&family_silent, bucket->status.shown);
    pthread_mutex_lock(&bucket->lock);
    snprintf(bucket->status.publisher, sizeof bucket->status.publisher, "%.*s", STR_ARG(name));
    /* A record that is found at the start may be of long ago: by the clock of the publisher. */
    bucket->status.heard_us = is_initial ? at_us : clock_wall_us(loop_clock(bucket->options.io_loop));
    pthread_mutex_unlock(&bucket->lock);
    buf_clear(&copy);
    if (!is_initial) {
        if (bucket->was_silent) log_info("Publisher writes again", F("bucket", bucket->status.shown));
        bucket->was_silent = false;
        bucket->heard_ms = clock_now_ms(loop_clock(bucket->options.io_loop));
    }
    bucket_wake_waiters(bucket);
}

static struct catalogue *read_catalogue(struct object_bucket *bucket)
{
    struct buf copy = {0};
    struct tape tape;
    struct err err;
    struct catalogue *catalogue = catalogue_new();
    /* It was parsed when it came. */
    if (parse(bucket, buf_slice(&bucket->catalogue), STR("items"), &copy, &tape, &err))
        catalogue_add_aggregated(catalogue, &tape, 0);
    catalogue_finish(catalogue);
    buf_clear(&copy);
    return catalogue;
}

void bucket_give_kinds(struct object_bucket *bucket, const struct err *err)
{
    void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err) = bucket->done;
    if (!done) return;
    bucket->done = NULL;
    done(bucket->done_ctx, err ? NULL : read_catalogue(bucket), err);
}

static bool are_kinds(struct object_bucket *bucket, struct str text, struct err *err)
{
    struct buf copy = {0};
    struct tape tape;
    bool ok = parse(bucket, text, STR("items"), &copy, &tape, err);
    buf_clear(&copy);
    return ok;
}

void bucket_take_kinds(struct object_bucket *bucket, const struct bucket_message *message)
{
    struct buf decoded = {0};
    struct err err = {.text = "it is empty"};
    struct str text = bucket_value_decode((struct str){message->value, message->size}, message->encoding,
                                          KINDS_MAX, &decoded, &err);
    bool ok = text.n > 0 && are_kinds(bucket, text, &err);
    bool is_new = ok && !str_eq(text, buf_slice(&bucket->catalogue));
    if (!ok) note_malformed(bucket, &bucket->kinds_malformed, message->key, err.text);
    bucket->kinds_malformed = !ok;
    if (is_new) {
        bucket->catalogue.len = 0;
        buf_str(&bucket->catalogue, text);
    }
    buf_clear(&decoded);
    if (!is_new) return;
    if (bucket->done)
        bucket_give_kinds(bucket, NULL);
    else if (bucket->on_kinds)
        bucket->on_kinds(bucket->on_kinds_ctx);
}
