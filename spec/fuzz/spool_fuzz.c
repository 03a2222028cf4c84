/* Any file as the last one of a spool: what is read of it was written so, and whatever is left can be
 * appended to. A body that begins with "+" is records, each with its length in front, of which the right file
 * is made first, then cut and changed where the first bytes say. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/must.h"
#include "base/spool/spool.h"
#include "base/spool/spool_segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIRST = 7, CHANGES = 5 };

static char dir[40], path[80];

static void remove_all(void)
{
    char command[60];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    must(system(command) == 0);
}

static void make_dir(void)
{
    if (*dir) return;
    snprintf(dir, sizeof dir, "/dev/shm/kubelua-fuzz-XXXXXX");
    must(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/%020d.spool", dir, FIRST);
    atexit(remove_all);
}

/* Returns how many records were put. */
static uint64_t make_file(const uint8_t *data, size_t size, struct buf *out)
{
    char header[SPOOL_HEADER];
    uint64_t number = FIRST;
    spool_put_header(header, FIRST);
    buf_append(out, header, sizeof header);
    for (size_t at = CHANGES; at < size; number++) {
        size_t n = data[at] < size - at - 1 ? data[at] : size - at - 1;
        spool_put_record(out, number, (struct str){(const char *)data + at + 1, n});
        at += 1 + n;
    }
    size_t at = (size_t)(data[1] | data[2] << 8) % out->len;
    out->data[at] = (char)(out->data[at] ^ (char)data[3]);
    out->len -= data[4] % out->len;
    return number - FIRST;
}

/* Removes what the input before this one left. */
static void empty_dir(void)
{
    DIR *open = opendir(dir);
    must(open);
    for (struct dirent *entry; (entry = readdir(open));)
        if (*entry->d_name != '.') must(unlinkat(dirfd(open), entry->d_name, 0) == 0);
    closedir(open);
}

static void put_file(struct str bytes)
{
    empty_dir();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && file_write(fd, bytes) && close(fd) == 0);
}

static void on_torn(void *ctx, const char *name, uint64_t bytes)
{
    ++*(size_t *)ctx;
}

static void on_damaged(void *ctx, const char *name, const char *aside, uint64_t lost, uint64_t bytes)
{
    ++*(size_t *)ctx;
    if (aside) must(unlink(aside) == 0);
}

static uint64_t read_all(struct spool *spool)
{
    struct buf got = {0};
    uint64_t number, count = 0, last = 0;
    while (spool_next(spool, &got, &number)) {
        must(number > last);
        last = number;
        count++;
    }
    buf_clear(&got);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf file = {0};
    struct err err;
    size_t told = 0;
    uint64_t put = 0;
    bool is_made = size > CHANGES && *data == '+';
    make_dir();
    if (is_made)
        put = make_file(data, size, &file);
    else
        buf_append(&file, data, size);
    put_file(buf_slice(&file));
    struct spool *spool = spool_open(
        dir, &(const struct spool_options){.max_bytes = 1 << 20, .watcher = {on_torn, on_damaged, &told}},
        &err);
    must(spool);
    uint64_t count = read_all(spool);
    /* A file that was cut between two records lacks nothing that can be seen. */
    if (is_made) must(count <= put && (count == put || told > 0 || data[4] > 0));
    must(spool_append(spool, STR("more"), &err) && spool_sync(spool, &err));
    spool_commit(spool);
    must(read_all(spool) == 1);
    spool_ack(spool, UINT64_MAX);
    must(spool_count(spool) == 0);
    spool_free(spool);
    buf_clear(&file);
    return 0;
}
