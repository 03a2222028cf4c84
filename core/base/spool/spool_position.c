/* File `position` of a spool: the number of the last record that was acknowledged. It has two places, which
 * are written in turns, so that one of them is complete after any end of the process. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/spool/spool_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct spool_place {
    uint64_t number, acked, sum, unused;
};

static uint64_t sum_of(const struct spool_place *place)
{
    return XXH3_64bits(place, offsetof(struct spool_place, sum));
}

bool spool_position_open(struct spool *spool, struct err *err, bool *known)
{
    struct spool_place places[2] = {0};
    *known = false;
    spool->position =
        openat(spool->folder, "position", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (spool->position < 0) return err_set(err, ERR_IO, "%s/position: %s", spool->dir, strerror(errno));
    ssize_t got = pread(spool->position, places, sizeof places, 0);
    for (size_t i = 0; i < 2 && got >= (ssize_t)((i + 1) * sizeof *places); i++) {
        const struct spool_place *place = &places[i];
        if (place->sum != sum_of(place) || place->number <= spool->position_number) continue;
        spool->position_number = place->number;
        spool->acked = place->acked;
        *known = true;
    }
    /* While the disk has room: once it is full, they are overwritten, unless its file system writes each
     * change elsewhere. Without, nothing is lost, but sent again. */
    if (!*known && posix_fallocate(spool->position, 0, sizeof places) != 0) errno = 0;
    return true;
}

/* A failure costs no record: some are read again after the next start. The next call writes the same place,
 * so that the other one stays complete. */
void spool_position_put(struct spool *spool)
{
    struct spool_place place = {.number = spool->position_number + 1, .acked = spool->acked};
    place.sum = sum_of(&place);
    ssize_t written = pwrite(spool->position, &place, sizeof place, (off_t)(place.number % 2 * sizeof place));
    spool->position_lags = written != (ssize_t)sizeof place;
    if (!spool->position_lags) spool->position_number = place.number;
}

bool spool_position_sync(struct spool *spool)
{
    if (spool->position_lags) spool_position_put(spool);
    /* The system tells of a failure once. */
    spool->position_lags = spool->position_lags || fdatasync(spool->position) != 0;
    return !spool->position_lags;
}
