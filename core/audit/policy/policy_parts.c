/* Documents of a namespace's report; see policy_parts.h. */
#include "audit/policy/policy_parts.h"

#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_parts_internal.h"
#include "base/mem.h"
#include "object/value/value.h"

/* --- how many */

/* What the fullest document has to say, if there are so many. */
static size_t fullest(const struct policy_parts *parts, size_t count)
{
    size_t bytes[POLICY_PARTS_MAX] = {0}, most = 0;
    for (size_t i = 0; i < POLICY_PARTS_MAX; i++) bytes[i & (count - 1)] += parts->buckets[i].all;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] > most) most = bytes[i];
    return most;
}

/* The least power of two that will do. One that was enough before stays until half as many are half empty:
 * each time all documents are written anew. */
static size_t count_of(const struct policy_parts *parts)
{
    size_t count = 1, before = 1;
    while (before < parts->options.before && before < POLICY_PARTS_MAX) before *= 2;
    while (count < POLICY_PARTS_MAX && fullest(parts, count) > FILL_BYTES) count *= 2;
    if (count < before && fullest(parts, before / 2) > FILL_BYTES / 2) count = before;
    return count;
}

/* --- one of them */

static int by_need(const void *pa, const void *pb)
{
    return said_compare(*(const struct said *const *)pa, *(const struct said *const *)pb);
}

static struct str kind_of(const struct said *said, struct text *text)
{
    return value_str(value_field(root_value(said->object), STR("kind")), text);
}

/* As people look for it; of those alone that are shown, as names take longer to compare. */
static int by_name(const void *pa, const void *pb)
{
    const struct said *a = *(const struct said *const *)pa, *b = *(const struct said *const *)pb;
    struct text ta, tb;
    if (a->rule->severity != b->rule->severity) return a->rule->severity > b->rule->severity ? -1 : 1;
    int order = a->rule == b->rule ? 0 : strcmp(a->rule->id, b->rule->id);
    if (!order) order = str_cmp(kind_of(a, &ta), kind_of(b, &tb));
    if (!order) order = str_cmp(root_name(a->object, &ta), root_name(b->object, &tb));
    return order;
}

static size_t collect(struct policy_parts *parts, size_t i)
{
    size_t used = 0, room = 0;
    for (size_t j = i; j < POLICY_PARTS_MAX; j += parts->count) room += parts->buckets[j].used;
    parts->shown = xrealloc(parts->shown, (room + 1) * sizeof *parts->shown);
    parts->left_out = 0;
    for (size_t j = i; j < POLICY_PARTS_MAX; j += parts->count) {
        const struct bucket *bucket = &parts->buckets[j];
        for (size_t n = 0; n < bucket->used; n++) parts->shown[used++] = &bucket->items[n];
        parts->left_out += bucket->left_out;
    }
    return used;
}

/* One that is too large alone is shown in part. */
void parts_show(struct policy_parts *parts, size_t i)
{
    size_t bytes = 0, used;
    if (parts->at == i + 1) return;
    parts->at = i + 1;
    used = collect(parts, i);
    qsort(parts->shown, used, sizeof *parts->shown, by_need);
    parts->shown_count = 0;
    for (size_t n = 0; n < used; n++) {
        bytes += parts->shown[n]->bytes;
        if (bytes <= RESULTS_BYTES || n == 0)
            parts->shown_count++;
        else
            parts->left_out += parts->shown[n]->results;
    }
    qsort(parts->shown, parts->shown_count, sizeof *parts->shown, by_name);
}

/* --- all of them */

struct policy_parts *policy_parts_new(const struct policy_parts_options *options)
{
    struct policy_parts *parts = NEW(struct policy_parts);
    parts->options = *options;
    parts->options.incomplete = options->incomplete ? xstrdup(options->incomplete) : NULL;
    return parts;
}

void policy_parts_free(struct policy_parts *parts)
{
    if (!parts) return;
    continuous_walk_free(parts->options.walk);
    parts_forget(parts);
    buf_clear(&parts->scratch);
    free((char *)parts->options.incomplete);
    free(parts->shown);
    free(parts);
}

bool policy_parts_gather(struct policy_parts *parts, size_t max)
{
    if (continuous_walk_on(parts->options.walk, max, parts_take_in, parts)) return true;
    if (parts->count) parts->count = count_of(parts);
    return false;
}

size_t policy_parts_unasked(const struct policy_parts *parts)
{
    return continuous_walk_unasked(parts->options.walk);
}

void policy_parts_add_incomplete(struct policy_parts *parts, const char *why)
{
    char *before = (char *)parts->options.incomplete;
    parts->options.incomplete = before ? xasprintf("%s. %s", before, why) : xstrdup(why);
    free(before);
}

size_t policy_parts_count(const struct policy_parts *parts)
{
    return parts->count;
}
