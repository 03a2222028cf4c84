/* What label and field selectors share: requirements, all of which must hold. */
#include "sim/object/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/selector_parts.h"
#include "sim/text/integer.h"

struct sim_requirement *sim_selector_add(struct sim_selector *s)
{
    s->all = xrealloc(s->all, (s->count + 1) * sizeof *s->all);
    s->all[s->count] = (struct sim_requirement){0};
    return &s->all[s->count++];
}

void sim_requirement_add_value(struct sim_requirement *r, const char *value, size_t n)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strlen(r->values[i]) == n && memcmp(r->values[i], value, n) == 0) return;
    r->values = xrealloc(r->values, (r->value_count + 1) * sizeof *r->values);
    r->values[r->value_count++] = xstrndup(value, n);
}

static bool has_value(const struct sim_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strcmp(r->values[i], value) == 0) return true;
    return false;
}

bool sim_requirement_holds(const struct sim_requirement *r, const char *value)
{
    int64_t number;
    switch (r->op) {
    case SIM_IN: return value && has_value(r, value);
    case SIM_NOT_IN: return !value || !has_value(r, value);
    case SIM_EXISTS: return value != NULL;
    case SIM_ABSENT: return value == NULL;
    case SIM_GREATER: return value && sim_parse_int64(value, &number) && number > r->bound;
    case SIM_LESS: return value && sim_parse_int64(value, &number) && number < r->bound;
    }
    return false;
}

bool sim_selector_is_everything(const struct sim_selector *selector)
{
    return selector->count == 0;
}

bool sim_selector_needs_object(const struct sim_selector *selector)
{
    return selector->needs_object;
}

void sim_selector_free(struct sim_selector *selector)
{
    if (!selector) return;
    for (size_t i = 0; i < selector->count; i++) {
        struct sim_requirement *r = &selector->all[i];
        for (size_t v = 0; v < r->value_count; v++) free(r->values[v]);
        free(r->values);
        free(r->key);
    }
    free(selector->all);
    free(selector);
}
