/* Blocks of the bundle, unpacked; see block.h. */
#include "schema/block.h"

#include <zstd.h>

#include "base/buf.h"
#include "base/embedded_file.h"
#include "base/mem.h"
#include "base/must.h"

extern const struct embedded_file schema_files[];

const char *const schema_no_words[] = {NULL};

/* The data of the binary is right, so nothing fails. */
static char *unpack(const struct embedded_file *file)
{
    struct buf text = {0};
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = {file->text, file->len, 0};
    must(zstd);
    for (size_t left = 1; left;) {
        size_t room = ZSTD_DStreamOutSize();
        ZSTD_outBuffer out = {buf_reserve(&text, room), room, 0};
        left = ZSTD_decompressStream(zstd, &out, &in);
        must(!ZSTD_isError(left));
        text.len += out.pos;
    }
    ZSTD_freeDCtx(zstd);
    size_t size = text.len + 1;
    return xrealloc(buf_take(&text), size);
}

char *schema_unpack(const char *name)
{
    for (const struct embedded_file *file = schema_files; file->path; file++)
        if (strcmp(file->path, name) == 0) return unpack(file);
    return NULL;
}

const char *const *schema_words(char *text)
{
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    const char **words = xcalloc(n + 1, sizeof *words);
    for (size_t i = 0; i < n; i++) {
        words[i] = text;
        text += strcspn(text, ",");
        if (*text) *text++ = '\0';
    }
    return words;
}

static char *cut(char **rest, char at)
{
    char *begin = *rest;
    if (!*begin) return NULL;
    char *end = strchrnul(begin, at);
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

char *schema_line(char **rest)
{
    return cut(rest, '\n');
}

char *schema_word(char **line)
{
    return cut(line, '\t');
}

char *schema_value(char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}
