/* JSON with holes; see template.h. */
#include "sim/text/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/embedded_file.h"
#include "base/must.h"

extern const struct embedded_file sim_templates[];

static int find(const char *const *names, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(name, names[i])) return (int)i;
    must(!"a hole without a value");
    return -1;
}

/* Takes what is in `text`. */
static void add_piece(struct sim_template *template, struct buf *text, int hole)
{
    size_t len = text->len;
    *array_add(template->pieces, template->count) = (struct sim_piece){{buf_take(text), len}, hole};
}

struct str sim_template_source(const char *name)
{
    const struct embedded_file *file = sim_templates;
    while (strcmp(file->path, name) != 0) file++;
    return (struct str){file->text, file->len};
}

struct sim_template sim_template_parse(struct str source, const char *const *names, size_t count)
{
    struct sim_template template = {0};
    struct buf text = {0};
    struct str rest, name;
    while (source.n) {
        rest = (struct str){source.p + 1, source.n - 1};
        if (*source.p == '<') {
            str_cut(&rest, '>', &name);
            add_piece(&template, &text, find(names, count, name));
        } else if (*source.p == '\n') {
            while (rest.n && strchr("\n ", *rest.p)) rest.p++, rest.n--;
        } else
            buf_putc(&text, *source.p);
        source = rest;
    }
    add_piece(&template, &text, -1);
    return template;
}

void sim_template_fill(const struct sim_template *template, const struct str *values, struct buf *out)
{
    for (size_t i = 0; i < template->count; i++) {
        const struct sim_piece *piece = &template->pieces[i];
        buf_str(out, piece->text);
        if (piece->hole >= 0) buf_str(out, values[piece->hole]);
    }
}

void sim_template_clear(struct sim_template *template)
{
    for (size_t i = 0; i < template->count; i++) free((char *)template->pieces[i].text.p);
    free(template->pieces);
    template->pieces = NULL;
    template->count = 0;
}
