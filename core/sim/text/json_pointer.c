/* JSON pointers; see json_pointer.h. */
#include "sim/text/json_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

/* Returns one step without its escapes: ~1 is a slash, ~0 a tilde. NULL if anything else follows a tilde. */
static char *unescape(struct str step)
{
    struct buf b = {0};
    for (size_t i = 0; i < step.n; i++) {
        char c = step.p[i];
        if (c == '~') {
            i++;
            if (i == step.n || (step.p[i] != '0' && step.p[i] != '1')) {
                buf_clear(&b);
                return NULL;
            }
            c = step.p[i] == '0' ? '~' : '/';
        }
        buf_putc(&b, c);
    }
    return buf_take(&b);
}

/* Digits without a zero in front, or "-" for the place behind the last. */
static bool read_index(const char *text, size_t size, size_t *index)
{
    uint64_t number;
    if (strcmp(text, "-") == 0) {
        *index = size;
        return true;
    }
    if ((text[0] == '0' && text[1]) || !str_to_u64(str_of(text), &number) || number > size) return false;
    *index = (size_t)number;
    return true;
}

/* Moves to the place `key` below `value`; takes `key`. */
static bool enter(struct sim_place *place, json_t *value, char *key, char **message)
{
    free(place->key);
    *place = (struct sim_place){.parent = value, .key = key};
    if (json_is_object(value)) return true;
    if (!json_is_array(value))
        *message = xasprintf("there is nothing to hold \"%s\"", key);
    else if (!read_index(key, json_array_size(value), &place->index))
        *message = xasprintf("\"%s\" is not an index into a list of %zu", key, json_array_size(value));
    return *message == NULL;
}

bool sim_place_find(json_t *document, const char *pointer, struct sim_place *place, char **message)
{
    struct str rest = str_of(pointer), step;
    *place = (struct sim_place){0};
    *message = NULL;
    if (!*pointer) return true;
    str_cut(&rest, '/', &step);
    if (step.n) {
        *message = xasprintf("a JSON pointer begins with a slash");
        return false;
    }
    json_t *value = document;
    while (str_cut(&rest, '/', &step)) {
        char *key = unescape(step);
        if (!key)
            *message = xasprintf("a tilde is followed by 0 or 1");
        else if (enter(place, value, key, message))
            value = sim_place_value(document, place);
        if (*message) {
            sim_place_clear(place);
            return false;
        }
    }
    return true;
}

void sim_place_clear(struct sim_place *place)
{
    free(place->key);
    *place = (struct sim_place){0};
}

json_t *sim_place_value(json_t *document, const struct sim_place *place)
{
    if (!place->parent) return document;
    if (json_is_array(place->parent)) return json_array_get(place->parent, place->index);
    return json_object_get(place->parent, place->key);
}
