/* Table of the verbs of scenarios; see verbs.h. */
#include "sim/scenario/verbs.h"

#include <string.h>

#include "base/mem.h"
#include "base/must.h"

static const struct sim_verb verbs[] = {
    {"create", sim_verb_create}, {"patch", sim_verb_patch},
    {"label", sim_verb_label},   {"annotate", sim_verb_annotate},
    {"touch", sim_verb_touch},   {"restart", sim_verb_restart},
    {"phase", sim_verb_phase},   {"delete", sim_verb_delete},
    {"fault", sim_verb_fault},   {"inject", sim_verb_inject},
    {"clear", sim_verb_clear},   {"compact", sim_verb_compact},
    {"expire", sim_verb_expire}, {"end-watches", sim_verb_end_watches},
    {"refuse", sim_verb_refuse}, {"set", sim_verb_set},
};

const struct sim_verb *sim_verb_find(const char *name)
{
    const struct sim_verb *verb = verbs;
    while (strcmp(verb->name, name) != 0) must(++verb < verbs + ARRAY_LEN(verbs));
    return verb;
}
