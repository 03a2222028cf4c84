/* Selectors of shards, which lua/sim/shards.lua reads; see shard.h. */
#include "sim/store/shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

struct shard_range {
    uint64_t first, last;
};

struct sim_shard {
    bool by_namespace;
    struct shard_range *ranges;
    size_t count;
    char *text;
};

struct sim_shard *sim_shard_parse(const char *text, char **message)
{
    lua_State *L = sim_lua_take("sim.shards", "parse");
    lua_pushstring(L, text);
    json_t *found = sim_lua_call(L), *ranges = json_array_get(found, 2);
    struct sim_shard *shard = NULL;
    *message = NULL;
    if (ranges) {
        shard = NEW(struct sim_shard);
        shard->by_namespace = json_is_true(json_array_get(found, 0));
        shard->text = xstrdup(sim_text_at(json_array_get(found, 1), ""));
        for (size_t i = 0; i + 1 < json_array_size(ranges); i += 2) {
            uint64_t first = strtoull(sim_text_at(json_array_get(ranges, i), ""), NULL, 16),
                     end = strtoull(sim_text_at(json_array_get(ranges, i + 1), ""), NULL, 16);
            *array_add(shard->ranges, shard->count) = (struct shard_range){first, end - 1};
        }
    } else
        *message = xasprintf("invalid shard selector: %s", sim_text_at(json_array_get(found, 0), ""));
    json_decref(found);
    return shard;
}

static uint64_t hash(struct str text)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.n; i++) sum = (sum ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    return sum;
}

bool sim_shard_has(const struct sim_shard *shard, const struct sim_object *object)
{
    struct str value = {0};
    if (shard->by_namespace)
        value = (struct str){object->key, object->namespace_len};
    else if (sim_text_member(sim_object_slice(object, object->metadata), "uid", &value))
        value = sim_text_unquote(value);
    uint64_t sum = hash(value);
    for (size_t i = 0; i < shard->count; i++)
        if (sum >= shard->ranges[i].first && sum <= shard->ranges[i].last) return true;
    return false;
}

const char *sim_shard_text(const struct sim_shard *shard)
{
    return shard->text;
}

void sim_shard_free(struct sim_shard *shard)
{
    if (!shard) return;
    free(shard->ranges);
    free(shard->text);
    free(shard);
}

bool sim_sharding_read(const char *text, enum sim_sharding *sharding)
{
    static const char *const words[] = {"off", "on", "unsaid"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *sharding = (enum sim_sharding)i;
        return true;
    }
    return false;
}
