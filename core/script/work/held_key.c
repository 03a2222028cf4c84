/* What a task must give back; see held_key.h. */
#include "script/work/held_key.h"

#include <stdlib.h>

#include "base/mem.h"

struct held_key {
    struct task_hold hold;
    struct workqueue *queue;
    struct str key; /* the queue's own */
    bool given;     /* to a task */
};

struct held_key *held_key_new(struct workqueue *queue, struct str key)
{
    struct held_key *held = NEW(struct held_key);
    held->queue = queue;
    held->key = key;
    workqueue_set_holder(queue, key, held);
    return held;
}

struct str held_key_text(const struct held_key *held)
{
    return held->key;
}

void held_key_put_back(struct held_key *held)
{
    workqueue_put_back(held->queue, held->key);
    free(held);
}

static void on_task_end(struct task_hold *hold, bool well)
{
    struct held_key *held = container_of(hold, struct held_key, hold);
    if (!well) {
        held_key_put_back(held);
        return;
    }
    workqueue_set_holder(held->queue, held->key, NULL);
    free(held);
}

void held_key_give(struct script *script, struct held_key *held)
{
    held->given = true;
    held->hold.end = on_task_end;
    task_hold(script, &held->hold);
}

void held_key_done(struct workqueue *queue, struct str key)
{
    struct held_key *held = workqueue_holder(queue, key);
    if (held && !held->given) return;
    if (held) task_release(&held->hold);
    free(held);
    workqueue_done(queue, key);
}
