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

/* The words of encoding/json for a value: "number 2.5" */
static void put_json_type(struct buf *out, const json_t *value, const char *wanted)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: buf_puts(out, "object"); break;
    case JSON_ARRAY: buf_puts(out, "array"); break;
    case JSON_STRING: buf_puts(out, "string"); break;
    case JSON_TRUE:
    case JSON_FALSE: buf_puts(out, "bool"); break;
    default: buf_puts(out, "number");
    }
    if (json_is_number(value) && (strncmp(wanted, "int", 3) == 0 || strncmp(wanted, "float", 5) == 0)) {
        buf_putc(out, ' ');
        sim_put_json(out, value);
    }
}

/* Go's kind of a value in a decoded map. */
static const char *go_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "map";
    case JSON_ARRAY: return "slice";
    case JSON_STRING: return "string";
    case JSON_INTEGER: return "int64";
    case JSON_REAL: return "float64";
    default: return "bool";
    }
}

/* The converter's message, which names no field. It converts between types that Go would convert. */
static void put_unconverted(struct buf *out, const json_t *value, const char *wanted, const char *kind)
{
    const char *given = go_kind(value);
    bool convertible = (json_is_integer(value) && strcmp(kind, "string") == 0) ||
                       (json_is_real(value) && strncmp(kind, "int", 3) == 0);
    if (strcmp(kind, "struct") == 0)
        buf_printf(out, "cannot restore struct from: %s", given);
    else if (strcmp(kind, "map") == 0 || strcmp(kind, "slice") == 0)
        buf_printf(out, "cannot restore %s from %s", kind, given);
    else if (convertible)
        buf_printf(out, "cannot convert %s to %s", given, wanted);
    else
        buf_printf(out, "unrecognized type: %s", kind);
}

void sim_decode_wrong(struct field_decoder *d, const struct place *at, const json_t *value,
                      const char *wanted, const char *kind, bool over)
{
    const struct place *field = at;
    struct buf text = {0};
    while (field && !field->in) field = field->above;
    if (d->converts && kind)
        put_unconverted(&text, value, wanted, kind);
    else {
        buf_puts(&text, "json: cannot unmarshal ");
        put_json_type(&text, value, wanted);
        if (d->converts)
            buf_puts(&text, " into Go value");
        else {
            struct buf path = {0};
            put_go_path(&path, at);
            buf_printf(&text, " into Go struct field %s.%s",
                       field ? sim_decode_unqualified(field->in->name) : "", buf_text(&path));
            buf_clear(&path);
        }
        buf_printf(&text, " of type %s", wanted);
    }
    sim_decode_fail(d, buf_take(&text), over);
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
