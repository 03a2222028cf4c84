/* Labels and selectors as strings; see texts.h. */
#include "sim/text/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"

int sim_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct label_requirement {
    const char *key;
    const json_t *value;      /* of matchLabels, or NULL */
    const json_t *expression; /* of matchExpressions, or NULL */
};

static int compare_requirements(const void *a, const void *b)
{
    return strcmp(((const struct label_requirement *)a)->key, ((const struct label_requirement *)b)->key);
}

/* " in (a,b)" */
static void add_set(struct buf *b, const char *sign, const json_t *values)
{
    size_t n = json_array_size(values);
    const char **sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = sim_text_at(json_array_get(values, i), "");
    qsort(sorted, n, sizeof *sorted, sim_compare_texts);
    buf_printf(b, " %s (", sign);
    for (size_t i = 0; i < n; i++) buf_printf(b, "%s%s", i ? "," : "", sorted[i]);
    buf_putc(b, ')');
    free(sorted);
}

static bool add_requirement(struct buf *b, const struct label_requirement *r)
{
    const char *sign = sim_text_at(r->expression, "operator");
    const json_t *values = sim_at(r->expression, "values");
    if (b->len) buf_putc(b, ',');
    if (strcmp(sign, "DoesNotExist") == 0) buf_putc(b, '!');
    buf_puts(b, r->key);
    if (r->value)
        buf_printf(b, "=%s", sim_text_at(r->value, ""));
    else if (strcmp(sign, "In") == 0)
        add_set(b, "in", values);
    else if (strcmp(sign, "NotIn") == 0)
        add_set(b, "notin", values);
    else
        return strcmp(sign, "Exists") == 0 || strcmp(sign, "DoesNotExist") == 0;
    return true;
}

static char *text_of(const json_t *labels, const json_t *expressions)
{
    struct label_requirement *all =
        xcalloc(json_object_size(labels) + json_array_size(expressions) + 1, sizeof *all);
    struct buf b = {0};
    size_t count = 0, i;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)labels, key, value)
        all[count++] = (struct label_requirement){key, value, NULL};
    json_array_foreach (expressions, i, value)
        all[count++] = (struct label_requirement){sim_text_at(value, "key"), NULL, value};
    qsort(all, count, sizeof *all, compare_requirements);

    bool known = true;
    for (i = 0; i < count && known; i++) known = add_requirement(&b, &all[i]);
    free(all);
    if (known) return buf_take(&b);
    buf_clear(&b);
    return NULL;
}

char *sim_text_of_labels(const json_t *labels)
{
    return text_of(labels, NULL);
}

char *sim_text_of_selector(const json_t *selector)
{
    return text_of(sim_at(selector, "matchLabels"), sim_at(selector, "matchExpressions"));
}
