/* Wrong things to do; see action.h. */
#include "sim/store/action.h"

#include <stdlib.h>

#include "base/mem.h"

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
