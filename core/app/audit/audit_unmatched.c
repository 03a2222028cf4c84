/* Objects that nobody looks at; see audit_unmatched.h. */
#include "app/audit/audit_unmatched.h"

#include <stdio.h>
#include <string.h>

#include "base/text/terminal.h"
#include "kube/kinds/well_known.h"

enum { REPORTED_BYTES_MAX = 4 << 10 };

/* "apps/v1/Deploymnt" */
static void put_name(struct buf *out, struct str api_version, struct str kind)
{
    out->len = 0;
    buf_printf(out, "%.*s/%.*s", STR_ARG(api_version), STR_ARG(kind));
}

static bool was_reported(const struct audit_unmatched *u)
{
    struct str rest = buf_slice(&u->reported), reported;
    while (str_cut(&rest, '\n', &reported))
        if (str_eq(reported, buf_slice(&u->last))) return true;
    return u->reported.len > REPORTED_BYTES_MAX;
}

/* Each once: a manifest may have a hundred of them. */
static void report(struct audit_unmatched *u, struct str file, size_t line)
{
    struct err err;
    struct buf text = {0};
    if (!u->known) u->known = catalogue_well_known();
    if (was_reported(u) || !well_known_refuses_type(u->known, buf_slice(&u->last), &err)) return;
    buf_str(&u->reported, buf_slice(&u->last));
    buf_putc(&u->reported, '\n');
    buf_printf(&text, "%.*s:%zu: no rule matches it: %s", STR_ARG(file), line, err.text);
    struct buf shown = {0};
    terminal_put(&shown, buf_slice(&text));
    fprintf(stderr, "kubelua audit: %s\n", buf_text(&shown));
    buf_clear(&shown);
    buf_clear(&text);
}

void audit_unmatched_note(struct audit_unmatched *u, struct str api_version, struct str kind, struct str file,
                          size_t line)
{
    struct buf name = {0};
    u->count++;
    put_name(&name, api_version, kind);
    bool is_last = str_eq(buf_slice(&name), buf_slice(&u->last));
    buf_clear(&u->last);
    u->last = name;
    if (!is_last) report(u, file, line);
}

void audit_unmatched_clear(struct audit_unmatched *u)
{
    catalogue_free(u->known);
    buf_clear(&u->last);
    buf_clear(&u->reported);
    *u = (struct audit_unmatched){0};
}
