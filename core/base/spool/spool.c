/* Appending to a spool, and what is not needed any more; see spool.h. */
#include "base/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/spool/spool_internal.h"
#include "base/spool/spool_segment.h"

enum { SCRATCH_KEPT = 1 << 20, PARTS = 4 };

void spool_name(uint64_t first, char name[SPOOL_NAME_MAX])
{
    snprintf(name, SPOOL_NAME_MAX, "%020" PRIu64 ".spool", first);
}

void spool_tell_damaged(struct spool *spool, const char *name, const char *aside, uint64_t lost,
                        uint64_t bytes)
{
    struct buf path = {0}, kept = {0};
    if (!spool->watcher.damaged) return;
    buf_printf(&path, "%s/%s", spool->dir, name);
    if (aside) buf_printf(&kept, "%s/%s", spool->dir, aside);
    spool->watcher.damaged(spool->watcher.ctx, buf_text(&path), aside ? buf_text(&kept) : NULL, lost, bytes);
    buf_clear(&path);
    buf_clear(&kept);
}

void spool_remove_file(struct spool *spool, size_t index)
{
    char name[SPOOL_NAME_MAX];
    const struct spool_file *file = &spool->files[index];
    spool_name(file->first, name);
    unlinkat(spool->folder, name, 0);
    if (spool->reader >= 0 && spool->reader_first == file->first) {
        close(spool->reader);
        spool->reader = -1;
    }
    spool->bytes -= (size_t)file->bytes;
    array_remove(spool->files, spool->file_count, index);
}

/* --- room */

static size_t part_max(const struct spool *spool)
{
    return spool->max_bytes / PARTS;
}

void spool_set_max(struct spool *spool, size_t max_bytes)
{
    spool->max_bytes = max_bytes < SPOOL_BYTES_MIN ? SPOOL_BYTES_MIN : max_bytes;
}

bool spool_may_hold(const struct spool *spool, size_t bytes)
{
    return bytes <= SPOOL_RECORD_MAX && bytes + SPOOL_RECORD_HEADER + SPOOL_HEADER <= part_max(spool);
}

bool spool_has_room(const struct spool *spool, size_t bytes)
{
    return spool->bytes + bytes + SPOOL_RECORD_HEADER + SPOOL_HEADER <= spool->max_bytes;
}

size_t spool_room(const struct spool *spool)
{
    return spool->bytes < spool->max_bytes ? spool->max_bytes - spool->bytes : 0;
}

uint64_t spool_count(const struct spool *spool)
{
    return spool->committed - spool->acked;
}

size_t spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

size_t spool_max(const struct spool *spool)
{
    return spool->max_bytes;
}

/* --- appending */

static struct spool_file *tail_of(struct spool *spool)
{
    return &spool->files[spool->file_count - 1];
}

static bool failed(const struct spool *spool, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s", spool->dir, strerror(errno));
}

static void close_tail(struct spool *spool)
{
    if (spool->tail >= 0) close(spool->tail);
    spool->tail = -1;
    spool->rolls = true;
}

static bool begin_file(struct spool *spool, struct err *err)
{
    char name[SPOOL_NAME_MAX], header[SPOOL_HEADER];
    /* Its records may not be committed yet, and spool_sync sees the last file alone. */
    if (spool->tail >= 0 && fdatasync(spool->tail) != 0) return failed(spool, err);
    close_tail(spool);
    spool_name(spool->next, name);
    spool_put_header(header, spool->next);
    int fd = openat(spool->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return failed(spool, err);
    if (!file_write(fd, (struct str){header, sizeof header}) || fsync(spool->folder) != 0) {
        failed(spool, err);
        close(fd);
        unlinkat(spool->folder, name, 0);
        return false;
    }
    spool->tail = fd;
    spool->rolls = false;
    *array_add(spool->files, spool->file_count) =
        (struct spool_file){.first = spool->next, .last = spool->next - 1, .bytes = SPOOL_HEADER};
    spool->bytes += SPOOL_HEADER;
    return true;
}

static bool needs_file(struct spool *spool, size_t bytes)
{
    size_t most = part_max(spool) < SPOOL_SEGMENT_MAX ? part_max(spool) : SPOOL_SEGMENT_MAX;
    if (spool->tail < 0 || spool->rolls) return true;
    return tail_of(spool)->bytes > SPOOL_HEADER && tail_of(spool)->bytes + bytes > most;
}

static bool write_at(int fd, struct str bytes, uint64_t at)
{
    while (bytes.n > 0) {
        ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
        at += (uint64_t)n;
    }
    return true;
}

bool spool_append(struct spool *spool, struct str record, struct err *err)
{
    spool->scratch.len = 0;
    if (spool->scratch.cap > SCRATCH_KEPT) buf_clear(&spool->scratch);
    spool_put_record(&spool->scratch, spool->next, record);
    if (needs_file(spool, spool->scratch.len) && !begin_file(spool, err)) return false;
    struct spool_file *file = tail_of(spool);
    if (!write_at(spool->tail, buf_slice(&spool->scratch), file->bytes)) {
        failed(spool, err);
        /* Gives the blocks back to a disk that is full. If that fails, the next record overwrites them. */
        if (ftruncate(spool->tail, (off_t)file->bytes) != 0) errno = 0;
        return false;
    }
    file->last = spool->next++;
    file->bytes += spool->scratch.len;
    spool->bytes += spool->scratch.len;
    return true;
}

bool spool_sync(struct spool *spool, struct err *err)
{
    return spool->tail < 0 || fdatasync(spool->tail) == 0 || failed(spool, err);
}

void spool_commit(struct spool *spool)
{
    spool->committed = spool->next - 1;
    if (spool->tail < 0) return;
    spool->committed_first = tail_of(spool)->first;
    spool->committed_bytes = tail_of(spool)->bytes;
}

void spool_drop(struct spool *spool)
{
    close_tail(spool);
    while (spool->file_count > 0 && tail_of(spool)->first > spool->committed)
        spool_remove_file(spool, spool->file_count - 1);
    if (spool->file_count > 0 && tail_of(spool)->first == spool->committed_first &&
        tail_of(spool)->bytes > spool->committed_bytes) {
        struct spool_file *file = tail_of(spool);
        char name[SPOOL_NAME_MAX];
        spool_name(file->first, name);
        int fd = openat(spool->folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        /* If it cannot be cut, the file after it says where its records end. */
        if (fd >= 0 && ftruncate(fd, (off_t)spool->committed_bytes) != 0) errno = 0;
        if (fd >= 0) close(fd);
        spool->bytes -= (size_t)(file->bytes - spool->committed_bytes);
        file->bytes = spool->committed_bytes;
        file->last = spool->committed;
    }
    spool->next = spool->committed + 1;
    if (spool->wanted > spool->next) spool->wanted = spool->next;
}

/* --- acknowledging */

static void remove_acked(struct spool *spool, size_t keeps)
{
    while (spool->file_count > keeps && spool->files[0].last <= spool->acked) spool_remove_file(spool, 0);
}

/* Removes files of which nothing is needed. The file that is appended to stays, unless it takes the room of
 * what it should hold. */
static void remove_files(struct spool *spool)
{
    bool idle = spool->acked + 1 == spool->next;
    if (idle && spool->tail >= 0 && tail_of(spool)->bytes > spool->max_bytes / 2) close_tail(spool);
    size_t keeps = spool->tail >= 0 ? 1 : 0;
    if (spool->file_count <= keeps || spool->files[0].last > spool->acked) return;
    /* Before: what is missing is taken for lost. */
    if (!spool_position_sync(spool)) {
        /* Where none was ever stored, the first file tells it, and the disk may be full of these files. */
        if (spool->position_number > 0) return;
        remove_acked(spool, 1);
        if (!spool_position_sync(spool)) return;
    }
    remove_acked(spool, keeps);
}

void spool_ack(struct spool *spool, uint64_t sequence)
{
    if (sequence > spool->committed) sequence = spool->committed;
    if (sequence > spool->acked) {
        spool->acked = sequence;
        spool_position_put(spool);
    }
    remove_files(spool);
}

void spool_free(struct spool *spool)
{
    if (!spool) return;
    const int fds[] = {spool->tail, spool->reader, spool->position, spool->lock, spool->folder};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0) close(fds[i]);
    buf_clear(&spool->scratch);
    free(spool->files);
    free(spool->dir);
    free(spool);
}
