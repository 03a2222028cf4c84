/* YAML values as JSON; see yaml_json.h. */
#include "kube/yaml_json.h"

#include <string.h>

#include "base/mem.h"

enum { DEPTH_MAX = 50, JSON_MAX = 1 << 20 }; /* aliases can make much out of little */

static void write_scalar(const yaml_node_t *node, struct buf *out)
{
    static const char *const words[] = {"null", "true", "false"};
    enum yaml_form form = yaml_form(node);
    if (form == YAML_FORM_TEXT)
        buf_json_string(out, yaml_text(node));
    else if (form == YAML_FORM_NUMBER)
        buf_str(out, yaml_text(node));
    else
        buf_puts(out, words[form]);
}

static void write_node(struct yaml_file *file, yaml_node_t *node, int depth, struct buf *out)
{
    yaml_node_t *child;
    struct str key;
    size_t i = 0;
    if (!node || depth > DEPTH_MAX || out->len > JSON_MAX) {
        buf_puts(out, "null");
    } else if (node->type == YAML_SEQUENCE_NODE) {
        buf_putc(out, '[');
        for (bool first = true; (child = yaml_next(file, node, &i)); first = false) {
            if (!first) buf_putc(out, ',');
            write_node(file, child, depth + 1, out);
        }
        buf_putc(out, ']');
    } else if (node->type == YAML_MAPPING_NODE) {
        buf_putc(out, '{');
        for (bool first = true; (child = yaml_next_entry(file, node, &i, &key)); first = false) {
            if (!first) buf_putc(out, ',');
            buf_json_string(out, key);
            buf_putc(out, ':');
            write_node(file, child, depth + 1, out);
        }
        buf_putc(out, '}');
    } else {
        write_scalar(node, out);
    }
}

void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out)
{
    write_node(file, node, 0, out);
}
