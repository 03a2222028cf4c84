/* Marks of deleted keys, which are forgotten after a while: first readers are told the sequence from before
 * which they must not read on, and long after that the marks go. So whoever reads on from behind it has seen
 * all of them, or asks for the sequence again (engine/bucket/bucket_reader.c); see publish_internal.h. */
#include <stdio.h>

#include "app/publish/publish_internal.h"
#include "engine/bucket/bucket_key.h"

enum {
    ANNOUNCE_MS = 1800000, /* age of marks that readers are told of */
    FORGET_MS = 1800000,   /* from then on */
    EVERY_MS = 60000,
    COUNT_MAX = 1000, /* at a time */
};

/* Marks are in the order of their sequences. One whose sequence is not known was written by nobody yet. */
static bool announce(struct publisher *publisher, int64_t now_ms)
{
    struct published *mark;
    char version[24];
    uint64_t told = publisher->forgotten;
    TAILQ_FOREACH (mark, &publisher->marks, link) {
        if (now_ms - mark->deleted_ms < ANNOUNCE_MS) break;
        if (mark->sequence > told) told = mark->sequence;
    }
    if (told == publisher->forgotten) return true;
    snprintf(version, sizeof version, "%llu", (unsigned long long)told);
    publish_add(publisher, NULL, BUCKET_KEY_FORGOTTEN, str_of(version), publisher->batch.text.len, false);
    if (!publish_flush(publisher, true)) return false;
    publisher->forgotten = told;
    TAILQ_FOREACH (mark, &publisher->marks, link)
        if (!mark->announced_ms && mark->sequence > 0 && mark->sequence <= told) mark->announced_ms = now_ms;
    return true;
}

static bool is_due(const struct published *mark, int64_t now_ms)
{
    return mark && mark->announced_ms && now_ms - mark->announced_ms >= FORGET_MS;
}

bool publish_forget_marks(struct publisher *publisher)
{
    const struct bucket_module *module = publisher->options.module;
    struct published *mark;
    struct stream_error error;
    int64_t now_ms = publish_now_ms(publisher);
    if (now_ms - publisher->forgot_ms < EVERY_MS) return true;
    publisher->forgot_ms = now_ms;
    if (!announce(publisher, now_ms)) return false;
    for (int i = 0; i < COUNT_MAX && is_due(mark = TAILQ_FIRST(&publisher->marks), now_ms); i++) {
        publish_enter(publisher);
        enum bucket_outcome outcome = module->forget(publisher->client, mark->key, mark->sequence, &error);
        publish_return(publisher);
        if (outcome != BUCKET_DONE) return true;
        publish_forget(publisher, mark);
        if (!publish_flush(publisher, false)) return false;
    }
    return true;
}
