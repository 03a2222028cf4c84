/* The kind that somebody meant who wrote it wrong; see resource.h. */
#include <ctype.h>

#include "base/mem.h"
#include "kube/catalogue.h"

enum { NAME_MAX_LEN = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, drop, replace) from one to the other, capitals apart. Names that are too long are far. */
static size_t distance(struct str a, struct str b)
{
    size_t row[NAME_MAX_LEN + 1];
    if (a.n > NAME_MAX_LEN || b.n > NAME_MAX_LEN) return NAME_MAX_LEN;
    for (size_t j = 0; j <= b.n; j++) row[j] = j;
    for (size_t i = 0; i < a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.n; j++) {
            size_t above = row[j + 1];
            size_t replaced = diagonal + (tolower((unsigned char)a.p[i]) != tolower((unsigned char)b.p[j]));
            row[j + 1] = smaller(smaller(above, row[j]) + 1, replaced);
            diagonal = above;
        }
    }
    return row[b.n];
}

/* A mistake in one letter of three is still a mistake; more is another word. */
bool catalogue_nearest(const struct catalogue *catalogue, struct str name, struct buf *out)
{
    struct str bare = name, rest = name;
    if (memchr(name.p ? name.p : "", '/', name.n))
        while (str_cut(&rest, '/', &bare)) continue;
    else
        str_cut(&rest, '.', &bare);
    const struct catalogue_entry *best = NULL;
    size_t best_distance = bare.n / 3 + 1;
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        size_t d = smaller(distance(bare, str_of(entry->resource.plural)),
                           distance(bare, str_of(entry->resource.kind)));
        if (d >= best_distance) continue;
        best = entry;
        best_distance = d;
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
