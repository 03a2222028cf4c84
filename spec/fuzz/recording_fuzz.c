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
#include "kube/recording.h"

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

static void read_all(struct recording *recording)
{
    struct recording_record record;
    struct err err;
    enum recording_result result, (*next)(struct recording *, struct recording_record *, struct err *);
    size_t streams = recording_stream_count(recording), broken = 0;
    must(streams > 0);
    next = recording_next_of_lists;
    while ((result = next(recording, &record, &err)) != RECORDING_END || next != recording_next) {
        if (result == RECORDING_END) {
            next = recording_next;
            continue;
        }
        if (result == RECORDING_BROKEN) {
            must(err.code != ERR_NONE && err.text[0] && ++broken <= streams);
            continue;
        }
        must(record.stream < streams && record.object.p && record.at_us > 0);
        must(record.type == RECORDING_LISTED || (record.object.n >= 2 && *record.object.p == '{'));
    }
}

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

static void read_all(struct recording *recording)
{
    struct recording_record record;
    struct err err;
    enum recording_result result, (*next)(struct recording *, struct recording_record *, struct err *);
    size_t streams = recording_stream_count(recording), broken = 0;
    must(streams > 0);
    while ((result = recording_next(recording, &record, &err)) != RECORDING_END) {
        if (result == RECORDING_BROKEN) {
            must(err.code != ERR_NONE && err.text[0] && ++broken <= streams);
            continue;
        }
        must(record.stream < streams && record.object.p);
        must(record.type == RECORDING_LISTED || (record.object.n >= 2 && *record.object.p == '{'));
    }
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
    if (recording) read_all(recording);
    recording_close(recording);
    return 0;
}
