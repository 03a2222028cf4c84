/* Any file: refused with an error, or read to its end. What begins
 * with "+" is the text of a frame, which is compressed first, so that lines are reached too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/must.h"
#include "kube/recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *data, size_t size)
{
    must(ftruncate(fd, 0) == 0);
    must(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void put_compressed(int fd, const uint8_t *data, size_t size)
{
    size_t room = ZSTD_compressBound(size);
    void *frame = malloc(room);
    must(frame);
    put(fd, frame, ZSTD_compress(frame, room, data, size, 1));
    free(frame);
}

typedef enum recording_result next_fn(struct recording *, struct recording_record *, struct err *);

/* Gives how often it was told that a stream is broken. */
static size_t read_all(struct recording *recording, next_fn *next)
{
    struct recording_record record;
    struct err err;
    enum recording_result result;
    size_t broken = 0;
    while ((result = next(recording, &record, &err)) != RECORDING_END) {
        if (result == RECORDING_BROKEN) {
            must(err.code != ERR_NONE && err.text[0]);
            broken++;
            continue;
        }
        must(record.stream < recording_stream_count(recording) && record.object.p && record.at_us > 0);
        must(record.type == RECORDING_LISTED || (record.object.n >= 2 && *record.object.p == '{'));
        must(next != recording_next_of_lists || record.type <= RECORDING_LISTED);
    }
    return broken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    struct err err = {0};
    if (fd < 0) {
        fd = memfd_create("recording", MFD_CLOEXEC);
        must(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (size && *data == '+')
        put_compressed(fd, data + 1, size - 1);
    else
        put(fd, data, size);
    struct recording *recording = recording_open(path, &err);
    must(recording || (err.code != ERR_NONE && err.text[0]));
    if (recording) {
        size_t broken = read_all(recording, recording_next_of_lists);
        broken += read_all(recording, recording_next);
        must(broken <= recording_stream_count(recording));
    }
    recording_close(recording);
    return 0;
}
