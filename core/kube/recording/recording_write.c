/* Writes one stream into a file; see recording.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/text/json_out.h"
#include "kube/recording/recording.h"

/* WINDOW_LOG bounds the memory of readers, which hold a window of each stream. */
enum { LEVEL = 3, WINDOW_LOG = 19, OUT = 128 << 10 };

static const char *const types[] = {"ITEM", "LISTED", "ADDED", "MODIFIED", "DELETED"};

struct recording_writer {
    FILE *file;
    char *path;
    ZSTD_CCtx *zstd;
    char *out;
    int64_t begin_us;
    struct buf line;
    struct err err; /* the first failure */
};

void recording_stream_clear(struct recording_stream *stream)
{
    resource_clear(&stream->resource);
    free(stream->namespace_);
    free(stream->label_selector);
    free(stream->field_selector);
    *stream = (struct recording_stream){0};
}

static void fail(struct recording_writer *writer)
{
    if (writer->err.code == ERR_NONE) err_set(&writer->err, ERR_IO, "%s: %s", writer->path, strerror(errno));
}

static void compress(struct recording_writer *writer, struct str text, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {text.p, text.n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {writer->out, OUT, 0};
        left = ZSTD_compressStream2(writer->zstd, &out, &in, end);
        must(!ZSTD_isError(left));
        if (out.pos && fwrite(writer->out, 1, out.pos, writer->file) != out.pos) fail(writer);
    } while (end == ZSTD_e_continue ? in.pos < in.size : left > 0);
}

static void put_head(struct recording_writer *writer, const struct recording_stream *stream)
{
    struct buf *line = &writer->line;
    json_open(line, NULL, '{');
    json_int(line, "kubelua_recording", RECORDING_VERSION);
    json_int(line, "begin_us", stream->begin_us);
    json_text(line, "group", stream->resource.group);
    json_text(line, "version", stream->resource.version);
    json_text(line, "kind", stream->resource.kind);
    json_text(line, "plural", stream->resource.plural);
    json_bool(line, "namespaced", stream->resource.namespaced);
    json_text(line, "namespace", stream->namespace_);
    json_text(line, "selector", stream->label_selector);
    json_text(line, "field_selector", stream->field_selector);
    json_bool(line, "redacted", stream->redacted);
    buf_puts(line, "}\n");
    compress(writer, buf_slice(line), ZSTD_e_continue);
}

/* Creates the file for its owner only, as it has complete objects. */
static FILE *create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && !file) close(fd);
    return file;
}

struct recording_writer *recording_writer_new(const char *path, const struct recording_stream *stream,
                                              struct err *err)
{
    FILE *file = create(path);
    if (!file) {
        err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct recording_writer *writer = NEW(struct recording_writer);
    writer->file = file;
    writer->path = xstrdup(path);
    writer->begin_us = stream->begin_us;
    writer->zstd = ZSTD_createCCtx();
    must(writer->zstd);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_windowLog, WINDOW_LOG);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
    writer->out = xmalloc(OUT);
    err_clear(&writer->err);
    put_head(writer, stream);
    return writer;
}

/* Returns the time since the beginning, within its bounds, as the wall clock may have been set. */
static int64_t since_begin(const struct recording_writer *writer, int64_t at_us)
{
    int64_t since_us = at_us - writer->begin_us;
    return since_us < 0 ? 0 : since_us > RECORDING_AT_MAX_US ? RECORDING_AT_MAX_US : since_us;
}

void recording_writer_put(struct recording_writer *writer, enum recording_type type, int64_t at_us,
                          struct str object)
{
    struct buf *line = &writer->line;
    line->len = 0;
    json_open(line, NULL, '{');
    json_int(line, "at_us", since_begin(writer, at_us));
    json_text(line, "type", types[type]);
    if (type == RECORDING_LISTED)
        json_str(line, "resourceVersion", object);
    else
        json_raw(line, "object", object);
    buf_puts(line, "}\n");
    compress(writer, buf_slice(line), ZSTD_e_continue);
}

bool recording_writer_flush(struct recording_writer *writer)
{
    compress(writer, (struct str){"", 0}, ZSTD_e_flush);
    if (fflush(writer->file) != 0) fail(writer);
    return writer->err.code == ERR_NONE;
}

bool recording_writer_end(struct recording_writer *writer, struct err *err)
{
    compress(writer, (struct str){"", 0}, ZSTD_e_end);
    if (fclose(writer->file) != 0) fail(writer);
    bool ok = writer->err.code == ERR_NONE;
    if (!ok) *err = writer->err;
    ZSTD_freeCCtx(writer->zstd);
    buf_clear(&writer->line);
    free(writer->out);
    free(writer->path);
    free(writer);
    return ok;
}
