/* Findings and where they are; see check.h. */
#include "app/check/check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "script/inventory/inventory.h"

enum { SOURCE_MAX = 16 << 20 };

static void add(struct findings *findings, const char *file, int line, bool is_warning, char *text)
{
    *array_add(findings->items, findings->count) = (struct finding){.script = findings->script,
                                                                    .file = xstrdup(file),
                                                                    .line = line,
                                                                    .is_warning = is_warning,
                                                                    .text = text};
    *(is_warning ? &findings->warnings : &findings->errors) += 1;
}

void diagnostics_add(struct findings *findings, const char *file, int line, bool is_warning,
                     const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(findings, file, line, is_warning, xstrdup(text));
}

/* Names of files have no blank before the number, or what stands there is no place. */
void diagnostics_add_error(struct findings *findings, const char *file, const char *text)
{
    const char *end = strstr(text, ": ");
    const char *colon = end;
    while (colon && colon > text && isdigit((unsigned char)colon[-1])) colon--;
    if (!end || colon == end || colon == text || colon[-1] != ':') {
        add(findings, file, 0, false, xstrdup(text));
        return;
    }
    char *place = xstrndup(text, (size_t)(colon - 1 - text));
    add(findings, place, (int)strtol(colon, NULL, 10), false, xstrdup(end + 2));
    free(place);
}

static int compare(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->script != y->script) return x->script < y->script ? -1 : 1;
    int by_file = strcmp(x->file, y->file);
    if (by_file) return by_file;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->text, y->text);
}

static void clear(struct finding *finding)
{
    free(finding->file);
    free(finding->text);
}

void diagnostics_sort(struct findings *findings)
{
    size_t kept = 0;
    if (findings->count) qsort(findings->items, findings->count, sizeof *findings->items, compare);
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *one = &findings->items[i];
        if (kept && compare(&findings->items[kept - 1], one) == 0) {
            *(one->is_warning ? &findings->warnings : &findings->errors) -= 1;
            clear(one);
        } else {
            findings->items[kept++] = *one;
        }
    }
    findings->count = kept;
}

void findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) clear(&findings->items[i]);
    free(findings->items);
    *findings = (struct findings){0};
}

static void print_json(const struct findings *findings, struct buf *out)
{
    json_open(out, NULL, '[');
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *one = &findings->items[i];
        json_open(out, NULL, '{');
        json_text(out, "file", one->file);
        if (one->line) json_int(out, "line", one->line);
        json_text(out, "severity", one->is_warning ? "warning" : "error");
        json_text(out, "message", one->text);
        json_close(out, '}');
    }
    json_close(out, ']');
    buf_putc(out, '\n');
}

void diagnostics_print(const struct findings *findings, bool as_json, struct buf *out)
{
    if (as_json) {
        print_json(findings, out);
        return;
    }
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *one = &findings->items[i];
        buf_puts(out, one->file);
        if (one->line) buf_printf(out, ":%d", one->line);
        buf_printf(out, ": %s: %s\n", one->is_warning ? "warning" : "error", one->text);
    }
}

/* Returns how many more brackets the text opens than it closes; brackets in strings usually come in pairs. */
static int depth_of(struct str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.n; i++)
        depth += (strchr("([{", text.p[i]) != NULL) - (strchr(")]}", text.p[i]) != NULL);
    return depth;
}

static struct str without_comment(struct str line)
{
    const char *comment = memmem(line.p, line.n, "--", 2);
    return (struct str){line.p, comment ? (size_t)(comment - line.p) : line.n};
}

/* The first line that has the text: of those that the call on line `from` takes, or with `from` 0 of all. 0
 * for none. */
static int find_line(const char *file, const char *text, int from)
{
    struct buf source = {0};
    struct err err;
    int line = 0, found = 0, depth = 0;
    if (file_read(file, SOURCE_MAX, &source, &err)) {
        struct str rest = buf_slice(&source), one;
        while (!found && str_cut(&rest, '\n', &one)) {
            struct str code = without_comment(one);
            if (++line < from) continue;
            if (memmem(code.p, code.n, text, strlen(text))) found = line;
            depth += depth_of(code);
            if (from && depth <= 0) break;
        }
    }
    buf_clear(&source);
    return found;
}

struct place find_place(const struct inventory_entry *entry, const char *file, const char *text)
{
    struct place place = {file, 0};
    if (entry && entry->file) place = (struct place){entry->file, entry->line};
    int line = text ? find_line(place.file, text, place.line) : 0;
    if (line) place.line = line;
    return place;
}
