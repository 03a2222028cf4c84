/* Reading of a spool; see spool.h. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/spool/spool_internal.h"
#include "base/spool/spool_segment.h"

/* Returns the file with the record, or the first one behind it; NULL: there is none. */
static struct spool_file *file_of(struct spool *spool, uint64_t sequence)
{
    for (size_t i = 0; i < spool->file_count; i++)
        if (spool->files[i].last >= sequence) return &spool->files[i];
    return NULL;
}

static void close_reader(struct spool *spool)
{
    if (spool->reader >= 0) close(spool->reader);
    spool->reader = -1;
}

static bool open_reader(struct spool *spool, const struct spool_file *file)
{
    char name[SPOOL_NAME_MAX];
    if (spool->reader >= 0 && spool->reader_first == file->first && spool->reader_is <= spool->wanted)
        return true;
    close_reader(spool);
    spool_name(file->first, name);
    spool->reader_first = spool->reader_is = file->first;
    spool->reader_at = SPOOL_HEADER;
    spool->reader = openat(spool->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return spool->reader >= 0 && spool_check_header(spool->reader, file->first);
}

/* Passes over the rest of a file that is damaged, or missing; `result` of the first record there. */
static void give_up(struct spool *spool, struct spool_file *file, enum spool_record result)
{
    char name[SPOOL_NAME_MAX], aside[SPOOL_NAME_MAX + 16];
    uint64_t lost = file->last - spool->wanted + 1, good = spool->reader >= 0 ? spool->reader_at : 0;
    bool is_tail = file == &spool->files[spool->file_count - 1];
    if (good <= SPOOL_HEADER || good > file->bytes) good = 0;
    spool_name(file->first, name);
    close_reader(spool);
    /* Before it is renamed: from now on nothing is appended to it. */
    if (is_tail) spool->rolls = true;
    /* A file that ends between two records was moved aside before, and has what was good of it. */
    bool kept = result != SPOOL_RECORD_END && spool_salvage(spool->folder, name, good, aside, sizeof aside);
    spool_tell_damaged(spool, name, kept ? aside : NULL, lost, file->bytes - good);
    spool->wanted = file->last + 1;
    if (kept || errno == ENOENT) {
        spool->bytes -= (size_t)(file->bytes - good);
        file->bytes = good;
    }
}

/* Reads the record that is wanted, behind those that were acknowledged. */
static enum spool_record read_wanted(struct spool *spool, const struct spool_file *file, struct buf *out)
{
    enum spool_record result = SPOOL_RECORD_BAD;
    if (!open_reader(spool, file)) return result;
    while (spool->reader_is <= spool->wanted) {
        struct buf *to = spool->reader_is == spool->wanted ? out : NULL;
        result = spool_get_record(spool->reader, file->bytes, spool->reader_is, &spool->reader_at, to);
        if (result != SPOOL_RECORD_OK) break;
        spool->reader_is++;
    }
    return result;
}

/* Passes over numbers of which no file is there. */
static void pass_gap(struct spool *spool, uint64_t next)
{
    char name[SPOOL_NAME_MAX];
    spool_name(spool->wanted, name);
    spool_tell_damaged(spool, name, NULL, next - spool->wanted, 0);
    spool->wanted = next;
}

bool spool_next(struct spool *spool, struct buf *out, uint64_t *sequence)
{
    while (spool->wanted <= spool->committed) {
        struct spool_file *file = file_of(spool, spool->wanted);
        size_t before = out->len;
        if (!file || file->first > spool->wanted) {
            pass_gap(spool, file ? file->first : spool->committed + 1);
            continue;
        }
        enum spool_record result = read_wanted(spool, file, out);
        if (result == SPOOL_RECORD_OK) {
            *sequence = spool->wanted++;
            return true;
        }
        out->len = before;
        give_up(spool, file, result);
    }
    return false;
}
