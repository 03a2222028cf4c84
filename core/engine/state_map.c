/* The last seen content of a ConfigMap of states; see state_map.h. */
#include "engine/state_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "engine/state_map_body.h"
#include "object/value/value.h"

static void clear_parts(struct state_map *map)
{
    for (size_t i = 0; i < map->count; i++) free(map->parts[i].state);
    free(map->parts);
    map->parts = NULL;
    map->count = 0;
}

static struct map_part *find_part(const struct state_map *map, const char *state)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->parts[i].state, state) == 0) return &map->parts[i];
    return NULL;
}

static struct map_part *add_part(struct state_map *map, struct str state)
{
    struct map_part *part = array_add(map->parts, map->count);
    *part = (struct map_part){.state = xstrndup(state.p, state.n)};
    return part;
}

static bool read_parts(struct state_map *map, const struct root *object, const char *state, struct buf *value)
{
    struct value all = value_field(root_value(object), STR(STATE_MAP_MEMBER));
    struct buf bytes = {0};
    bool found = false;
    for (size_t i = 0; i < value_count(all); i++) {
        struct text key_text, text;
        struct str key;
        struct str encoded = value_str(value_entry(all, i, &key, &key_text), &text);
        struct map_part *part = add_part(map, key);
        bytes.len = 0;
        bool is_good = base64_decode(encoded, &bytes);
        part->bytes = bytes.len;
        if (!is_good) continue;
        hash_lasting(buf_slice(&bytes), part->sum);
        if (!str_is(key, state)) continue;
        buf_str(value, buf_slice(&bytes));
        found = true;
    }
    buf_clear(&bytes);
    return found;
}

/* Another process that has read the ConfigMap to write it has given it another version, so one of our own is
 * ours until it changes. */
bool state_map_see(struct state_map *map, const struct root *object, bool is_own, const char *state,
                   struct buf *value)
{
    struct text text;
    struct str version = object ? root_resource_version(object, &text) : (struct str){0};
    bool is_same = version.n > 0 && map->version && str_is(version, map->version);
    map->is_own = version.n > 0 && (is_own || (map->is_own && is_same));
    map->is_known = true;
    free(map->version);
    map->version = object ? xstrndup(version.p, version.n) : NULL;
    clear_parts(map);
    return object && read_parts(map, object, state, value);
}

void state_map_wrote(struct state_map *map, struct str version, const char *state, struct str bytes)
{
    struct map_part *part = find_part(map, state);
    if (!part) part = add_part(map, str_of(state));
    part->bytes = bytes.n;
    part->sum[0] = '\0';
    if (bytes.p) hash_lasting(bytes, part->sum);
    free(map->version);
    map->version = version.n ? xstrndup(version.p, version.n) : NULL;
    map->is_known = map->is_own = version.n > 0;
}

void state_map_forget(struct state_map *map)
{
    map->is_known = map->is_own = false;
}

const char *state_map_sum(const struct state_map *map, const char *state)
{
    const struct map_part *part = find_part(map, state);
    return part ? part->sum : "";
}

size_t state_map_others(const struct state_map *map, const char *state)
{
    size_t bytes = 0;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->parts[i].state, state) != 0) bytes += map->parts[i].bytes;
    return bytes;
}

void state_map_clear(struct state_map *map)
{
    clear_parts(map);
    free(map->place);
    free(map->version);
}
