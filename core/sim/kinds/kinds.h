/* The resources that are there without any CustomResourceDefinition: those of core/schema/ that a server has
 * on, with the columns of kinds.json beside this. Owner: nobody, they are read once and live as long as the
 * process. Every function may be called anywhere. */
#pragma once
#include "sim/object/kind.h"

struct sim_kind_list {
    const struct sim_kind **kinds;
    size_t count;
};

/* Kinds that `kubelua sim` serves, in the order in which discovery names them. Borrowed. */
const struct sim_kind_list *sim_builtin_kinds(void);
/* Returns one of them; NULL if there is none. */
const struct sim_kind *sim_builtin_kind(const char *plural);
/* Returns a column that several kinds share; see lua/sim/tables.lua. Borrowed. */
json_t *sim_shared_column(const char *name);
