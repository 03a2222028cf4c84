/* Helpers of the specs of a spool; see spool_bench.h. */
#include "core/base/support/spool_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"

static void on_torn(void *ctx, const char *path, uint64_t bytes)
{
    struct spool_bench *b = ctx;
    assert_true(bytes > 0 && strstr(path, ".spool"));
    b->torn += bytes;
}

static void on_damaged(void *ctx, const char *path, const char *aside, uint64_t lost, uint64_t bytes)
{
    struct spool_bench *b = ctx;
    assert_true(lost + bytes > 0 && strstr(path, ".spool"));
    b->damaged++;
    b->lost += lost;
    b->lost_bytes += bytes;
    snprintf(b->aside, sizeof b->aside, "%s", aside ? aside : "");
}

void bench_open(struct spool_bench *b, size_t max_bytes)
{
    struct err err;
    spool_free(b->spool);
    b->spool = spool_open(
        b->dir, &(const struct spool_options){.max_bytes = max_bytes, .watcher = {on_torn, on_damaged, b}},
        &err);
    if (!b->spool) fail_msg("%s", err.text);
}

int bench_setup(void **state)
{
    static struct spool_bench b;
    b = (struct spool_bench){.dir = "/tmp/kubelua-spool-XXXXXX"};
    must(mkdtemp(b.dir));
    bench_open(&b, 1 << 20);
    *state = &b;
    return 0;
}

int bench_teardown(void **state)
{
    struct spool_bench *b = *state;
    char command[100];
    spool_free(b->spool);
    buf_clear(&b->record);
    snprintf(command, sizeof command, "rm -rf %s", b->dir);
    return system(command);
}

void bench_make_record(uint64_t number, struct buf *out)
{
    out->len = 0;
    buf_printf(out, "record %llu ", (unsigned long long)number);
    for (uint64_t i = 0; i < number * 7 % 90; i++) buf_putc(out, (char)('a' + (number + i) % 26));
}

void bench_append(struct spool_bench *b, uint64_t from, uint64_t to)
{
    struct err err;
    for (uint64_t i = from; i <= to; i++) {
        bench_make_record(i, &b->record);
        if (!spool_append(b->spool, buf_slice(&b->record), &err)) fail_msg("%s", err.text);
    }
}

void bench_commit(struct spool_bench *b)
{
    struct err err;
    assert_true(spool_sync(b->spool, &err));
    spool_commit(b->spool);
}

uint64_t bench_read_all(struct spool_bench *b, uint64_t *last)
{
    struct buf got = {0};
    uint64_t number, count = 0;
    while (spool_next(b->spool, &got, &number)) {
        bench_make_record(number, &b->record);
        assert_true(number > *last);
        assert_true(str_eq(buf_slice(&got), buf_slice(&b->record)));
        *last = number;
        got.len = 0;
        count++;
    }
    buf_clear(&got);
    return count;
}

void bench_expect(struct spool_bench *b, uint64_t from, uint64_t to)
{
    uint64_t last = from - 1;
    assert_int_equal(bench_read_all(b, &last), to - from + 1);
    assert_int_equal(last, to);
}

const char *bench_path(const struct spool_bench *b, uint64_t first)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%020llu.spool", b->dir, (unsigned long long)first);
    return path;
}

size_t bench_count_files(const struct spool_bench *b)
{
    DIR *dir = opendir(b->dir);
    size_t count = 0;
    must(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += str_ends(str_of(entry->d_name), STR(".spool"));
    closedir(dir);
    return count;
}
