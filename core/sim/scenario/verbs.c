/* The table of what scenarios can do; see verbs.h. */
#include "sim/scenario/verbs.h"

#include <string.h>

#include "base/mem.h"

static const struct sim_param_rule create_params[] = {{"object", SIM_PARAM_OBJECT, false},
                                                      {"namespace", SIM_PARAM_TEXT, false},
                                                      {"pods", SIM_PARAM_COUNT, false},
                                                      {NULL, 0, false}};
static const struct sim_param_rule patch_params[] = {{"patch", SIM_PARAM_OBJECT, false},
                                                     {"ops", SIM_PARAM_ARRAY, false},
                                                     {"subresource", SIM_PARAM_TEXT, false},
                                                     {NULL, 0, false}};
static const struct sim_param_rule label_params[] = {{"labels", SIM_PARAM_OBJECT, true}, {NULL, 0, false}};
static const struct sim_param_rule annotate_params[] = {{"annotations", SIM_PARAM_OBJECT, true},
                                                        {NULL, 0, false}};
static const struct sim_param_rule phase_params[] = {{"phase", SIM_PARAM_TEXT, true}, {NULL, 0, false}};
static const struct sim_param_rule delete_params[] = {{"grace", SIM_PARAM_COUNT, false}, {NULL, 0, false}};
static const struct sim_param_rule resource_params[] = {{"resource", SIM_PARAM_TEXT, false},
                                                        {NULL, 0, false}};
static const struct sim_param_rule refuse_params[] = {{"for", SIM_PARAM_DURATION, true}, {NULL, 0, false}};
static const struct sim_param_rule set_params[] = {{"bookmarks", SIM_PARAM_DURATION, false},
                                                   {"watch_cache", SIM_PARAM_BOOL, false},
                                                   {"gzip", SIM_PARAM_BOOL, false},
                                                   {"terminate", SIM_PARAM_DURATION, false},
                                                   {NULL, 0, false}};
#define WRONG_PARAMS                                                                                       \
    {"what", SIM_PARAM_TEXT, true}, {"after", SIM_PARAM_COUNT, false}, {"for", SIM_PARAM_DURATION, false}, \
        {"size", SIM_PARAM_SIZE, false}, {"code", SIM_PARAM_COUNT, false},                                 \
        {"reason", SIM_PARAM_TEXT, false}, {"message", SIM_PARAM_TEXT, false},                             \
        {"retry_after", SIM_PARAM_COUNT, false},                                                           \
    {                                                                                                      \
        "text", SIM_PARAM_TEXT, false                                                                      \
    }
static const struct sim_param_rule fault_params[] = {WRONG_PARAMS,
                                                     {"verb", SIM_PARAM_TEXT, false},
                                                     {"resource", SIM_PARAM_TEXT, false},
                                                     {"namespace", SIM_PARAM_TEXT, false},
                                                     {"path", SIM_PARAM_TEXT, false},
                                                     {"skip", SIM_PARAM_COUNT, false},
                                                     {"times", SIM_PARAM_COUNT, false},
                                                     {NULL, 0, false}};
static const struct sim_param_rule inject_params[] = {
    WRONG_PARAMS, {"resource", SIM_PARAM_TEXT, true}, {NULL, 0, false}};

static const struct sim_verb verbs[] = {
    {"create", create_params, false, sim_verb_create, sim_verb_create_check},
    {"patch", patch_params, true, sim_verb_patch, sim_verb_patch_check},
    {"label", label_params, true, sim_verb_label, NULL},
    {"annotate", annotate_params, true, sim_verb_annotate, NULL},
    {"touch", NULL, true, sim_verb_touch, NULL},
    {"restart", NULL, true, sim_verb_restart, NULL},
    {"phase", phase_params, true, sim_verb_phase, NULL},
    {"delete", delete_params, true, sim_verb_delete, NULL},
    {"fault", fault_params, false, sim_verb_fault, sim_verb_fault_check},
    {"inject", inject_params, false, sim_verb_inject, sim_verb_inject_check},
    {"clear", NULL, false, sim_verb_clear, NULL},
    {"compact", NULL, false, sim_verb_compact, NULL},
    {"expire", resource_params, false, sim_verb_expire, NULL},
    {"end-watches", resource_params, false, sim_verb_end_watches, NULL},
    {"refuse", refuse_params, false, sim_verb_refuse, NULL},
    {"set", set_params, false, sim_verb_set, NULL},
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
