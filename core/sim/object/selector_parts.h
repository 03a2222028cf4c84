/* Internals of selectors; see selector.h. Only for label_selector.c and field_selector.c.
 * Owner: the selector owns its requirements, they own their texts. */
#pragma once
#include "sim/lua/lua.h"
#include "sim/object/selector.h"

enum sim_operator { SIM_IN, SIM_NOT_IN, SIM_EXISTS, SIM_ABSENT, SIM_GREATER, SIM_LESS };

/* Place of a field's value: one of the strings of struct sim_fields, or the object. */
enum sim_field {
    SIM_FIELD_NAME,
    SIM_FIELD_NAMESPACE,
    SIM_FIELD_PHASE,
    SIM_FIELD_NODE_NAME,
    SIM_FIELD_OBJECT
};

struct sim_requirement {
    char *key;
    enum sim_operator op;
    char **values;
    size_t value_count;
    int64_t bound;        /* of SIM_GREATER and SIM_LESS */
    enum sim_field field; /* of field selectors */
};

struct sim_selector {
    struct sim_requirement *all;
    size_t count;
    bool needs_object;
};

/* Calls what is ready to be called of lua/sim/selectors.lua; NULL with a new message. */
struct sim_selector *sim_selector_read(lua_State *L, char **message);
/* `value` NULL: the key is absent. */
bool sim_requirement_holds(const struct sim_requirement *r, const char *value);
