/* YAML values as JSON; see yaml_json.h. */
#include "kube/config/yaml_json.h"

#include <string.h>

#include "base/mem.h"

enum { DEPTH_MAX = 50, JSON_MAX = 1 << 20, WHOLE_MAX = 64 << 20 }; /* aliases can make much out of little */

struct writing {
    struct yaml_file *file;
    struct buf *out;
    size_t max;
    bool cut;
};

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

static void write_node(struct writing *w, yaml_node_t *node, int depth)
{
    struct buf *out = w->out;
    yaml_node_t *child;
    struct str key;
    size_t i = 0;
    if (!node || depth > DEPTH_MAX || out->len > w->max) {
        w->cut |= node != NULL;
        buf_puts(out, "null");
    } else if (node->type == YAML_SEQUENCE_NODE) {
        buf_putc(out, '[');
        for (bool first = true; (child = yaml_next(w->file, node, &i)); first = false) {
            if (!first) buf_putc(out, ',');
            write_node(w, child, depth + 1);
        }
        buf_putc(out, ']');
    } else if (node->type == YAML_MAPPING_NODE) {
        buf_putc(out, '{');
        for (bool first = true; (child = yaml_next_entry(w->file, node, &i, &key)); first = false) {
            if (!first) buf_putc(out, ',');
            buf_json_string(out, key);
            buf_putc(out, ':');
            write_node(w, child, depth + 1);
        }
        buf_putc(out, '}');
    } else {
        write_scalar(node, out);
    }
}

void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out)
{
    struct writing w = {file, out, JSON_MAX, false};
    write_node(&w, node, 0);
}

bool yaml_json_whole(struct yaml_file *file, yaml_node_t *node, struct buf *out)
{
    struct writing w = {file, out, WHOLE_MAX, false};
    write_node(&w, node, 0);
    return !w.cut;
}
