/* Problems of a configuration for its shape; see merge.h. The texts are those of
 * structured-merge-diff. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/managed/merge.h"
#include "sim/text/tree.h"

struct problems {
    struct buf text;
    size_t count;
};

static void add(struct problems *p, const struct sim_path *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct problems *p, const struct sim_path *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_puts(&p->text, p->count++ ? "\n  " : "");
    sim_path_show(&p->text, path);
    if (path) buf_puts(&p->text, ": ");
    buf_vprintf(&p->text, format, args);
    va_end(args);
}

/* As Go prints a value that it does not know. */
static char *go_value(const json_t *value)
{
    struct buf b = {0};
    sim_put_go_value(&b, value);
    return buf_take(&b);
}

/* As Go source has it: `[]interface {}{"x", 1}` */
static void put_go_source(struct buf *out, const json_t *value)
{
    const char *key;
    json_t *below;
    size_t i = 0;
    if (json_is_null(value)) {
        buf_puts(out, "interface {}(nil)");
        return;
    }
    if (!json_is_object(value) && !json_is_array(value)) {
        sim_put_json(out, value);
        return;
    }
    buf_printf(out, "%s{", sim_go_type(value));
    json_object_foreach ((json_t *)value, key, below) {
        buf_puts(out, i++ ? ", " : "");
        buf_json_string(out, str_of(key));
        buf_putc(out, ':');
        put_go_source(out, below);
    }
    json_array_foreach ((json_t *)value, i, below) {
        buf_puts(out, i ? ", " : "");
        put_go_source(out, below);
    }
    buf_putc(out, '}');
}

static void add_no_string(struct problems *p, const json_t *value, const struct sim_path *path)
{
    struct buf shown = {0};
    put_go_source(&shown, value);
    add(p, path, "expected string, got &value.valueUnstructured{Value:%s}", buf_text(&shown));
    buf_clear(&shown);
}

static void check_scalar(struct problems *p, const char *type, const json_t *value,
                         const struct sim_path *path)
{
    bool container = json_is_object(value) || json_is_array(value), good = !container;
    char *shown = go_value(value);
    if (!type || strcmp(type, "scalar") == 0) {
        if (!good) add(p, path, "expected any scalar, got &{%s}", shown);
    } else if (strcmp(type, "string") == 0) {
        if (!json_is_string(value)) add_no_string(p, value, path);
    } else if (strcmp(type, "boolean") == 0) {
        if (!json_is_boolean(value)) add(p, path, "expected boolean, got &{%s}", shown);
    } else if (!json_is_number(value))
        add(p, path, "expected numeric (int or float), got %s", sim_go_type(value));
    free(shown);
}

static void check(struct problems *p, const struct sim_shape *shape, const json_t *value,
                  const struct sim_path *path);

static void check_map(struct problems *p, const struct sim_shape *shape, const json_t *map,
                      const struct sim_path *path)
{
    struct sim_shape member;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)map, key, value) {
        struct sim_path step = {path, {SIM_BY_NAME, key, NULL}};
        if (sim_shape_member(shape, key, &member) == SIM_UNDECLARED) {
            add(p, &step, "field not declared in schema");
            return;
        }
        check(p, &member, value, &step);
    }
}

static void check_list(struct problems *p, const struct sim_shape *shape, const json_t *list,
                       const struct sim_path *path)
{
    struct sim_shape element_shape = sim_shape_element(shape);
    bool whole = sim_shape_whole(shape, SIM_NODE_LIST);
    struct sim_field_set seen = {0};
    size_t i;
    json_t *value;
    json_array_foreach (list, i, value) {
        char *why = NULL;
        struct sim_path step = {path, {SIM_BY_INDEX, NULL, NULL}};
        if (whole)
            step.element.value = json_integer((json_int_t)i);
        else if (!sim_element_of(shape, value, &step.element, &why)) {
            add(p, path, "element %zu: %s", i, why);
            free(why);
            break;
        }
        if (!whole && sim_field_set_find(&seen, &step.element)) {
            struct buf name = {0};
            sim_element_show(&name, &step.element);
            add(p, path, "duplicate entries for key %s", buf_text(&name));
            buf_clear(&name);
        }
        if (!whole) sim_field_set_add(&seen, &(struct sim_path){NULL, step.element});
        check(p, &element_shape, value, &step);
        json_decref(step.element.value);
    }
    sim_field_set_clear(&seen);
}

static void check(struct problems *p, const struct sim_shape *shape, const json_t *value,
                  const struct sim_path *path)
{
    enum sim_node node = sim_shape_node(shape, value);
    if (json_is_null(value) ||
        (shape->form == SIM_SHAPE_SCALAR && shape->field->form == SCHEMA_INT_OR_STRING))
        return; /* a server's schema has any value there, which its decoder refuses */
    if (node == SIM_NODE_SCALAR)
        check_scalar(p, sim_shape_type(shape), value, path);
    else if (json_is_object(value) && node == SIM_NODE_MAP)
        check_map(p, shape, value, path);
    else if (json_is_array(value) && node == SIM_NODE_LIST)
        check_list(p, shape, value, path);
    else {
        char *shown = go_value(value);
        add(p, path, "expected %s, got &{%s}", node == SIM_NODE_MAP ? "map" : "list", shown);
        free(shown);
    }
}

char *sim_shape_problems(const struct sim_shape *shape, const json_t *given)
{
    struct problems p = {0};
    check(&p, shape, given, NULL);
    if (p.count > 1) {
        char *rest = buf_take(&p.text), *all = xasprintf("errors:\n  %s", rest);
        free(rest);
        return all;
    }
    return p.count ? buf_take(&p.text) : NULL;
}
