/* A subject at work: started on a source, asked by markers, listened to.
 * Owner: whoever started it; bench_session_stop ends it. The main thread of `kubelua bench`; calls block. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "bench/run/bench_metric.h"
#include "bench/run/bench_source.h"

/* --- What a subject says: a line of JSON each. docs/performance.md has the protocol.
 * Owner: plain values. The main thread of `kubelua bench`. */

enum bench_event_kind { BENCH_SYNCED, BENCH_MARKER };

enum bench_percentile { BENCH_P50, BENCH_P99, BENCH_P999, BENCH_MAX, BENCH_PERCENTILES };

struct bench_event {
    enum bench_event_kind kind;
    char name[64];    /* of a marker */
    char version[96]; /* of `synced`: of the library that the subject is made of, or empty */
    int64_t objects, updates;
    bool has_latency;
    double latency_us[BENCH_PERCENTILES];
    unsigned measurements;         /* of `synced`: what the subject can do, all when it does not say */
    double figures[BENCH_METRICS]; /* of `synced`: what it measured itself; NAN: nothing */
};

/* ERR_PARSE names what is wrong with the line. */
bool bench_event_parse(struct str line, struct bench_event *event, struct err *err);

/* --- bench_session */

/* Who is measured: a script of ours, or somebody's command. */
struct bench_subject {
    const char *name;
    const char *script;    /* of bench/scripts/; NULL: a peer */
    const char *command;   /* of a peer, as a shell takes it */
    unsigned measurements; /* bits: what it is asked for */
};

struct bench_session {
    const struct bench_subject *subject;
    struct bench_source *source;
    struct bench_child *child;
    size_t pods;
    int64_t silence_ms;       /* the most that it may be silent when there is nothing to do */
    struct bench_event event; /* the last */
};

/* `scripts` is the folder of ours. `script`, if given, is run in place of the subject's; `select` asks a peer
 * for its lister. The session is empty after a failure. */
bool bench_session_start(struct bench_session *session, const char *scripts, const char *script, bool select,
                         struct err *err);
/* Waits for "synced", with all the pods. */
bool bench_session_sync(struct bench_session *session, struct err *err);
/* Makes a marker and waits for its answer. With `trim` the subject gives back memory before. `work` is how
 * many objects or events it may have to handle first. */
bool bench_session_mark(struct bench_session *session, bool trim, size_t work, struct err *err);
/* How long the subject may take for so many objects or events. */
int64_t bench_session_timeout_ms(const struct bench_session *session, size_t work);
void bench_session_stop(struct bench_session *session);
/* The words that start a subject on the server at `url`; bench_child_start's. */
struct bench_child *bench_subject_start(const struct bench_subject *subject, const char *url,
                                        const char *scripts, const char *script, bool select,
                                        struct err *err);
