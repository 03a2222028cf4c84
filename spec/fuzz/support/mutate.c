/* Mutations of JSON that stay JSON: values of other types, what stands elsewhere, and fields that the kind of
 * an object has by the schema bundle. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema/schema.h"
#include "sim/text/tree.h"

enum { TEXT_MAX = 256, DEEP = 4 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static uint64_t state;

static size_t pick(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (size_t)(state >> 33) % n : 0;
}

static const char *const odd_values[] = {
    "null",  "true",      "0",      "-1",       "1",        "9223372036854775807",
    "1e300", "1.5",       "\"\"",   "\"a\"",    "\"a/b\"",  "\"9Gi\"",
    "{}",    "[]",        "[null]", "[{},{}]",  "{\"\":1}", "\"2024-01-01T00:00:00Z\"",
    "65536", "\"a\\tb\"", "\"*\"",  "\"[a-z\"", "\"Map\"",  "{\"a\":{\"a\":[[1]]}}",
};

static json_t *odd(void)
{
    return json_loads(odd_values[pick(sizeof odd_values / sizeof *odd_values)], JSON_DECODE_ANY, NULL);
}

/* --- fields by the schema */

static json_t *value_of(const struct schema_field *field, unsigned depth);

static json_t *object_of(const struct schema_type *type, unsigned depth)
{
    json_t *object = json_object();
    for (size_t i = pick(4); type && type->field_count && i-- > 0;) {
        const struct schema_field *field = &type->fields[pick(type->field_count)];
        if (*field->name) json_object_set_new(object, field->name, value_of(field, depth + 1));
    }
    return object;
}

static json_t *one_of(const struct schema_field *field, unsigned depth)
{
    size_t count = 0;
    while (field->enums[count]) count++;
    if (count && pick(4)) return json_string(field->enums[pick(count)]);
    switch (field->form) {
    case SCHEMA_STRING: return json_string(pick(2) ? "a" : "b");
    case SCHEMA_BOOL: return json_boolean(pick(2));
    case SCHEMA_INT32:
    case SCHEMA_INT64: return json_integer((json_int_t)pick(5));
    case SCHEMA_QUANTITY: return json_string("1");
    case SCHEMA_BYTES: return json_string("YQ==");
    case SCHEMA_TIME: return json_string("2024-01-01T00:00:00Z");
    case SCHEMA_MICRO_TIME: return json_string("2024-01-01T00:00:00.000000Z");
    case SCHEMA_DURATION: return json_string("1s");
    default: return depth < DEEP ? object_of(schema_type_of_field(field), depth) : json_object();
    }
}

static json_t *value_of(const struct schema_field *field, unsigned depth)
{
    if (pick(12) == 0) return odd();
    json_t *one = one_of(field, depth);
    if (field->holder == SCHEMA_LIST && pick(3) == 0) return json_pack("[oo]", one, one_of(field, depth));
    if (field->holder == SCHEMA_LIST) return json_pack("[o]", one);
    if (field->holder == SCHEMA_MAP) return json_pack("{so}", pick(2) ? "a" : "b", one);
    return one;
}

/* Sets a field somewhere in the object. */
static void grow(const struct schema_type *type, json_t *object)
{
    for (unsigned tries = 64; tries > 0 && type && type->field_count && json_is_object(object); tries--) {
        const struct schema_field *field = &type->fields[pick(type->field_count)];
        json_t *there = json_object_get(object, field->name);
        if (!*field->name) continue;
        if (field->holder == SCHEMA_LIST) there = json_array_get(there, pick(json_array_size(there)));
        if (field->holder == SCHEMA_MAP) there = json_object_iter_value(json_object_iter(there));
        if (!json_is_object(there) || pick(8) == 0) {
            json_object_set_new(object, field->name, value_of(field, 0));
            return;
        }
        type = schema_type_of_field(field);
        object = there;
    }
}

static void grow_body(json_t *body)
{
    const char *version = sim_text_at(body, "apiVersion"), *slash = strchr(version, '/');
    char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    grow(schema_type_of_kind(schema_kind(group, slash ? slash + 1 : version, sim_text_at(body, "kind"))),
         body);
    free(group);
}

/* --- any value */

/* Counts down to a value inside; `*found` is it, at `*key` or `*at` of `*in`. */
struct place {
    size_t left;
    json_t *in, *value;
    const char *key;
    size_t at;
};

static bool walk(json_t *in, struct place *place)
{
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach (in, key, value) {
        *place = place->left ? *place : (struct place){0, in, value, key, 0};
        if (place->left-- == 0 || walk(value, place)) return true;
    }
    json_array_foreach (in, i, value) {
        *place = place->left ? *place : (struct place){0, in, value, NULL, i};
        if (place->left-- == 0 || walk(value, place)) return true;
    }
    return false;
}

static size_t count_values(json_t *in)
{
    struct place all = {.left = SIZE_MAX};
    walk(in, &all);
    return SIZE_MAX - all.left;
}

static struct place any_place(json_t *list)
{
    struct place place = {.left = pick(count_values(list))};
    if (!walk(list, &place)) place.in = NULL;
    return place;
}

/* Takes the value. */
static void put(const struct place *place, json_t *value)
{
    if (place->key)
        json_object_set_new(place->in, place->key, value);
    else
        json_array_set_new(place->in, place->at, value);
}

static json_t *other_text(const json_t *text)
{
    uint8_t bytes[TEXT_MAX];
    size_t n = json_string_length(text) < TEXT_MAX / 2 ? json_string_length(text) : 0;
    memcpy(bytes, json_string_value(text), n);
    json_t *other = json_stringn((const char *)bytes, LLVMFuzzerMutate(bytes, n, TEXT_MAX));
    return other ? other : json_string("\xc3\xa9");
}

static void mutate(json_t *list)
{
    struct place place = any_place(list), from = any_place(list);
    if (!place.in) {
        json_array_append_new(list, json_object());
        return;
    }
    switch (pick(12)) {
    case 0: put(&place, odd()); break;
    case 1: put(&place, json_deep_copy(from.value)); break;
    case 2:
        if (json_is_array(place.value)) json_array_append_new(place.value, json_deep_copy(from.value));
        break;
    case 3:
        if (json_is_object(place.value)) json_object_set_new(place.value, "odd", odd());
        break;
    case 4:
        if (place.key && pick(2)) json_object_del(place.in, place.key);
        break;
    case 5:
        if (json_is_string(place.value)) put(&place, other_text(place.value));
        break;
    default: grow_body(json_array_get(list, pick(json_array_size(list)))); break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    json_t *list = json_loadb((const char *)data, size, 0, NULL);
    state = seed;
    if (!json_is_array(list)) {
        json_decref(list);
        return LLVMFuzzerMutate(data, size, max);
    }
    for (size_t i = pick(4) + 1; i > 0; i--) mutate(list);
    char *text = json_dumps(list, JSON_COMPACT);
    size_t n = text ? strlen(text) : 0;
    if (n && n <= max) memcpy(data, text, n);
    free(text);
    json_decref(list);
    return n && n <= max ? n : size;
}
