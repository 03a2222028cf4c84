/* Starting subjects, markers and their answers; see bench_session.h. */
#include "bench/run/bench_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/run/bench_proc.h"

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

int64_t bench_session_patience_ms(const struct bench_session *session, size_t work)
{
    return session->silence_ms + (int64_t)work * SLOWEST_MS;
}

static bool next_event(struct bench_session *session, size_t work, struct err *err)
{
    struct str line;
    if (!bench_child_line(session->child, bench_session_patience_ms(session, work), &line, err)) return false;
    if (bench_event_parse(line, &session->event, err)) return true;
    return err_wrap(err, "%s", session->subject->name);
}

/* What a process has others do for it would be nowhere in its figures. */
static bool alone(struct bench_session *session, struct err *err)
{
    if (session->subject->script || !bench_has_children(session->child->pid)) return true;
    return err_set(err, ERR_INVALID,
                   "%s has started other processes, and its own alone would be measured: "
                   "a script should end with `exec PROGRAM`",
                   session->subject->name);
}

bool bench_session_sync(struct bench_session *session, struct err *err)
{
    if (!next_event(session, session->pods, err)) return false;
    const struct bench_event *event = &session->event;
    if (event->kind != BENCH_SYNCED)
        return err_set(err, ERR_PARSE, "%s answered a marker before it was synced", session->subject->name);
    if ((size_t)event->objects < session->pods)
        return err_set(err, ERR_PARSE, "%s was synced with %lld objects of %zu", session->subject->name,
                       (long long)event->objects, session->pods);
    return alone(session, err);
}

bool bench_session_mark(struct bench_session *session, bool trim, size_t work, struct err *err)
{
    char name[sizeof session->event.name];
    snprintf(name, sizeof name, "marker-%s%u", trim ? "trim-" : "", ++session->source->markers);
    if (!bench_source_post(session->source, bench_session_patience_ms(session, work), err,
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
