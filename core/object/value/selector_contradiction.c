/* Selectors that no labels can match; see selector.h. Requirements on different keys never contradict each
 * other, so each key is looked at alone. */
#include "object/value/selector.h"
#include "object/value/selector_internal.h"

static bool all_match(const struct requirement *r, size_t n, bool present, struct str value)
{
    for (size_t i = 0; i < n; i++)
        if (!requirement_matches(&r[i], present, value)) return false;
    return true;
}

static bool is_set(const struct requirement *r)
{
    return r->op == OP_IN || r->op == OP_EQUALS || r->op == OP_DOUBLE_EQUALS;
}

/* Of `>` and `<` alone; what else is excluded leaves values over, as long as there is room for many. */
static bool has_number(const struct requirement *r, size_t n)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    bool has_low = false, has_high = false;
    for (size_t i = 0; i < n; i++) {
        if (r[i].op == OP_NOT_EXISTS) return false;
        has_low |= r[i].op == OP_GREATER;
        has_high |= r[i].op == OP_LESS;
        if (r[i].op == OP_GREATER && r[i].number > low) low = r[i].number;
        if (r[i].op == OP_LESS && r[i].number < high) high = r[i].number;
    }
    if ((has_low && low == INT64_MAX) || (has_high && high == INT64_MIN)) return false;
    if (!has_low || !has_high) return true;
    return low < high && (uint64_t)high - (uint64_t)low > 1;
}

static bool can_match(const struct requirement *r, size_t n)
{
    if (all_match(r, n, false, (struct str){0})) return true;
    for (size_t i = 0; i < n; i++) {
        if (!is_set(&r[i])) continue;
        for (size_t v = 0; v < r[i].count; v++)
            if (all_match(r, n, true, r[i].values[v])) return true;
        return false;
    }
    return has_number(r, n);
}

struct str selector_contradiction(const struct selector *selector)
{
    for (size_t first = 0, end; first < selector->count; first = end) {
        const struct requirement *r = &selector->requirements[first];
        for (end = first + 1; end < selector->count; end++)
            if (!str_eq(selector->requirements[end].key.text, r->key.text)) break;
        if (!can_match(r, end - first)) return r->key.text;
    }
    return (struct str){0};
}
