/* Rules asked about all that an engine has cached; see bench_run.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/run/bench_proc.h"
#include "bench/run/bench_run.h"

enum { CHILDREN_USER = 16, CHILDREN_SYSTEM }; /* fields of it, from 1 on */
enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000, SLOWEST_MS = 2 /* an object */ };

/* Of children that ended and were waited for, in `stat` behind a name in parentheses. */
static double children_cpu_s(pid_t pid)
{
    char path[64], text[1024] = "";
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *behind = strrchr(text, ')');
    struct str rest = str_of(behind ? behind + 1 : NULL), word;
    for (int field = 2; rest.p && str_cut(&rest, ' ', &word) && field <= CHILDREN_SYSTEM; field++) {
        uint64_t number;
        if (field >= CHILDREN_USER && str_to_u64(word, &number)) ticks += number;
    }
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static struct bench_child *start_engine(const struct bench_config *plan, const struct bench_source *source,
                                        const char *socket, struct err *err)
{
    struct str line;
    const char *argv[] = {"/proc/self/exe",
                          "run",
                          "--server",
                          source->url,
                          "-f",
                          "audit_engine.lua",
                          "--metrics-bind-address=0",
                          "--health-probe-bind-address=0",
                          "--admin-socket",
                          socket,
                          NULL};
    struct bench_child *engine = bench_child_start("kubelua run", argv, plan->scripts, err);
    if (!engine) return NULL;
    engine->needs = source->child;
    if (bench_child_line(engine, plan->silence_ms + (int64_t)plan->data.pods * SLOWEST_MS, &line, err))
        return engine;
    bench_child_stop(engine);
    return NULL;
}

static bool measure(const struct bench_config *plan, const struct bench_child *engine, const char *socket,
                    struct bench_result *result, struct err *err)
{
    struct bench_audit audit = {0};
    double cpu_s = children_cpu_s(engine->pid);
    int64_t begun_ns = bench_now_ns();
    if (!plan->program->audit(socket, plan->silence_ms * 10, &audit, err)) return false;
    int64_t took_ns = bench_now_ns() - begun_ns;
    if (audit.objects < plan->data.pods)
        return err_set(err, ERR_IO, "the audit covered only %zu of %zu pods", audit.objects, plan->data.pods);
    bench_result_add(result, BENCH_AUDIT_WALL, (double)took_ns / NS_PER_S);
    bench_result_add(result, BENCH_AUDIT_PAUSE, (double)audit.pause_ns / NS_PER_MS);
    bench_result_add(result, BENCH_AUDIT_CPU,
                     (children_cpu_s(engine->pid) - cpu_s) * 1e6 / (double)audit.objects);
    bench_result_add(result, BENCH_AUDIT_CHILDREN, (double)audit.children);
    return true;
}

bool bench_run_audit_engine(const struct bench_config *plan, const struct bench_source *source,
                            struct bench_result *result, struct err *err)
{
    char *socket = xasprintf("%s/audit.sock", plan->scripts);
    struct bench_child *engine = start_engine(plan, source, socket, err);
    bool ok = engine != NULL;
    if (ok) bench_settle(plan);
    if (ok) ok = measure(plan, engine, socket, result, err);
    bench_child_stop(engine);
    free(socket);
    return ok || err_wrap(err, "audit-engine");
}
