/* The thread of a publisher that writes: it takes the lead, reads which keys there are, and then writes what
 * reflectors see. Each write names the message before it, so that a publisher that was given up, and wakes,
 * writes nothing; see publish_internal.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/publish/publish_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"

enum {
    BATCH_COUNT = 256,
    BATCH_BYTES = 1 << 20,
    DELTAS = 100,
    SIGN_MS = 5000,      /* between two records */
    GIVEN_UP_MS = 15000, /* without a record of it, another publisher is gone */
    RETRY_MS = 1000,
    PIECE_MS = 100,
    END_MS = 2000, /* to write what is known at the end */
};

static const char WRITE_FAILED[] = "Failed to write to the bucket, retrying",
                  READ_FAILED[] = "Failed to read the bucket, retrying";

int64_t publish_now_ms(const struct publisher *publisher)
{
    return clock_now_ms(publisher->options.clock);
}

void publish_wait(struct publisher *publisher, int64_t ms)
{
    clock_wait(&publisher->changed, &publisher->lock, ms);
}

/* Returns false once the thread ends. */
static bool pause_for(struct publisher *publisher, int64_t ms)
{
    int64_t until_ms = publish_now_ms(publisher) + ms;
    pthread_mutex_lock(&publisher->lock);
    while (!publisher->ends && publish_now_ms(publisher) < until_ms)
        publish_wait(publisher, until_ms - publish_now_ms(publisher));
    bool goes_on = !publisher->ends;
    pthread_mutex_unlock(&publisher->lock);
    return goes_on;
}

bool publish_has_ended(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->lock);
    bool ends = publisher->ends;
    pthread_mutex_unlock(&publisher->lock);
    return ends;
}

static bool give_up(struct publisher *publisher, const char *why)
{
    pthread_mutex_lock(&publisher->lock);
    publisher->has_failed = true;
    err_set(&publisher->err, ERR_OUTDATED, "%s: %s", publisher->options.target->shown, why);
    pthread_mutex_unlock(&publisher->lock);
    waker_wake(publisher->leads);
    return false;
}

static void log_failure(struct publisher *publisher, bool *was_logged, const char *what, const char *text)
{
    publish_note_failure(publisher, text);
    if (!*was_logged) log_warn(what, F("bucket", publisher->options.target->shown), F("err", text));
    *was_logged = true;
}

/* --- writing */

struct publish_item *publish_add(struct publisher *publisher, struct published *entry, const char *key,
                                 struct str version, size_t value, bool is_deleted)
{
    struct publish_batch *batch = &publisher->batch;
    if (batch->count == batch->room) {
        batch->room = batch->room ? batch->room * 2 : BATCH_COUNT;
        batch->items = xrealloc(batch->items, batch->room * sizeof *batch->items);
    }
    struct publish_item *item = &batch->items[batch->count++];
    *item = (struct publish_item){.entry = entry,
                                  .key = key,
                                  .value = value,
                                  .value_size = batch->text.len - value,
                                  .version = batch->text.len,
                                  .encoding = "",
                                  .is_deleted = is_deleted};
    buf_str(&batch->text, version);
    buf_putc(&batch->text, '\0');
    return item;
}

/* After a failure: is the lead still this publisher's, and which message is the last one? */
static bool regain(struct publisher *publisher, bool *may_write)
{
    const struct bucket_module *module = publisher->options.module;
    struct bucket_message record;
    struct stream_error error;
    struct bucket_state state;
    *may_write = false;
    publish_enter(publisher);
    enum bucket_outcome outcome = module->inspect(publisher->client, &state, &error);
    if (outcome == BUCKET_DONE)
        outcome = module->get(publisher->client, BUCKET_KEY_PUBLISHER, &record, &error);
    publish_return(publisher);
    if (outcome == BUCKET_MISSING) return give_up(publisher, "the bucket was removed");
    if (outcome != BUCKET_DONE) return true;
    if (!publish_record_is_own((struct str){record.value, record.size}, publisher->options.identity))
        return give_up(publisher, "another publisher has taken over");
    publisher->last = state.last;
    return *may_write = true;
}

static void finish_batch(struct publisher *publisher)
{
    struct publish_batch *batch = &publisher->batch;
    publish_written(publisher, publisher->last - batch->count + 1);
    uint64_t written = 0, deleted = 0;
    for (size_t i = 0; i < batch->count; i++) {
        written += batch->items[i].entry && !batch->items[i].is_deleted;
        deleted += batch->items[i].is_deleted;
    }
    publisher->totals.written += written;
    publisher->totals.deleted += deleted;
    series_add(publisher->series.written, (double)written);
    series_add(publisher->series.deleted, (double)deleted);
    batch->count = batch->text.len = 0;
}

static bool write_messages(struct publisher *publisher, const struct bucket_message *messages, size_t count)
{
    struct stream_error error = {""};
    bool was_logged = false, may_write = true;
    for (;;) {
        enum bucket_outcome outcome = BUCKET_FAILED;
        publish_enter(publisher);
        if (may_write)
            outcome = publisher->options.module->write(publisher->client, messages, count, &publisher->last,
                                                       &error);
        publish_return(publisher);
        if (outcome == BUCKET_DONE) {
            if (was_logged) publish_note_failure(publisher, NULL);
            if (was_logged)
                log_info("Bucket is written again", F("bucket", publisher->options.target->shown));
            return true;
        }
        if (may_write) log_failure(publisher, &was_logged, WRITE_FAILED, error.text);
        /* Whatever else failed may fail for good, as a write into a full bucket does. */
        bool goes_on =
            outcome == BUCKET_OUTDONE ? !publish_has_ended(publisher) : pause_for(publisher, RETRY_MS);
        if (!goes_on || !regain(publisher, &may_write)) return false;
    }
}

static void add_record(struct publisher *publisher, bool ends)
{
    size_t at = publisher->batch.text.len;
    publish_put_record(publisher, ends, &publisher->batch.text);
    publish_add(publisher, NULL, BUCKET_KEY_PUBLISHER, STR(""), at, false);
    publisher->signed_ms = publish_now_ms(publisher);
    publisher->is_dirty = false;
}

/* Long work must not look like silence, after which another publisher takes the lead. */
bool publish_flush(struct publisher *publisher, bool in_any_case)
{
    struct publish_batch *batch = &publisher->batch;
    if (publish_now_ms(publisher) - publisher->signed_ms >= SIGN_MS) {
        add_record(publisher, false);
        in_any_case = true;
    }
    if (batch->count == 0) return true;
    if (!in_any_case && batch->count < BATCH_COUNT && batch->text.len < BATCH_BYTES) return true;
    struct bucket_message *messages = xcalloc(batch->count, sizeof *messages);
    for (size_t i = 0; i < batch->count; i++)
        messages[i] = (struct bucket_message){.key = batch->items[i].key,
                                              .value = batch->text.data + batch->items[i].value,
                                              .size = batch->items[i].value_size,
                                              .version = batch->text.data + batch->items[i].version,
                                              .encoding = batch->items[i].encoding,
                                              .is_deleted = batch->items[i].is_deleted};
    bool ok = write_messages(publisher, messages, batch->count);
    free(messages);
    if (ok) finish_batch(publisher);
    return ok;
}

static bool sign(struct publisher *publisher, bool ends)
{
    add_record(publisher, ends);
    return publish_flush(publisher, true);
}

/* --- the lead: of several publishers of a bucket one writes */

/* Another publisher that signed its record within the last seconds. By this clock: it may have another. */
struct other_publisher {
    uint64_t sequence;
    int64_t since_ms;
    bool was_logged;
};

static bool is_taken(struct publisher *publisher, const struct bucket_message *record,
                     struct other_publisher *other)
{
    if (!publish_record_is_foreign((struct str){record->value, record->size}, publisher->options.identity))
        return false;
    int64_t now_ms = publish_now_ms(publisher);
    if (record->sequence != other->sequence) {
        other->since_ms = now_ms;
        other->sequence = record->sequence;
    }
    if (!other->was_logged)
        log_info("Another publisher may be writing, waiting until it ends or is silent",
                 F("bucket", publisher->options.target->shown));
    other->was_logged = true;
    return now_ms - other->since_ms < GIVEN_UP_MS;
}

/* Facts of the bucket and the record in it; makes the bucket if there is none. `record` is empty where there
 * is none. */
static enum bucket_outcome look_at(struct publisher *publisher, struct bucket_state *state,
                                   struct bucket_message *record, struct stream_error *error)
{
    const struct bucket_module *module = publisher->options.module;
    *record = (struct bucket_message){0};
    publish_enter(publisher);
    enum bucket_outcome outcome = module->inspect(publisher->client, state, error);
    if (outcome == BUCKET_MISSING) {
        outcome = module->create(publisher->client, publisher->options.replicas, error);
        if (outcome == BUCKET_DONE) outcome = module->inspect(publisher->client, state, error);
    }
    if (outcome == BUCKET_DONE && !state->expires)
        outcome = module->get(publisher->client, BUCKET_KEY_PUBLISHER, record, error);
    publish_return(publisher);
    if (outcome == BUCKET_MISSING) *record = (struct bucket_message){0};
    return outcome;
}

static enum bucket_outcome write_first(struct publisher *publisher, const struct bucket_message *message,
                                       struct stream_error *error)
{
    const struct bucket_module *module = publisher->options.module;
    struct bucket_state state;
    publish_enter(publisher);
    enum bucket_outcome outcome = module->write(publisher->client, message, 1, &publisher->last, error);
    if (outcome == BUCKET_DONE && publisher->last == 0) {
        outcome = module->inspect(publisher->client, &state, error);
        publisher->last = state.last;
    }
    publish_return(publisher);
    return outcome;
}

/* One try. The module is left between its calls: a thread that waits in it at the end touches nothing more.
 */
static enum bucket_outcome take_lead(struct publisher *publisher, struct other_publisher *other,
                                     struct stream_error *error)
{
    struct bucket_state state = {0};
    struct bucket_message message;
    struct buf record = {0};
    enum bucket_outcome outcome = look_at(publisher, &state, &message, error);
    if (outcome == BUCKET_FAILED) return outcome;
    if (state.expires) {
        snprintf(error->text, sizeof error->text,
                 "objects would vanish: the bucket has a limit (max_age, or max_bytes or max_msgs with "
                 "discard old)");
        return BUCKET_FAILED;
    }
    if (outcome == BUCKET_DONE && is_taken(publisher, &message, other)) return BUCKET_OUTDONE;
    publish_put_record(publisher, false, &record);
    message = (struct bucket_message){
        .key = BUCKET_KEY_PUBLISHER, .value = record.data, .size = record.len, .version = ""};
    publisher->last = state.last;
    outcome = write_first(publisher, &message, error);
    buf_clear(&record);
    return outcome;
}

static bool await_lead(struct publisher *publisher)
{
    struct other_publisher other = {0};
    struct stream_error error;
    bool was_logged = false;
    for (;;) {
        enum bucket_outcome outcome = take_lead(publisher, &other, &error);
        publisher->signed_ms = publish_now_ms(publisher);
        if (outcome == BUCKET_DONE || outcome == BUCKET_OUTDONE) {
            publish_note_failure(publisher, NULL);
            publish_note_state(publisher, outcome == BUCKET_DONE ? PUBLISHER_LEADS : PUBLISHER_WAITS);
        }
        if (outcome == BUCKET_DONE) return true;
        if (outcome != BUCKET_OUTDONE) log_failure(publisher, &was_logged, WRITE_FAILED, error.text);
        if (!pause_for(publisher, RETRY_MS)) return false;
    }
}

static enum bucket_next next_key(struct publisher *publisher, struct bucket_message *message,
                                 struct stream_error *error)
{
    publish_enter(publisher);
    enum bucket_next got = publisher->options.module->next(publisher->client, PIECE_MS, message, error);
    publish_return(publisher);
    return got;
}

/* Returns 1 when all keys are known, 0 when it failed, -1 when the thread ends. */
static int read_keys_once(struct publisher *publisher, struct stream_error *error)
{
    const struct bucket_module *module = publisher->options.module;
    uint64_t pending = 0;
    struct bucket_message message;
    publish_enter(publisher);
    enum bucket_outcome outcome = module->read(publisher->client, "objects.>", 0, 1, &pending, error);
    publish_return(publisher);
    if (outcome != BUCKET_DONE) return 0;
    while (pending > 0) {
        if (!publish_flush(publisher, false)) return -1;
        enum bucket_next got = next_key(publisher, &message, error);
        if (got == BUCKET_NEXT_OVER || publish_has_ended(publisher)) return 0;
        if (got == BUCKET_NEXT_LEVEL) break;
        if (got == BUCKET_NEXT_NONE) continue;
        publish_found(publisher, &message);
        pending = message.pending;
    }
    publish_enter(publisher);
    module->stop(publisher->client);
    publish_return(publisher);
    return 1;
}

static bool read_keys(struct publisher *publisher)
{
    struct stream_error error = {""};
    bool was_logged = false, may_write;
    int got;
    while ((got = read_keys_once(publisher, &error)) == 0) {
        if (!publish_has_ended(publisher)) log_failure(publisher, &was_logged, READ_FAILED, error.text);
        if (!pause_for(publisher, RETRY_MS) || !regain(publisher, &may_write)) return false;
    }
    if (got > 0 && was_logged) {
        publish_note_failure(publisher, NULL);
        log_info("Bucket is read again", F("bucket", publisher->options.target->shown));
    }
    return got > 0 && publish_delete_others(publisher);
}

/* --- work */

static bool drain(struct publish_kind *kind, bool *is_more)
{
    struct delta *batch;
    size_t count = delta_fifo_take(kind->fifo, DELTAS, &batch);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = publish_delta(kind, &batch[i]);
    delta_fifo_release(kind->fifo, batch, count);
    *is_more |= delta_fifo_len(kind->fifo) > 0;
    return ok;
}

static bool drain_all(struct publisher *publisher, bool *is_more)
{
    struct publish_kind *kind;
    *is_more = false;
    STAILQ_FOREACH (kind, &publisher->kinds, link)
        if (!drain(kind, is_more)) return false;
    return publish_flush(publisher, true);
}

static bool write_catalogue(struct publisher *publisher)
{
    size_t at = publisher->batch.text.len;
    pthread_mutex_lock(&publisher->lock);
    bool is_new = publisher->has_catalogue;
    publisher->has_catalogue = false;
    if (is_new) buf_str(&publisher->batch.text, buf_slice(&publisher->catalogue));
    pthread_mutex_unlock(&publisher->lock);
    if (!is_new) return true;
    size_t size = publisher->batch.text.len - at;
    const char *encoding = publish_fit(publisher, at);
    if (!encoding) {
        log_warn("Kinds of the cluster exceed the largest message of NATS (max_payload) or of the bucket "
                 "(max_msg_size), not published",
                 FI("bytes", size), FI("max", publisher->options.module->value_max(publisher->client)));
        publisher->batch.text.len = at;
        return true;
    }
    publish_add(publisher, NULL, BUCKET_KEY_KINDS, STR(""), at, false)->encoding = encoding;
    return publish_flush(publisher, true);
}

static void await_work(struct publisher *publisher, bool is_more)
{
    pthread_mutex_lock(&publisher->lock);
    if (!is_more && !publisher->has_work && !publisher->ends) {
        int64_t ms = publisher->signed_ms + SIGN_MS - publish_now_ms(publisher);
        if (ms > 0) publish_wait(publisher, ms);
    }
    publisher->has_work = false;
    pthread_mutex_unlock(&publisher->lock);
}

static bool work(struct publisher *publisher)
{
    bool is_more = false;
    while (!publish_has_ended(publisher)) {
        await_work(publisher, is_more);
        if (!write_catalogue(publisher) || !drain_all(publisher, &is_more)) return false;
        publish_note_work(publisher);
        bool is_due = publisher->is_dirty || publish_now_ms(publisher) - publisher->signed_ms >= SIGN_MS;
        if ((is_due && !sign(publisher, false)) || !publish_forget_marks(publisher)) return false;
    }
    return true;
}

void publish_writer_run(void *ctx)
{
    struct publisher *publisher = ctx;
    if (await_lead(publisher) && read_keys(publisher) && sign(publisher, false)) {
        log_info("Publishing", F("bucket", publisher->options.target->shown),
                 FI("kinds", publisher->kind_count));
        waker_wake(publisher->leads);
        bool is_more = true, ok = work(publisher);
        int64_t end_ms = publish_now_ms(publisher) + END_MS;
        while (ok && is_more && publish_now_ms(publisher) < end_ms) ok = drain_all(publisher, &is_more);
        if (ok) sign(publisher, true);
    }
    publish_enter(publisher);
    publisher->options.module->close(publisher->client);
    publish_return(publisher);
}
