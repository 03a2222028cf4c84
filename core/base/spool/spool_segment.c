/* Form of the files of a spool; see spool_segment.h. */
#include "base/spool/spool_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ASIDE_MAX = 1000, COPY_BYTES = 64 << 10, NAME_ROOM = 64 };

#define WORD 0x01020304u

/* `word`: of a machine with the same order of bytes. */
struct head {
    char magic[8];
    uint32_t word, format;
    uint64_t first, sum;
};
_Static_assert(sizeof(struct head) == SPOOL_HEADER, "a header has this size");

/* `check`: of the length and the number, so that a wrong length is not taken for a record that was cut off.
 */
struct record_head {
    uint32_t length, check;
    uint64_t sum;
};
_Static_assert(sizeof(struct record_head) == SPOOL_RECORD_HEADER, "a record's header has this size");

static const char magic[8] = {'K', 'L', 'S', 'P', 'O', 'O', 'L', '1'};

static bool read_all(int fd, void *data, size_t size, uint64_t at)
{
    char *to = data;
    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

void spool_put_header(char out[SPOOL_HEADER], uint64_t first)
{
    struct head head = {.word = WORD, .format = 1, .first = first};
    memcpy(head.magic, magic, sizeof magic);
    head.sum = XXH3_64bits(&head, offsetof(struct head, sum));
    memcpy(out, &head, sizeof head);
}

bool spool_check_header(int fd, uint64_t first)
{
    char have[SPOOL_HEADER], expected[SPOOL_HEADER];
    spool_put_header(expected, first);
    return read_all(fd, have, sizeof have, 0) && memcmp(have, expected, sizeof have) == 0;
}

static uint32_t check_of(uint64_t sequence, uint32_t length)
{
    return (uint32_t)XXH3_64bits_withSeed(&length, sizeof length, sequence) | 1;
}

static uint64_t sum_of(uint64_t sequence, struct str record)
{
    return XXH3_64bits_withSeed(record.p, record.n, sequence ^ ((uint64_t)record.n << 32));
}

void spool_put_record(struct buf *out, uint64_t sequence, struct str record)
{
    uint32_t length = (uint32_t)record.n;
    const struct record_head head = {
        .length = length, .check = check_of(sequence, length), .sum = sum_of(sequence, record)};
    buf_append(out, &head, sizeof head);
    buf_str(out, record);
}

/* Returns whether a file has nothing but zeros from there on, as after a loss of power. */
static bool is_empty(int fd, uint64_t from, uint64_t size)
{
    char bytes[4096];
    while (from < size) {
        size_t part = size - from < sizeof bytes ? (size_t)(size - from) : sizeof bytes;
        if (!read_all(fd, bytes, part, from)) return false;
        for (size_t i = 0; i < part; i++)
            if (bytes[i]) return false;
        from += part;
    }
    return true;
}

enum spool_record spool_get_record(int fd, uint64_t size, uint64_t sequence, uint64_t *at, struct buf *out)
{
    struct record_head head;
    struct buf own = {0}, *to = out ? out : &own;
    uint64_t left = size - *at;
    size_t before = to->len;
    if (*at >= size) return SPOOL_RECORD_END;
    if (left < sizeof head) return SPOOL_RECORD_TORN;
    if (!read_all(fd, &head, sizeof head, *at)) return SPOOL_RECORD_BAD;
    if (head.check != check_of(sequence, head.length))
        return is_empty(fd, *at, size) ? SPOOL_RECORD_TORN : SPOOL_RECORD_BAD;
    if (head.length > SPOOL_RECORD_MAX) return SPOOL_RECORD_BAD;
    if (head.length > left - sizeof head) return SPOOL_RECORD_TORN;
    uint64_t end = *at + sizeof head + head.length;
    char *at_end = buf_reserve(to, (size_t)head.length + 1); /* also where the record is empty */
    bool is_read = read_all(fd, at_end, head.length, *at + sizeof head);
    bool is_right = is_read && sum_of(sequence, (struct str){to->data + before, head.length}) == head.sum;
    if (is_right) to->len += head.length;
    buf_clear(&own);
    /* The last record may lack bytes in its middle after a loss of power. */
    if (!is_right) return is_read && end == size ? SPOOL_RECORD_TORN : SPOOL_RECORD_BAD;
    *at = end;
    return SPOOL_RECORD_OK;
}

/* --- salvage */

static bool copy(int from, int to, uint64_t size)
{
    static const int chunk = COPY_BYTES;
    struct buf bytes = {0};
    bool ok = true;
    buf_reserve(&bytes, (size_t)chunk);
    for (uint64_t at = 0; ok && at < size; at += bytes.len) {
        bytes.len = size - at < (uint64_t)chunk ? (size_t)(size - at) : (size_t)chunk;
        ok = read_all(from, bytes.data, bytes.len, at) && file_write(to, buf_slice(&bytes));
    }
    buf_clear(&bytes);
    return ok && fsync(to) == 0;
}

/* Creates the copy of the good part. */
static bool make_copy(int folder, const char *name, const char *fresh, uint64_t good)
{
    unlinkat(folder, fresh, 0); /* of a run that was killed */
    int from = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (from < 0) return false;
    int to = openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = to >= 0 && copy(from, to, good);
    int saved = errno;
    if (to >= 0) close(to);
    close(from);
    errno = saved;
    return ok;
}

/* Never over a file that is there: that one was moved aside, too. */
static bool link_aside(int folder, const char *name, char *aside, size_t aside_max)
{
    errno = EEXIST;
    for (int n = 1; errno == EEXIST && n <= ASIDE_MAX; n++) {
        snprintf(aside, aside_max, "%s.aside-%d", name, n);
        if (linkat(folder, name, folder, aside, 0) == 0) return true;
    }
    /* A disk without hard links. */
    return errno != EEXIST && faccessat(folder, aside, F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
           renameat(folder, name, folder, aside) == 0;
}

bool spool_salvage(int folder, const char *name, uint64_t good, char *aside, size_t aside_max)
{
    char fresh[NAME_ROOM];
    snprintf(fresh, sizeof fresh, ".%.50s.new", name);
    if (good > SPOOL_HEADER) {
        bool ok = make_copy(folder, name, fresh, good) && link_aside(folder, name, aside, aside_max) &&
                  renameat(folder, fresh, folder, name) == 0;
        return ok && fsync(folder) == 0;
    }
    return link_aside(folder, name, aside, aside_max) &&
           (unlinkat(folder, name, 0) == 0 || errno == ENOENT) && fsync(folder) == 0;
}
