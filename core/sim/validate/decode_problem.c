/* Messages of wrong bodies, in the words of Go's encoding/json; see decode_problem.h. */
#include "sim/validate/decode_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"

static void put_go_path(struct buf *out, const struct place *at)
{
    if (!at) return;
    put_go_path(out, at->above);
    if (!at->in) return;
    if (out->len) buf_putc(out, '.');
    if (at->inlined) buf_printf(out, "%s.", at->inlined);
    buf_puts(out, at->key);
}

static void put_path(struct buf *out, const struct place *at)
{
    if (!at) return;
    put_path(out, at->above);
    if (at->key)
        buf_printf(out, "%s%s", out->len ? "." : "", at->key);
    else
        buf_printf(out, "[%zu]", at->index);
}

void sim_decode_fail(struct field_decoder *d, char *message, bool over)
{
    if (d->over || (d->error && !over)) {
        free(message);
        return;
    }
    free(d->error);
    d->error = message;
    d->over = over;
}

const char *sim_decode_unqualified(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

void sim_decode_wrong(struct field_decoder *d, const struct place *at, const json_t *value,
                      const char *wanted, bool over)
{
    const struct place *field = at;
    struct buf text = {0}, given = {0};
    while (field && !field->in) field = field->above;
    put_go_path(&text, at);
    switch (json_typeof(value)) {
    case JSON_OBJECT: buf_puts(&given, "object"); break;
    case JSON_ARRAY: buf_puts(&given, "array"); break;
    case JSON_STRING: buf_puts(&given, "string"); break;
    case JSON_TRUE:
    case JSON_FALSE: buf_puts(&given, "bool"); break;
    default: buf_puts(&given, "number");
    }
    if (json_is_number(value) && (strncmp(wanted, "int", 3) == 0 || strncmp(wanted, "float", 5) == 0)) {
        buf_putc(&given, ' ');
        sim_put_json(&given, value);
    }
    sim_decode_fail(d,
                    xasprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                              buf_text(&given), field ? sim_decode_unqualified(field->in->name) : "",
                              buf_text(&text), wanted),
                    over);
    buf_clear(&text);
    buf_clear(&given);
}

void sim_decode_unknown(struct field_decoder *d, const struct place *at, const char *key)
{
    enum { UNKNOWN_MAX = 100 };
    if (d->unchecked || json_array_size(d->unknown) >= UNKNOWN_MAX) return;
    struct buf text = {0}, path = {0};
    put_path(&path, at);
    buf_printf(&path, "%s%s", path.len ? "." : "", key);
    buf_puts(&text, "unknown field ");
    buf_json_string(&text, buf_slice(&path));
    if (!d->unknown) d->unknown = json_array();
    json_array_append_new(d->unknown, sim_string(buf_text(&text)));
    buf_clear(&text);
    buf_clear(&path);
}

char *sim_decode_go_type(const struct schema_field *field, bool one)
{
    static const char *const names[] = {
        [SCHEMA_STRING] = "string",
        [SCHEMA_BOOL] = "bool",
        [SCHEMA_INT32] = "int32",
        [SCHEMA_INT64] = "int64",
        [SCHEMA_DOUBLE] = "float64",
        [SCHEMA_BYTES] = "[]uint8",
        [SCHEMA_TIME] = "v1.Time",
        [SCHEMA_QUANTITY] = "resource.Quantity",
        [SCHEMA_MICRO_TIME] = "v1.MicroTime",
        [SCHEMA_OBJECT] = NULL,
    };
    const char *name = names[field->form], *slash = field->object ? strchr(field->object, '/') : NULL;
    bool map = field->holder == SCHEMA_MAP || field->holder == SCHEMA_MAP_OF_NAMED_LISTS;
    if (slash) name = slash + 1;
    if (field->go) name = field->go;
    if (!name) name = "interface {}";
    if (map && field->form == SCHEMA_QUANTITY && !one) return xstrdup("v1.ResourceList");
    return xasprintf("%s%s", one || field->holder == SCHEMA_ONE ? "" : map ? "map[string]" : "[]", name);
}
