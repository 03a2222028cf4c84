/* A spool in a folder of its own, with the losses that it reported. Owner: one test at a time. */
#pragma once
#include <stdint.h>

#include "base/spool/spool.h"

struct spool_bench {
    char dir[64];
    struct spool *spool;
    uint64_t torn, damaged, lost, lost_bytes; /* as reported */
    char aside[160];
    struct buf record;
};

/* Opens it again, if it is open. */
void bench_open(struct spool_bench *b, size_t max_bytes);
int bench_setup(void **state);
int bench_teardown(void **state);
/* The record of a number, of its own length. */
void bench_make_record(uint64_t number, struct buf *out);
void bench_append(struct spool_bench *b, uint64_t from, uint64_t to);
void bench_commit(struct spool_bench *b);
/* Reads to the end: the numbers rise, and each record is the one of its number. Returns how many. */
uint64_t bench_read_all(struct spool_bench *b, uint64_t *last);
/* Reads exactly those. */
void bench_expect(struct spool_bench *b, uint64_t from, uint64_t to);
/* File that begins with the record; borrowed until the next call. */
const char *bench_path(const struct spool_bench *b, uint64_t first);
size_t bench_count_files(const struct spool_bench *b);
