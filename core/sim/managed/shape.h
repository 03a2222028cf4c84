/* Shapes: values that an object may have, and how they are merged: by the schema bundle for Kubernetes' own
 * kinds, by the openAPIV3Schema of a CustomResourceDefinition, or deduced from the value. Owner: a shape
 * borrows from the bundle and the kind. May be called anywhere. */
#pragma once
#include "schema/schema.h"
#include "sim/managed/element.h"
#include "sim/object/kind.h"

struct sim_shape {
    enum sim_shape_form {
        SIM_SHAPE_DEDUCED, /* maps by their keys, lists as a whole */
        SIM_SHAPE_WHOLE,   /* any value, as a whole */
        SIM_SHAPE_TYPE,    /* fields of `type` */
        SIM_SHAPE_SCALAR,  /* one value of `field` */
        SIM_SHAPE_MANY,    /* list or map of `field` */
        SIM_SHAPE_CUSTOM,  /* by `schema` */
        SIM_SHAPE_CUSTOM_ROOT
    } form;
    const struct schema_type *type;
    const struct schema_field *field;
    const json_t *schema;
    bool keeps_unknown; /* of SIM_SHAPE_CUSTOM */
    bool whole;         /* of SIM_SHAPE_TYPE: as a whole */
};

enum sim_node { SIM_NODE_SCALAR, SIM_NODE_MAP, SIM_NODE_LIST };

/* Meaning of a member's name to its map. */
enum sim_membership { SIM_UNDECLARED, SIM_DECLARED, SIM_OF_A_MAP };

struct sim_shape sim_shape_of_kind(const struct sim_kind *kind);
struct sim_shape sim_shape_of_field(const struct schema_field *field);
enum sim_membership sim_shape_member(const struct sim_shape *shape, const char *name,
                                     struct sim_shape *member);
/* Shape of a list's elements. */
struct sim_shape sim_shape_element(const struct sim_shape *shape);
/* Returns how the value is walked; where a shape allows several, the value decides. NULL is none. */
enum sim_node sim_shape_node(const struct sim_shape *shape, const json_t *value);
/* Does the map or list belong to its managers as a whole? */
bool sim_shape_whole(const struct sim_shape *shape, enum sim_node node);
/* Does the schema itself name the type of the value, so that it can be wrong? "integer", "number", "string",
 * "boolean", "object", "array"; NULL: any. */
const char *sim_shape_type(const struct sim_shape *shape);
/* Value that Go has where JSON has none; constant. */
const json_t *sim_shape_zero(const struct schema_field *field);
/* Would Go leave out the value of the field? */
bool sim_shape_omits(const struct schema_field *field, const json_t *value);

/* --- Elements of lists that are not one whole */

struct sim_item {
    struct sim_element element;
    json_t *value; /* borrowed */
    size_t at;
};

struct sim_items {
    struct sim_item *items;
    size_t count;
};

/* Fills it by elements, and by their places among the same ones; those that cannot be named are left out. */
void sim_items_sort(const struct sim_shape *list, const json_t *values, struct sim_items *items);
void sim_items_clear(struct sim_items *items);
/* Returns the first one with the element, and their number; NULL if there is none. */
const struct sim_item *sim_items_find(const struct sim_items *items, const struct sim_element *element,
                                      size_t *count);
/* Names an element of a list; its `value` is to be released. Returns false with a new string in `*why`, which
 * may be NULL. */
bool sim_element_of(const struct sim_shape *list, const json_t *value, struct sim_element *element,
                    char **why);
