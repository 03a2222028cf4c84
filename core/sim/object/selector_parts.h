/* Internals of selectors; see selector.h. Only for label_selector.c and field_selector.c.
 * Owner: the selector owns its requirements, they own their texts. */
#pragma once
#include "base/str.h"
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

/* Adds an empty requirement at the end. */
struct sim_requirement *sim_selector_add(struct sim_selector *s);
void sim_requirement_add_value(struct sim_requirement *r, const char *value, size_t n);
/* `value` NULL: the key is absent. */
bool sim_requirement_holds(const struct sim_requirement *r, const char *value);

/* --- The words of a label selector.
 * Owner: tokens borrow the text. May be called anywhere. */

enum sim_token_kind {
    SIM_TOKEN_END,
    SIM_TOKEN_WORD,
    SIM_TOKEN_IN,
    SIM_TOKEN_NOT_IN,
    SIM_TOKEN_COMMA,
    SIM_TOKEN_OPEN,
    SIM_TOKEN_CLOSE,
    SIM_TOKEN_NOT,
    SIM_TOKEN_EQUALS,
    SIM_TOKEN_DOUBLE_EQUALS,
    SIM_TOKEN_NOT_EQUALS,
    SIM_TOKEN_GREATER,
    SIM_TOKEN_LESS,
};

struct sim_token {
    enum sim_token_kind kind;
    struct str text;
};

/* Returns the next token of `*rest`, which advances; SIM_TOKEN_END at the end. */
struct sim_token sim_next_token(struct str *rest);
