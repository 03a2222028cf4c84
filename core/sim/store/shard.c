/* Selectors of shards; see shard.h. */
#include "sim/store/shard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/text.h"

enum { HEX_DIGITS = 16, WORDS_MAX = 3 };

static const char whole[] = "0x10000000000000000"; /* the end of the last range */

struct shard_range {
    uint64_t first, last;
};

struct sim_shard {
    bool by_namespace;
    struct shard_range *ranges;
    size_t count;
    struct buf text;
};

static bool fail(char **message, char *why)
{
    *message = xasprintf("invalid shard selector: %s", why);
    free(why);
    return false;
}

/* Takes `name(a, 'b', "c")`: the arguments, without their quotes, are cut out of the text. */
static bool take_call(char **rest, const char *name, char *words[static WORDS_MAX])
{
    char *at = *rest + strspn(*rest, " ");
    if (strncmp(at, name, strlen(name)) != 0 || at[strlen(name)] != '(') return false;
    char *end = strchr(at, ')'), *list = at + strlen(name) + 1;
    if (!end) return false;
    *end = '\0';
    *rest = end + 1 + strspn(end + 1, " ");
    for (size_t i = 0; i < WORDS_MAX; i++) {
        if (!(words[i] = strsep(&list, ","))) return false;
        words[i] += strspn(words[i], " '\"");
        words[i][strcspn(words[i], " '\"")] = '\0';
    }
    return !list;
}

static bool read_hex(const char *what, const char *text, uint64_t *number, char **message)
{
    size_t n = strncmp(text, "0x", 2) == 0 ? strlen(text) - 2 : 0;
    *number = 0;
    if (strcmp(what, "hexEnd") == 0 && strcmp(text, whole) == 0) return true;
    if (n == 0 || n > HEX_DIGITS)
        return fail(message,
                    xasprintf("%s must be a 0x-prefixed 16-digit hex value, got \"%s\"", what, text));
    if (n < HEX_DIGITS)
        return fail(message,
                    xasprintf("%s must be a 0x-prefixed 16-digit hex value, got \"%s\" (did you mean "
                              "\"0x%0*d%s\"?)",
                              what, text, (int)(HEX_DIGITS - n), 0, text + 2));
    for (const char *digit = text + 2; *digit; digit++)
        if (!isxdigit((unsigned char)*digit) || isupper((unsigned char)*digit))
            return fail(message, xasprintf("%s: invalid hex character \"%c\" in \"%s\"", what, *digit, text));
    *number = strtoull(text + 2, NULL, 16);
    return true;
}

static bool add_range(struct sim_shard *shard, char *const words[static WORDS_MAX], char **message)
{
    static const char *const fields[] = {"object.metadata.uid", "object.metadata.namespace"};
    uint64_t first, end;
    bool by_namespace = strcmp(words[0], fields[1]) == 0;
    if (!by_namespace && strcmp(words[0], fields[0]) != 0)
        return fail(message, xasprintf("unsupported field path \"%s\"; supported: %s, %s", words[0],
                                       fields[0], fields[1]));
    if (!read_hex("hexStart", words[1], &first, message) || !read_hex("hexEnd", words[2], &end, message))
        return false;
    if (strcmp(words[2], whole) != 0 && first >= end)
        return fail(message, xasprintf("shard range start %s must be less than end %s", words[1], words[2]));
    if (shard->count && by_namespace != shard->by_namespace)
        return fail(message, xasprintf("all shard ranges must use the same field, got \"%s\" and \"%s\"",
                                       fields[shard->by_namespace], words[0]));
    shard->by_namespace = by_namespace;
    buf_printf(&shard->text, "%sshardRange(%s, '%s', '%s')", shard->count ? " || " : "", words[0], words[1],
               words[2]);
    *array_add(shard->ranges, shard->count) = (struct shard_range){first, end - 1};
    return true;
}

struct sim_shard *sim_shard_parse(const char *text, char **message)
{
    struct sim_shard *shard = NEW(struct sim_shard);
    char *copy = xstrdup(text), *rest = copy, *words[WORDS_MAX];
    bool good, more = true;
    *message = NULL;
    do {
        good = take_call(&rest, "shardRange", words) ||
               fail(message, xstrdup("unexpected expression kind 3; expected shardRange() call or || "
                                     "operator"));
        good = good && add_range(shard, words, message);
        more = good && strncmp(rest, "||", 2) == 0;
        rest += more ? 2 : 0;
    } while (more);
    if (good && *rest) good = fail(message, xasprintf("unexpected text \"%s\"", rest));
    free(copy);
    if (good) return shard;
    sim_shard_free(shard);
    return NULL;
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
    return buf_text((struct buf *)&shard->text);
}

void sim_shard_free(struct sim_shard *shard)
{
    if (!shard) return;
    free(shard->ranges);
    buf_clear(&shard->text);
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
