/* Details read and compared field by field; see plan_detail.h. */
#include "app/plan/plan_detail.h"

#include <ctype.h>
#include <string.h>

#include "script/inventory/function_hash.h"

static const struct str function = {"function ", 9};

/* A field of the outermost braces. One without a name is known by its position. */
struct field {
    struct str name, value;
    unsigned position;
};

static bool is_function(struct str value)
{
    size_t n = function.n;
    if (value.n != n + FUNCTION_HASH_LEN || memcmp(value.p, function.p, n) != 0) return false;
    while (n < value.n && isxdigit((unsigned char)value.p[n])) n++;
    return n == value.n;
}

/* Of what begins with a quote: how long it is, to the other one. */
static size_t quoted_length(struct str text)
{
    size_t i = 1;
    while (i < text.n && text.p[i] != '"') i += text.p[i] == '\\' ? 2 : 1;
    return i < text.n ? i + 1 : text.n;
}

/* --- taken apart */

/* Splits a detail at its braces: the head before them, the body inside; without braces all is head. */
static void cut(const char *detail, struct str *head, struct str *body)
{
    struct str all = str_of(detail);
    const char *open = *detail == '"' || *detail == '?' ? NULL : strchr(detail, '{');
    *head = all;
    *body = (struct str){NULL, 0};
    if (!open || all.p[all.n - 1] != '}') return;
    *head = (struct str){all.p, (size_t)(open - all.p)};
    *body = (struct str){open + 1, all.n - head->n - 2};
    if (head->n > 0 && head->p[head->n - 1] == ' ') head->n--;
}

/* Up to the comma behind the field. */
static size_t field_length(struct str rest)
{
    int depth = 0;
    for (size_t i = 0; i < rest.n; i++) {
        struct str from = {rest.p + i, rest.n - i};
        if (rest.p[i] == '"') i += quoted_length(from) - 1;
        if (from.p[0] == ',' && depth == 0) return i;
        depth += (from.p[0] == '{') - (from.p[0] == '}');
    }
    return rest.n;
}

static bool next_field(struct str *rest, struct field *field)
{
    if (rest->n == 0) return false;
    size_t n = field_length(*rest), name = 0;
    struct str text = {rest->p, n};
    while (name < n && (isalnum((unsigned char)text.p[name]) || text.p[name] == '_')) name++;
    if (name == n || text.p[name] != '=') {
        *field = (struct field){.value = text, .position = field->position + 1};
    } else {
        field->name = (struct str){text.p, name};
        field->value = (struct str){text.p + name + 1, n - name - 1};
    }
    if (n < rest->n) n++; /* the comma, and the blank behind it */
    if (n < rest->n) n++;
    *rest = (struct str){rest->p + n, rest->n - n};
    return true;
}

static bool find_field(struct str body, const struct field *wanted, struct field *found)
{
    *found = (struct field){0};
    while (next_field(&body, found))
        if (wanted->name.n ? str_eq(found->name, wanted->name)
                           : !found->name.n && found->position == wanted->position)
            return true;
    return false;
}

struct str plan_detail_field(const char *detail, const char *name)
{
    struct str head, body;
    struct field found;
    cut(detail, &head, &body);
    return find_field(body, &(struct field){.name = str_of(name)}, &found) ? found.value : (struct str){0};
}

/* --- for people */

/* Without the hashes. */
static void put_value(struct str value, struct buf *out)
{
    for (size_t i = 0; i < value.n;) {
        struct str rest = {value.p + i, value.n - i};
        struct str code = {rest.p, function.n + FUNCTION_HASH_LEN};
        size_t n = *rest.p == '"' ? quoted_length(rest) : 1;
        bool masks = code.n <= rest.n && is_function(code);
        buf_str(out, masks ? STR("function") : (struct str){rest.p, n});
        i += masks ? code.n : n;
    }
}

void plan_detail_print(const char *detail, struct buf *out)
{
    if (*detail == '?') detail++;
    if (strcmp(detail, "{}") != 0) put_value(str_of(detail), out);
}

struct comparison {
    const struct inventory *plan; /* of what is after the change */
    struct buf *out;
    bool any, placed;
};

static void put_comma(struct comparison *c)
{
    if (c->any) buf_puts(c->out, ", ");
    c->any = true;
}

static void put_place(struct comparison *c, struct str value)
{
    int line;
    struct str hash = {value.p + function.n, value.n - function.n};
    const char *file = inventory_function_place(c->plan, hash, &line);
    if (!file) return;
    buf_printf(c->out, " (%s:%d)", file, line);
    c->placed = true;
}

/* "OnAdd", "leader=true"; a function without a name is the one that the entry has. */
static void put_name(struct comparison *c, const struct field *field)
{
    put_comma(c);
    if (is_function(field->value)) {
        buf_str(c->out, field->name.n ? field->name : STR("function"));
        return;
    }
    buf_str(c->out, field->name);
    if (field->name.n) buf_putc(c->out, '=');
    put_value(field->value, c->out);
}

static void put_pair(struct comparison *c, struct str name, struct str before, struct str after)
{
    struct buf a = {0}, b = {0};
    put_value(before, &a);
    put_value(after, &b);
    put_comma(c);
    buf_str(c->out, name);
    bool is_hidden = str_eq(buf_slice(&a), buf_slice(&b)); /* in functions inside of it */
    if (is_hidden)
        buf_printf(c->out, "%schanged", name.n ? " " : "");
    else
        buf_printf(c->out, "%s%s -> %s", name.n ? " " : "", a.len ? buf_text(&a) : "{}",
                   b.len ? buf_text(&b) : "{}");
    buf_clear(&a);
    buf_clear(&b);
}

static void compare_values(struct comparison *c, struct str name, struct str before, struct str after)
{
    if (str_eq(before, after)) return;
    if (!is_function(before) || !is_function(after)) {
        put_pair(c, name, before, after);
        return;
    }
    put_comma(c);
    buf_str(c->out, name.n ? name : STR("function"));
    buf_puts(c->out, " changed");
    put_place(c, after);
}

static void compare_fields(struct comparison *c, struct str before, struct str after)
{
    struct field field = {0}, other;
    struct str rest = after;
    while (next_field(&rest, &field)) {
        if (find_field(before, &field, &other)) {
            compare_values(c, field.name, other.value, field.value);
        } else {
            put_name(c, &field);
            buf_puts(c->out, " added");
            if (is_function(field.value)) put_place(c, field.value);
        }
    }
    field = (struct field){0};
    while (next_field(&before, &field)) {
        if (find_field(after, &field, &other)) continue;
        put_name(c, &field);
        buf_puts(c->out, " removed");
    }
}

bool plan_detail_compare(const char *before, const char *after, const struct inventory *plan, struct buf *out)
{
    struct comparison c = {.plan = plan, .out = out};
    struct str heads[2], bodies[2];
    cut(before, &heads[0], &bodies[0]);
    cut(after, &heads[1], &bodies[1]);
    if (*after == '?')
        plan_detail_print(after, out);
    else if (*before == '?')
        buf_puts(out, "changed");
    else
        compare_values(&c, (struct str){0}, heads[0], heads[1]);
    compare_fields(&c, bodies[0], bodies[1]);
    return c.placed;
}
