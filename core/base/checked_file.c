/* Files with a checksum; see checked_file.h. */
#include "base/checked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BUFFER_BYTES = 1 << 20 };

/* In front of the file, written last. */
struct checked_header {
    char magic[8];
    uint32_t number, word; /* `word`: of a machine with the same order of bytes */
    uint64_t length;       /* of the complete file */
    uint64_t sum;          /* of all behind this header, seeded by the length */
};

#define HEADER_WORD 0x01020304u

/* --- writing */

struct checked_out {
    int fd;
    struct checked_header header;
    XXH3_state_t sum;
    size_t used;
    int failed; /* errno; 0: nothing */
    char buffer[BUFFER_BYTES];
};

struct checked_out *checked_out_new(int fd, const struct checked_format *format)
{
    /* The state of the hash has a stricter alignment than malloc gives. */
    struct checked_out *out = aligned_alloc(_Alignof(struct checked_out), sizeof *out);
    if (!out) abort();
    out->fd = fd;
    out->used = 0;
    out->failed = 0;
    out->header =
        (struct checked_header){.number = format->number, .word = HEADER_WORD, .length = sizeof out->header};
    memcpy(out->header.magic, format->magic, sizeof format->magic);
    XXH3_64bits_reset(&out->sum);
    const struct checked_header none = {0};
    if (!file_write(fd, (struct str){(const char *)&none, sizeof none})) out->failed = errno;
    return out;
}

static void flush(struct checked_out *out)
{
    XXH3_64bits_update(&out->sum, out->buffer, out->used);
    if (!out->failed && !file_write(out->fd, (struct str){out->buffer, out->used})) out->failed = errno;
    out->used = 0;
}

void checked_out_put(struct checked_out *out, const void *data, size_t size)
{
    const char *from = data;
    out->header.length += size;
    while (size > 0) {
        size_t part = BUFFER_BYTES - out->used < size ? BUFFER_BYTES - out->used : size;
        memcpy(out->buffer + out->used, from, part);
        out->used += part;
        from += part;
        size -= part;
        if (out->used == BUFFER_BYTES) flush(out);
    }
}

void checked_out_u32(struct checked_out *out, uint32_t number)
{
    checked_out_put(out, &number, sizeof number);
}

void checked_out_str(struct checked_out *out, struct str text)
{
    checked_out_u32(out, (uint32_t)text.n);
    checked_out_put(out, text.p, text.n);
}

static bool write_header(const struct checked_out *out)
{
    return fsync(out->fd) == 0 &&
           pwrite(out->fd, &out->header, sizeof out->header, 0) == sizeof out->header && fsync(out->fd) == 0;
}

/* The header is written when the disk has the rest, so that a machine that loses its power leaves no header
 * before a hole. */
bool checked_out_end(struct checked_out *out, struct err *err)
{
    flush(out);
    out->header.sum = XXH3_64bits_digest(&out->sum) ^ out->header.length;
    if (!out->failed && !write_header(out)) out->failed = errno ? errno : EIO;
    int failed = out->failed;
    free(out);
    return failed ? err_set(err, ERR_IO, "%s", strerror(failed)) : true;
}

/* --- reading */

struct checked_in {
    int fd;
    struct checked_header header;
    XXH3_state_t sum;
    size_t left; /* bytes of the file that were not returned yet */
    bool failed;
    char *path;
};

static bool refuse(const struct checked_in *in, struct err *err, const char *why)
{
    return err_set(err, ERR_PARSE, "%s: %s", in->path, why);
}

static bool check_owner(const struct checked_in *in, const struct stat *st, struct err *err)
{
    if (!S_ISREG(st->st_mode)) return refuse(in, err, "not a regular file");
    if (st->st_uid != geteuid()) return refuse(in, err, "belongs to another user");
    if (st->st_mode & (S_IWGRP | S_IWOTH)) return refuse(in, err, "other users may write it");
    return true;
}

static bool read_header(struct checked_in *in, const struct checked_format *format, struct err *err)
{
    struct stat st;
    if (fstat(in->fd, &st) != 0) return refuse(in, err, strerror(errno));
    if (!check_owner(in, &st, err)) return false;
    const struct checked_header *h = &in->header;
    if (read(in->fd, &in->header, sizeof in->header) != sizeof in->header)
        return refuse(in, err, "incomplete");
    /* Zeros: the writer did not get to its end. */
    if (h->word == 0 && h->length == 0) return refuse(in, err, "incomplete");
    if (memcmp(h->magic, format->magic, sizeof h->magic) != 0)
        return refuse(in, err, "not a file of this kind");
    if (h->word != HEADER_WORD) return refuse(in, err, "written on a machine with another order of bytes");
    if (h->number != format->number)
        return err_set(err, ERR_PARSE, "%s: format %u, this version reads format %u", in->path, h->number,
                       format->number);
    if (h->length != (uint64_t)st.st_size) return refuse(in, err, "incomplete");
    in->left = (size_t)h->length - sizeof *h;
    return true;
}

struct checked_in *checked_in_open(const char *path, const struct checked_format *format, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct checked_in *in = aligned_alloc(_Alignof(struct checked_in), sizeof *in);
    if (!in) abort();
    in->fd = fd;
    in->left = 0;
    in->failed = false;
    in->path = xstrdup(path);
    XXH3_64bits_reset(&in->sum);
    if (read_header(in, format, err)) return in;
    checked_in_free(in);
    return NULL;
}

size_t checked_in_left(const struct checked_in *in)
{
    return in->left;
}

/* Sums up each part right after it was read, while the processor still has it. */
bool checked_in_get(struct checked_in *in, void *data, size_t size)
{
    char *to = data;
    if (size > in->left) in->failed = true;
    while (!in->failed && size > 0) {
        ssize_t got = read(in->fd, to, size < BUFFER_BYTES ? size : BUFFER_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            in->failed = true;
            break;
        }
        XXH3_64bits_update(&in->sum, to, (size_t)got);
        to += got;
        size -= (size_t)got;
        in->left -= (size_t)got;
    }
    return !in->failed;
}

bool checked_in_u32(struct checked_in *in, uint32_t *number)
{
    *number = 0;
    return checked_in_get(in, number, sizeof *number);
}

char *checked_in_str(struct checked_in *in, size_t max)
{
    uint32_t size;
    if (!checked_in_u32(in, &size)) return NULL;
    if (size > max || size > in->left) {
        in->failed = true;
        return NULL;
    }
    char *text = xmalloc((size_t)size + 1);
    text[size] = '\0';
    if (checked_in_get(in, text, size)) return text;
    free(text);
    return NULL;
}

bool checked_in_end(struct checked_in *in, struct err *err)
{
    if (!in->failed && in->left == 0 && (XXH3_64bits_digest(&in->sum) ^ in->header.length) == in->header.sum)
        return true;
    return refuse(in, err, "damaged: the checksum is wrong");
}

void checked_in_free(struct checked_in *in)
{
    if (!in) return;
    close(in->fd);
    free(in->path);
    free(in);
}
