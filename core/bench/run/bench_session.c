/* Starting subjects, markers and their answers; see bench_session.h. */
#include "bench/run/bench_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bench/run/bench_proc.h"
#include "object/parse/tape.h"

/* The slowest that is waited for: 2 ms for an object or an event. */
enum { SLOWEST_MS = 2 };

static struct bench_child *start_script(const struct bench_subject *subject, const char *url,
                                        const char *scripts, const char *script, struct err *err)
{
    char file[64];
    snprintf(file, sizeof file, "%s.lua", script);
    const char *argv[] = {"/proc/self/exe",
                          "run",
                          "--server",
                          url,
                          "-f",
                          file,
                          "--metrics-bind-address=127.0.0.1:0",
                          "--health-probe-bind-address=127.0.0.1:0",
                          "--admin-socket=0",
                          NULL};
    return bench_child_start(subject->name, argv, scripts, err);
}

/* "NAME=value command": `exec` alone takes no variables. */
static bool sets_variables(const char *command)
{
    size_t n = strspn(command, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && command[n] == '=';
}

/* `exec`, so that the process that is measured is the peer's and no shell's. */
struct bench_child *bench_subject_start(const struct bench_subject *subject, const char *url,
                                        const char *scripts, const char *script, bool select, struct err *err)
{
    if (subject->script) return start_script(subject, url, scripts, script ? script : subject->script, err);
    char *command =
        xasprintf("exec %s%s \"$@\"", sets_variables(subject->command) ? "env " : "", subject->command);
    const char *argv[] = {"/bin/sh", "-c", command, "sh", "--server", url, select ? "--select" : NULL, NULL};
    struct bench_child *child = bench_child_start(subject->name, argv, NULL, err);
    free(command);
    return child;
}

bool bench_session_start(struct bench_session *session, const char *scripts, const char *script, bool select,
                         struct err *err)
{
    session->child =
        bench_subject_start(session->subject, session->source->url, scripts, script, select, err);
    session->source->watcher = session->child;
    if (session->child) session->child->needs = session->source->child;
    return session->child != NULL;
}

int64_t bench_session_timeout_ms(const struct bench_session *session, size_t work)
{
    return session->silence_ms + (int64_t)work * SLOWEST_MS;
}

static bool next_event(struct bench_session *session, size_t work, struct err *err)
{
    struct str line;
    if (!bench_child_line(session->child, bench_session_timeout_ms(session, work), &line, err)) return false;
    if (bench_event_parse(line, &session->event, err)) return true;
    return err_wrap(err, "%s", session->subject->name);
}

/* What a process has others do for it would be nowhere in its figures. */
static bool alone(struct bench_session *session, struct err *err)
{
    if (session->subject->script || !bench_has_children(session->child->pid)) return true;
    return err_set(err, ERR_INVALID,
                   "%s started other processes that would not be measured; end the script with: exec PROGRAM",
                   session->subject->name);
}

bool bench_session_sync(struct bench_session *session, struct err *err)
{
    if (!next_event(session, session->pods, err)) return false;
    const struct bench_event *event = &session->event;
    if (event->kind != BENCH_SYNCED)
        return err_set(err, ERR_PARSE, "%s responded to a marker before it was synced",
                       session->subject->name);
    if ((size_t)event->objects < session->pods)
        return err_set(err, ERR_PARSE, "%s was synced with %lld objects of %zu", session->subject->name,
                       (long long)event->objects, session->pods);
    return alone(session, err);
}

bool bench_session_mark(struct bench_session *session, bool trim, size_t work, struct err *err)
{
    char name[sizeof session->event.name];
    snprintf(name, sizeof name, "marker-%s%u", trim ? "trim-" : "", ++session->source->markers);
    if (!bench_source_post(session->source, bench_session_timeout_ms(session, work), err,
                           "/sim/replay/marker?name=%s", name))
        return err_wrap(err, "%s", session->subject->name);
    if (!next_event(session, work, err)) return false;
    const struct bench_event *event = &session->event;
    if (event->kind == BENCH_MARKER && strcmp(event->name, name) == 0) return true;
    return err_set(err, ERR_PARSE, "%s did not answer %s", session->subject->name, name);
}

void bench_session_stop(struct bench_session *session)
{
    session->source->watcher = NULL;
    bench_child_stop(session->child);
    session->child = NULL;
}

/* --- Lines of subjects */

/* Text of a line that an error shows. */
enum { SHOWN = 80 };

static double number(const struct tape *tape, size_t at)
{
    double value;
    if (tape_type(tape, at) != 'd') {
        int64_t n = tape_int(tape, at, -1);
        return n < 0 ? NAN : (double)n;
    }
    memcpy(&value, &tape->words[at + 1], sizeof value);
    return value;
}

static bool read_latency(const struct tape *tape, size_t list, struct bench_event *event, struct err *err)
{
    size_t i = 0, at = tape_first(tape, list, NULL);
    for (; at && i < BENCH_PERCENTILES; at = tape_next(tape, list, at, NULL))
        event->latency_us[i++] = number(tape, at);
    event->has_latency = i == BENCH_PERCENTILES && !at;
    for (i = 0; event->has_latency && i < BENCH_PERCENTILES; i++)
        if (isnan(event->latency_us[i])) event->has_latency = false;
    return event->has_latency || err_set(err, ERR_PARSE, "latency_us takes null or four numbers");
}

static bool read_marker(const struct tape *tape, size_t root, struct bench_event *event, struct err *err)
{
    struct str name = tape_str(tape, tape_field(tape, root, STR("name")));
    size_t latency = tape_field(tape, root, STR("latency_us"));
    event->kind = BENCH_MARKER;
    event->updates = tape_int(tape, tape_field(tape, root, STR("updates")), -1);
    if (!name.n || event->updates < 0) return err_set(err, ERR_PARSE, "a marker has a name and its updates");
    snprintf(event->name, sizeof event->name, "%.*s", STR_ARG(name));
    return tape_type(tape, latency) != '[' || read_latency(tape, latency, event, err);
}

static bool read_measurements(const struct tape *tape, size_t list, struct bench_event *event,
                              struct err *err)
{
    event->measurements = list ? 0 : BENCH_ALL;
    for (size_t at = list ? tape_first(tape, list, NULL) : 0; at; at = tape_next(tape, list, at, NULL)) {
        struct str name = tape_str(tape, at);
        unsigned bit = bench_measurement_bit(name);
        if (!bit) return err_set(err, ERR_PARSE, "unknown measurement \"%.*s\"", STR_ARG(name));
        event->measurements |= bit;
    }
    return true;
}

static bool read_synced(const struct tape *tape, size_t root, struct bench_event *event, struct err *err)
{
    struct str version = tape_str(tape, tape_field(tape, root, STR("version")));
    event->kind = BENCH_SYNCED;
    snprintf(event->version, sizeof event->version, "%.*s", STR_ARG(version));
    for (size_t i = 0; i < BENCH_METRICS; i++) {
        size_t at = tape_field(tape, root, str_of(bench_metric_name(i)));
        event->figures[i] = at ? number(tape, at) : NAN;
    }
    return read_measurements(tape, tape_field(tape, root, STR("measurements")), event, err);
}

static bool read_event(const struct tape *tape, struct bench_event *event, struct err *err)
{
    size_t root = tape_root(tape);
    if (tape_type(tape, root) != '{') return err_set(err, ERR_PARSE, "it is no object");
    struct str kind = tape_str(tape, tape_field(tape, root, STR("event")));
    event->objects = tape_int(tape, tape_field(tape, root, STR("objects")), -1);
    if (event->objects < 0) return err_set(err, ERR_PARSE, "it has no \"objects\"");
    if (str_is(kind, "synced")) return read_synced(tape, root, event, err);
    if (str_is(kind, "marker")) return read_marker(tape, root, event, err);
    return err_set(err, ERR_PARSE, "there is no event \"%.*s\"", STR_ARG(kind));
}

bool bench_event_parse(struct str line, struct bench_event *event, struct err *err)
{
    struct tape tape;
    struct buf padded = {0};
    struct tape_parser *parser = tape_parser_new();
    buf_str(&padded, line);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    *event = (struct bench_event){.measurements = BENCH_ALL};
    bool ok = tape_parse(parser, padded.data, line.n, &tape, err) && read_event(&tape, event, err);
    if (!ok)
        err_wrap(err, "it printed \"%.*s%s\"", line.n > SHOWN ? SHOWN : (int)line.n, line.p ? line.p : "",
                 line.n > SHOWN ? "..." : "");
    tape_parser_free(parser);
    buf_clear(&padded);
    return ok;
}
