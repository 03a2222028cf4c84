/* Streams of watches and lists for units: bytes go in, and each callback is a word of a log.
 * Owner: the test, by stream_setup and stream_teardown. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "kube/api/stream_internal.h"

struct stream_bench {
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct loop *loop; /* with packers, on threads of theirs; NULL: without */
    struct packers *packers;
    bool is_odd, ended;
    struct stream *stream;
    struct buf log;  /* one word per callback */
    struct buf last; /* the last object as JSON */
    struct err refused, err;
    int stop_after; /* callbacks, -1: never */
};

int stream_setup(void **state);
/* Likewise, with packers: the same bytes have to give the same log. */
int stream_setup_dealt(void **state);
int stream_teardown(void **state);
/* Opens a watch or a list, instead of the last one. */
void open_stream(struct stream_bench *bench, bool watch, size_t max);
/* Feeds in stretches of `step` bytes from exactly sized memory, so that reading beyond a stretch is found. */
bool feed_stream(struct stream_bench *bench, const char *text, size_t step);
/* The same from its opening to its end. */
bool run_stream(struct stream_bench *bench, bool watch, const char *text, size_t step);
void expect_log(struct stream_bench *bench, const char *expected);

#define POD(name, more)                                                      \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"shop\"" more "}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

#define POD_LIST            "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"100\""
#define ITEM(name)                                                                                           \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\"},\"spec\":{\"x\":[\"}\",{\"y\":\"\\\\\"}]}" \
    "}"
