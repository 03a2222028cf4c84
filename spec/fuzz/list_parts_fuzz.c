/* Any text: refused, or taken as jansson reads it: the parts are the List without its items, and the items.
 */
#include <stdint.h>

#include <jansson.h>

#include "base/must.h"
#include "object/parse/list_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool note(void *ctx, struct str text)
{
    json_t *value = json_loadb(text.p, text.n, 0, NULL);
    must(value);
    json_array_append_new(ctx, value);
    return true;
}

static void check(struct str text, json_t *parts)
{
    json_error_t error;
    json_t *whole = json_loadb(text.p, text.n, 0, &error), *items = json_object_get(whole, "items"), *item;
    size_t i;
    must(json_is_array(items) && json_array_size(parts) == json_array_size(items) + 1);
    json_array_foreach (items, i, item) must(json_equal(item, json_array_get(parts, i + 1)));
    json_array_clear(items);
    must(json_equal(whole, json_array_get(parts, 0)));
    json_decref(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    json_t *parts = json_array();
    if (json_list_parts(text, note, parts)) check(text, parts);
    json_decref(parts);
    return 0;
}
