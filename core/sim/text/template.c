/* JSON with holes; see template.h. */
#include "sim/text/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"

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

void sim_template_parse(struct sim_template *template, const char *const *names, size_t count)
{
    struct buf text = {0};
    for (const char *at = template->source; *at; at++) {
        const char *end = *at == '<' ? strchr(at, '>') : NULL;
        if (end) {
            add_piece(template, &text, find(names, count, (struct str){at + 1, (size_t)(end - at) - 1}));
            at = end;
        } else if (*at == '\'')
            buf_putc(&text, '"');
        else if (*at == '`')
            buf_puts(&text, "\\\"");
        else if (*at == '\n')
            at += strspn(at, "\n ") - 1;
        else
            buf_putc(&text, *at);
    }
    add_piece(template, &text, -1);
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
