/* The replay source as a child, and its steering; see bench_source.h. */
#include "bench/run/bench_source.h"

#include <curl/curl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/run/bench_proc.h"
#include "object/parse/tape.h"

enum { RETRY_MS = 5, ANSWER_MAX = 64 << 10, START_MS_PER_POD = 1, START_MS = 60000 };

static const char self[] = "/proc/self/exe";

static bool read_url(struct bench_source *source, int64_t timeout_ms, struct err *err)
{
    static const struct str before = {"Serving on ", 11};
    struct str line;
    do {
        if (!bench_child_line(source->child, timeout_ms, &line, err)) return false;
    } while (!str_starts(line, before));
    source->url = xstrndup(line.p + before.n, line.n - before.n);
    return true;
}

static struct bench_source *start(const char *const *argv, int64_t timeout_ms, struct err *err)
{
    struct bench_source *source = NEW(struct bench_source);
    source->child = bench_child_start("the source", argv, NULL, err);
    if (source->child && read_url(source, timeout_ms, err)) return source;
    bench_source_stop(source);
    return NULL;
}

struct bench_source *bench_source_start(const struct bench_data *data, struct err *err)
{
    char pods[32], replicas[32];
    snprintf(pods, sizeof pods, "%zu", data->pods);
    snprintf(replicas, sizeof replicas, "%zu", data->replicas);
    const char *argv[] = {self,
                          "sim",
                          "--replay",
                          "--pods",
                          pods,
                          "--replicas",
                          replicas,
                          data->encodings ? "--encodings" : NULL,
                          data->encodings,
                          NULL};
    return start(argv, START_MS + (int64_t)data->pods * START_MS_PER_POD, err);
}

struct bench_source *bench_source_empty(struct err *err)
{
    static const char *const argv[] = {self, "sim", NULL};
    return start(argv, START_MS, err);
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct buf *body = ctx;
    if (body->len < ANSWER_MAX) buf_append(body, data, size * count);
    return size * count;
}

/* The status of the answer; 0 with an error when there was none. */
static long post_once(struct bench_source *source, const char *path, int64_t timeout_ms, struct err *err)
{
    long status = 0;
    source->answer.len = 0;
    char *url = xasprintf("%s%s", source->url, path);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &source->answer);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) {
        err_set(err, code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_CONNECT, "POST %s: %s", path,
                curl_easy_strerror(code));
        status = 0;
    }
    curl_easy_cleanup(curl);
    free(url);
    return status;
}

/* When it is not, that is the reason for whatever went wrong. */
static bool both_alive(struct bench_source *source, struct err *err)
{
    return bench_child_alive(source->child, err) &&
           (!source->watcher || bench_child_alive(source->watcher, err));
}

static bool post(struct bench_source *source, const char *path, int64_t timeout_ms, struct err *err)
{
    int64_t deadline = bench_now_ns() + timeout_ms * 1000000;
    long status;
    while ((status = post_once(source, path, timeout_ms, err)) == 409 && bench_now_ns() < deadline) {
        if (!both_alive(source, err)) break;
        poll(NULL, 0, RETRY_MS);
    }
    if (status && status != 200 && both_alive(source, err))
        err_set(err, ERR_HTTP, "POST %s: the source responded with %ld: %s", path, status,
                buf_text(&source->answer));
    if (!status) both_alive(source, err);
    return status == 200;
}

bool bench_source_post(struct bench_source *source, int64_t timeout_ms, struct err *err, const char *path,
                       ...)
{
    va_list args;
    va_start(args, path);
    char *text = xvasprintf(path, args);
    va_end(args);
    bool ok = post(source, text, timeout_ms, err);
    free(text);
    return ok;
}

double bench_source_response_number(const struct bench_source *source, struct str name)
{
    struct err err;
    struct tape tape;
    struct buf padded = {0};
    struct tape_parser *parser = tape_parser_new();
    double value = NAN;
    buf_str(&padded, buf_slice(&source->answer));
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    if (tape_parse(parser, padded.data, source->answer.len, &tape, &err))
        value = (double)tape_int(&tape, tape_field(&tape, tape_root(&tape), name), -1);
    tape_parser_free(parser);
    buf_clear(&padded);
    return value < 0 ? NAN : value;
}

void bench_source_stop(struct bench_source *source)
{
    if (!source) return;
    bench_child_stop(source->child);
    buf_clear(&source->answer);
    free(source->url);
    free(source);
}
