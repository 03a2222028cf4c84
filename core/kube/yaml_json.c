/* YAML values as JSON; see yaml_json.h. */
#include "kube/yaml_json.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

enum { DEPTH_MAX = 50, JSON_MAX = 1 << 20 }; /* aliases can make much out of little */

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words)) return true;
    return false;
}

static size_t digits(const char *text)
{
    size_t n = 0;
    while (isdigit((unsigned char)text[n])) n++;
    return n;
}

/* What is a number in both languages; `text` is terminated. */
static bool is_number(const char *text)
{
    if (*text == '-') text++;
    size_t n = digits(text);
    if (n == 0 || (n > 1 && *text == '0')) return false;
    text += n;
    if (*text == '.') {
        n = digits(text + 1);
        if (n == 0) return false;
        text += n + 1;
    }
    if (*text != 'e' && *text != 'E') return !*text;
    text++;
    if (*text == '+' || *text == '-') text++;
    n = digits(text);
    return n > 0 && !text[n];
}

static void write_scalar(const yaml_node_t *node, struct buf *out)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL},
                             *const trues[] = {"true", "True", "TRUE", NULL},
                             *const falses[] = {"false", "False", "FALSE", NULL};
    struct str text = yaml_text(node);
    bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && is_one_of(text, nulls))
        buf_puts(out, "null");
    else if (plain && is_one_of(text, trues))
        buf_puts(out, "true");
    else if (plain && is_one_of(text, falses))
        buf_puts(out, "false");
    else if (plain && strlen(text.p) == text.n && is_number(text.p))
        buf_str(out, text);
    else
        buf_json_string(out, text);
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
