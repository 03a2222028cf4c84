/* Findings and where they are; see check.h. */
#include "app/check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/json_out.h"
#include "base/file.h"
#include "base/mem.h"

enum { SOURCE_MAX = 16 << 20 };

static void add(struct findings *findings, const char *file, int line, bool is_warning, char *text)
{
    findings->items = xrealloc(findings->items, (findings->count + 1) * sizeof *findings->items);
    findings->items[findings->count++] =
        (struct finding){.file = xstrdup(file), .line = line, .is_warning = is_warning, .text = text};
    if (is_warning)
        findings->warnings++;
    else
        findings->errors++;
}

void findings_add(struct findings *findings, const char *file, int line, bool is_warning, const char *format,
                  ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(findings, file, line, is_warning, xstrdup(text));
}

/* Names of files have no blank before the number, or what stands there is no place. */
void findings_add_error(struct findings *findings, const char *file, const char *text)
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
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->text, y->text);
}

void findings_sort(struct findings *findings, size_t first)
{
    if (findings->count > first)
        qsort(findings->items + first, findings->count - first, sizeof *findings->items, compare);
}

void findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].file);
        free(findings->items[i].text);
    }
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

void findings_print(const struct findings *findings, bool as_json, struct buf *out)
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

int find_line(const char *file, const char *text)
{
    struct buf source = {0};
    struct err err;
    int line = 0, found = 0;
    if (file_read(file, SOURCE_MAX, &source, &err)) {
        struct str rest = buf_slice(&source), one;
        while (!found && str_cut(&rest, '\n', &one)) {
            const char *comment = memmem(one.p, one.n, "--", 2);
            size_t n = comment ? (size_t)(comment - one.p) : one.n;
            line++;
            if (memmem(one.p, n, text, strlen(text))) found = line;
        }
    }
    buf_clear(&source);
    return found;
}
