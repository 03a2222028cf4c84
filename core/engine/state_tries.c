/* Writes of states without a certain answer; see state_tries.h. */
#include "engine/state_tries.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

const struct state_try *state_tries_find(const struct state_tries *tries, const struct state_op *op,
                                         const char *sum)
{
    for (size_t i = 0; i < tries->count; i++)
        if (tries->list[i].slot == op->slot && strcmp(tries->list[i].sum, sum) == 0) return &tries->list[i];
    return NULL;
}

void state_tries_note(struct state_tries *tries, const struct state_op *op, int aside)
{
    char sum[STATE_SUM_MAX] = "";
    if (op->kind == STATE_WRITE) hash_lasting(buf_slice(&op->bytes), sum);
    tries->is_new = !state_tries_find(tries, op, sum);
    if (!tries->is_new) return;
    struct state_try *noted = array_add(tries->list, tries->count);
    *noted = (struct state_try){.slot = op->slot, .aside = aside};
    memcpy(noted->sum, sum, sizeof sum);
}

void state_tries_begin(struct state_tries *tries)
{
    tries->is_new = false;
}

void state_tries_forget_refused(struct state_tries *tries)
{
    if (tries->is_new) tries->count--;
    tries->is_new = false;
}

void state_tries_forget(struct state_tries *tries, const struct state_op *op)
{
    for (size_t i = tries->count; i-- > 0;)
        if (tries->list[i].slot == op->slot) array_remove(tries->list, tries->count, i);
    tries->is_new = false;
}

void state_tries_clear(struct state_tries *tries)
{
    free(tries->list);
    *tries = (struct state_tries){0};
}
