/* The kind that somebody meant who wrote it wrong; see resource.h. */
#include "base/mem.h"
#include "base/text/nearest.h"
#include "kube/kinds/catalogue.h"

bool catalogue_nearest(const struct catalogue *catalogue, struct str name, struct buf *out)
{
    struct str bare = name, rest = name;
    if (memchr(name.p ? name.p : "", '/', name.n))
        while (str_cut(&rest, '/', &bare)) continue;
    else
        str_cut(&rest, '.', &bare);
    const struct catalogue_entry *best = NULL;
    struct nearest nearest = nearest_to(bare);
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        const char *before = nearest.name;
        nearest_try(&nearest, entry->resource.plural);
        nearest_try(&nearest, entry->resource.kind);
        if (nearest.name != before) best = entry;
    }
    if (best) resource_name(&best->resource, out);
    return best != NULL;
}

void catalogue_explain(const struct catalogue *catalogue, struct str name, struct err *err)
{
    if (err->code != ERR_NOT_FOUND) return;
    struct buf near = {0}, text = {0};
    const char *failures = catalogue_failures(catalogue);
    buf_puts(&text, err->text);
    if (catalogue_nearest(catalogue, name, &near))
        buf_printf(&text, ", did you mean \"%s\"?", buf_text(&near));
    if (*failures) buf_printf(&text, " (not all groups answered: %s)", failures);
    err_set(err, ERR_NOT_FOUND, "%s", buf_text(&text));
    buf_clear(&near);
    buf_clear(&text);
}
