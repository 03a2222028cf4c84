/* Fixes as commands of kubectl; see fix_script.h. No text of an object ends a line or a quote of it. */
#include "audit/fix/fix_script.h"

#include "base/text/json_out.h"
#include "base/text/shell.h"
#include "base/text/terminal.h"

static void put_namespace(struct buf *out, const struct audit_fix *fix)
{
    if (!*fix->ns) return;
    buf_puts(out, " -n ");
    shell_put(out, str_of(fix->ns));
}

/* A name that looks like a flag stands where none is read. */
static void put_object(struct buf *out, const struct audit_fix *fix, bool last)
{
    bool is_odd = *fix->type == '-' || *fix->name == '-';
    if (is_odd != last) return;
    buf_puts(out, last ? " -- " : " ");
    shell_put(out, str_of(fix->type));
    buf_putc(out, ' ');
    shell_put(out, str_of(fix->name));
}

static void put_patch(struct buf *out, const struct audit_fix *fix)
{
    struct buf json = {0};
    terminal_put_json(&json, str_of(fix->json));
    buf_puts(out, "kubectl patch");
    put_object(out, fix, false);
    put_namespace(out, fix);
    buf_printf(out, " --type %s -p ", audit_fix_type(fix));
    shell_put(out, buf_slice(&json));
    put_object(out, fix, true);
    buf_putc(out, '\n');
    buf_clear(&json);
}

/* No line of the YAML is the end of the document: each has a key, or is an item of a list. */
static void put_manifest(struct buf *out, const struct audit_fix *fix)
{
    struct buf yaml = {0};
    json_yaml(&yaml, str_of(fix->json), 0, false);
    buf_puts(out, "kubectl apply -f - <<'EOF'\n");
    terminal_put_json(out, buf_slice(&yaml));
    buf_puts(out, "EOF\n");
    buf_clear(&yaml);
}

/* Prints the manifest as a comment: it would change an object of another owner, so it is for reading, and
 * must not run when all lines are pasted. */
static void put_comment(struct buf *out, const struct audit_fix *fix)
{
    struct buf commands = {0};
    buf_puts(out, "# ");
    terminal_put(out, str_of(fix->kind));
    buf_putc(out, ' ');
    terminal_put(out, str_of(fix->ns));
    if (*fix->ns) buf_putc(out, '/');
    terminal_put(out, str_of(fix->name));
    buf_puts(out, " already exists and would be changed by:\n");
    put_manifest(&commands, fix);
    struct str rest = buf_slice(&commands), line;
    while (str_cut(&rest, '\n', &line) && rest.p) buf_printf(out, "# %.*s\n", STR_ARG(line));
    buf_clear(&commands);
}

void fix_script_write(const struct audit_fixes *fixes, FILE *out)
{
    struct buf text = {0};
    for (size_t i = 0; i < fixes->count; i++) {
        const struct audit_fix *fix = &fixes->items[i];
        buf_str(&text, buf_slice(&fix->reasons));
        if (fix->is_there)
            put_comment(&text, fix);
        else if (fix->is_manifest)
            put_manifest(&text, fix);
        else
            put_patch(&text, fix);
        fwrite(text.data, 1, text.len, out);
        text.len = 0;
    }
    buf_clear(&text);
}
