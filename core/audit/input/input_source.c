/* Unpacks plain, gzip and zstd as they are read, so that memory does not depend on the unpacked size; see
 * input_source.h. */
#include "audit/input/input_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/must.h"

enum { RAW = 64 << 10, MAGIC_MAX = 4, GZIP_WINDOW = 15 + 16 };

enum source_packing { PACKING_UNKNOWN, PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct input_source {
    int fd;
    enum source_packing packing;
    bool ended;  /* end of file reached */
    bool inside; /* inside of a gzip member or a zstd frame */
    size_t at, len;
    uint64_t taken;
    off_t start;   /* of a regular file: where reading began */
    bool by_place; /* it was moved: reads do not use the offset, which forks share */
    uint64_t until;
    z_stream gzip;
    ZSTD_DStream *zstd;
    char raw[RAW];
};

struct input_source *input_source_new(int fd)
{
    struct input_source *s = NEW(struct input_source);
    s->fd = fd;
    s->start = lseek(fd, 0, SEEK_CUR);
    return s;
}

void input_source_free(struct input_source *s)
{
    if (!s) return;
    if (s->packing == PACKING_GZIP) inflateEnd(&s->gzip);
    ZSTD_freeDStream(s->zstd);
    close(s->fd);
    free(s);
}

uint64_t input_source_taken(const struct input_source *s)
{
    return s->taken;
}

uint64_t input_source_given(const struct input_source *s)
{
    return s->taken - (s->len - s->at);
}

static bool read_some(struct input_source *s, char *to, size_t room, size_t *got, struct err *err)
{
    ssize_t n;
    if (s->until && s->until - s->taken < room) room = (size_t)(s->until - s->taken);
    do n = s->by_place ? pread(s->fd, to, room, s->start + (off_t)s->taken) : read(s->fd, to, room);
    while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    s->taken += *got;
    s->ended = n == 0;
    return n >= 0 || err_set(err, ERR_IO, "%s", strerror(errno));
}

/* Reads more bytes of the file, after those that are not used yet, if there is room. */
static bool fill(struct input_source *s, struct err *err)
{
    size_t got;
    if (s->at > 0) memmove(s->raw, s->raw + s->at, s->len -= s->at);
    s->at = 0;
    if (!read_some(s, s->raw + s->len, RAW - s->len, &got, err)) return false;
    s->len += got;
    return true;
}

static bool has_magic(const struct input_source *s, const char *magic, size_t n)
{
    return s->len - s->at >= n && memcmp(s->raw + s->at, magic, n) == 0;
}

static bool find_packing(struct input_source *s, struct err *err)
{
    while (!s->ended && s->len < MAGIC_MAX)
        if (!fill(s, err)) return false;
    s->packing = PACKING_NONE;
    if (has_magic(s, "\x1f\x8b", 2)) {
        must(inflateInit2(&s->gzip, GZIP_WINDOW) == Z_OK);
        s->packing = PACKING_GZIP;
    } else if (has_magic(s, "\x28\xb5\x2f\xfd", 4)) {
        s->zstd = ZSTD_createDStream();
        must(s->zstd);
        s->packing = PACKING_ZSTD;
    }
    return true;
}

static bool read_plain(struct input_source *s, char *to, size_t room, size_t *got, struct err *err)
{
    size_t left = s->len - s->at;
    if (!left) return read_some(s, to, room, got, err);
    *got = left < room ? left : room;
    memcpy(to, s->raw + s->at, *got);
    s->at += *got;
    return true;
}

static bool damaged(const struct input_source *s, const char *what, const char *why, struct err *err)
{
    return err_set(err, ERR_PARSE, "byte %llu: damaged %s data%s%s",
                   (unsigned long long)(s->taken - (s->len - s->at)), what, why ? ": " : "", why ? why : "");
}

/* Refuses an end of the file inside of a member or a frame. */
static bool check_end(const struct input_source *s, const char *what, struct err *err)
{
    return !s->inside || err_set(err, ERR_CLOSED, "byte %llu: unexpected end of %s data",
                                 (unsigned long long)s->taken, what);
}

/* Continues with the next member, as gzip itself does for a file with several. */
static bool next_member(struct input_source *s, struct err *err)
{
    if (s->inside || s->gzip.total_in == 0) return s->inside = true;
    while (!s->ended && s->len - s->at < 2)
        if (!fill(s, err)) return false;
    if (!has_magic(s, "\x1f\x8b", 2)) return damaged(s, "gzip", "more behind its end", err);
    must(inflateReset(&s->gzip) == Z_OK);
    return s->inside = true;
}

static bool read_gzip(struct input_source *s, char *to, size_t room, size_t *got, struct err *err)
{
    *got = 0;
    while (*got == 0) {
        if (s->at == s->len && !s->ended && !fill(s, err)) return false;
        if (s->at == s->len && s->ended) return check_end(s, "gzip", err);
        if (!next_member(s, err)) return false;
        s->gzip.next_in = (Bytef *)s->raw + s->at;
        s->gzip.avail_in = (uInt)(s->len - s->at);
        s->gzip.next_out = (Bytef *)to;
        s->gzip.avail_out = (uInt)room;
        int code = inflate(&s->gzip, Z_NO_FLUSH);
        s->at = s->len - s->gzip.avail_in;
        *got = room - s->gzip.avail_out;
        if (code == Z_STREAM_END) s->inside = false;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return damaged(s, "gzip", s->gzip.msg, err);
    }
    return true;
}

static bool read_zstd(struct input_source *s, char *to, size_t room, size_t *got, struct err *err)
{
    ZSTD_outBuffer out = {to, room, 0};
    while (out.pos == 0) {
        if (s->at == s->len && !s->ended && !fill(s, err)) return false;
        ZSTD_inBuffer in = {s->raw, s->len, s->at};
        bool nothing_left = s->at == s->len;
        size_t code = nothing_left && !s->inside ? 0 : ZSTD_decompressStream(s->zstd, &out, &in);
        s->at = in.pos;
        if (ZSTD_isError(code)) return damaged(s, "zstd", ZSTD_getErrorName(code), err);
        s->inside = code > 0;
        if (nothing_left && s->ended && out.pos == 0) break;
    }
    *got = out.pos;
    return *got > 0 || check_end(s, "zstd", err);
}

bool input_source_read(struct input_source *s, char *to, size_t room, size_t *got, struct err *err)
{
    *got = 0;
    if (s->packing == PACKING_UNKNOWN && !find_packing(s, err)) return false;
    switch (s->packing) {
    case PACKING_GZIP: return read_gzip(s, to, room, got, err);
    case PACKING_ZSTD: return read_zstd(s, to, room, got, err);
    default: return read_plain(s, to, room, got, err);
    }
}

/* --- a file that several processes read */

uint64_t input_source_plain_size(const struct input_source *s)
{
    struct stat is;
    if (s->packing != PACKING_NONE || s->start < 0 || fstat(s->fd, &is) != 0 || !S_ISREG(is.st_mode))
        return 0;
    return is.st_size > s->start ? (uint64_t)(is.st_size - s->start) : 0;
}

void input_source_move(struct input_source *s, uint64_t at, uint64_t until)
{
    s->at = s->len = 0;
    s->taken = at;
    s->until = until;
    s->ended = false;
    s->by_place = true;
}

size_t input_source_look(const struct input_source *s, uint64_t at, char *to, size_t room)
{
    size_t got = 0;
    while (got < room) {
        ssize_t n = pread(s->fd, to + got, room - got, s->start + (off_t)(at + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

int input_source_fd(const struct input_source *s)
{
    return s->fd;
}

void input_source_set_fd(struct input_source *s, int fd)
{
    s->fd = fd;
}
