/* Table of the verbs of scenarios; see verbs.h. */
#include "sim/scenario/verbs.h"

#include <string.h>

#include "base/mem.h"

#define WRONG                                                                                              \
    "what:text! after:count for:duration size:size code:count reason:text message:text retry_after:count " \
    "text:text "

static const struct sim_verb verbs[] = {
    {"create", "object:object namespace:text pods:count", false, sim_verb_create, sim_verb_create_check},
    {"patch", "patch:object ops:array subresource:text", true, sim_verb_patch, sim_verb_patch_check},
    {"label", "labels:object!", true, sim_verb_label, NULL},
    {"annotate", "annotations:object!", true, sim_verb_annotate, NULL},
    {"touch", "", true, sim_verb_touch, NULL},
    {"restart", "", true, sim_verb_restart, NULL},
    {"phase", "phase:text!", true, sim_verb_phase, NULL},
    {"delete", "grace:count", true, sim_verb_delete, NULL},
    {"fault", WRONG "verb:text resource:text namespace:text path:text skip:count times:count", false,
     sim_verb_fault, sim_verb_fault_check},
    {"inject", WRONG "resource:text!", false, sim_verb_inject, sim_verb_inject_check},
    {"clear", "", false, sim_verb_clear, NULL},
    {"compact", "", false, sim_verb_compact, NULL},
    {"expire", "resource:text", false, sim_verb_expire, NULL},
    {"end-watches", "resource:text", false, sim_verb_end_watches, NULL},
    {"refuse", "for:duration!", false, sim_verb_refuse, NULL},
    {"set", "bookmarks:duration watch_cache:bool gzip:bool shards:text terminate:duration", false,
     sim_verb_set, NULL},
};

const struct sim_verb *sim_verb_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    return NULL;
}

void sim_verb_names(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) buf_printf(out, "%s%s", i ? ", " : "", verbs[i].name);
}
