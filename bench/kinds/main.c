/* kinds [--runs N] [--texts DIR] [KIND ...]: the pack stage alone, in the time of simdjson's DOM: CPU of the
 * first list and of an update of each kind of texts.h, and the memory of its objects over their JSON. Medians
 * of N runs (5). A run counts only if the floor, simdjson's parse of some pods, differs by under 5 % before
 * and after it. With --texts it writes the states of each kind into files instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "run.h"

enum { RUNS_MAX = 99, TRIES = 6, FLOOR_PODS = 400, FLOOR_ROUNDS = 5 };

#define FLOOR_DIFFERENCE 0.05
#define SYNC_MOST        5.0 /* parses by simdjson */
#define UPDATE_MOST      3.0

struct figures {
    double parse_us, sync_us, update_us; /* of an object */
    double bytes;                        /* in the pool over those of the JSON */
};

struct measurement {
    struct kind_texts floor_texts;
    struct kind_run *floor;
    size_t runs;
};

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Returns the microseconds of an object. */
static double time_of(struct kind_run *run, size_t (*phase)(struct kind_run *run))
{
    double begin = cpu_us();
    size_t objects = phase(run);
    return (cpu_us() - begin) / (double)objects;
}

static double floor_us(const struct measurement *m)
{
    double least = 0;
    for (size_t i = 0; i < FLOOR_ROUNDS; i++) {
        double us = time_of(m->floor, kind_run_reference);
        if (i == 0 || us < least) least = us;
    }
    return least;
}

/* Returns whether the run counts. */
static bool run_once(const struct measurement *m, const struct kind_texts *texts, struct figures *figures)
{
    double before = floor_us(m);
    struct kind_run *run = kind_run_new(texts);
    kind_run_reference(run); /* memory and caches as in each further parse */
    figures->parse_us = time_of(run, kind_run_reference);
    figures->sync_us = time_of(run, kind_run_state);
    figures->bytes = (double)kind_run_listed(run).resident_bytes / (double)texts->bytes;
    kind_run_state(run); /* the first update finds all as the list left it */
    figures->update_us = time_of(run, kind_run_state);
    kind_run_free(run);
    double ratio = floor_us(m) / before;
    return ratio < 1 + FLOOR_DIFFERENCE && ratio > 1 - FLOOR_DIFFERENCE;
}

/* Runs in a child process, as the dictionary of keys is the process's, and never becomes smaller. */
static bool run_apart(const struct measurement *m, const struct kind_texts *texts, struct figures *figures)
{
    int ends[2], status;
    must(pipe(ends) == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        struct figures own;
        bool counts = run_once(m, texts, &own);
        _exit(write(ends[1], &own, sizeof own) == sizeof own && counts ? 0 : 1);
    }
    close(ends[1]);
    bool whole = read(ends[0], figures, sizeof *figures) == sizeof *figures;
    close(ends[0]);
    must(waitpid(child, &status, 0) == child && WIFEXITED(status) && whole);
    return WEXITSTATUS(status) == 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a ratio or a time over the runs, which it sorts. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static const char *verdict(double sync, double update)
{
    if (sync > SYNC_MOST && update > UPDATE_MOST) return "  sync, update over the bound";
    if (sync > SYNC_MOST) return "  sync over the bound";
    return update > UPDATE_MOST ? "  update over the bound" : "";
}

static void print_kind(const struct kind_texts *texts, const struct figures *f, size_t count)
{
    double parse[RUNS_MAX], sync[RUNS_MAX], update[RUNS_MAX], sync_ratio[RUNS_MAX], update_ratio[RUNS_MAX],
        bytes[RUNS_MAX];
    for (size_t i = 0; i < count; i++) {
        parse[i] = f[i].parse_us;
        sync[i] = f[i].sync_us;
        update[i] = f[i].update_us;
        sync_ratio[i] = f[i].sync_us / f[i].parse_us;
        update_ratio[i] = f[i].update_us / f[i].parse_us;
        bytes[i] = f[i].bytes;
    }
    double of_sync = median(sync_ratio, count), of_update = median(update_ratio, count);
    printf("%-12s %8zu %10.1f %10.2f %7.2f %10.2f %7.2f %9.2f %5zu%s\n", texts->source->name,
           texts->bytes / texts->count, median(parse, count), median(sync, count), of_sync,
           median(update, count), of_update, median(bytes, count), count, verdict(of_sync, of_update));
    fflush(stdout);
}

static void measure(const struct measurement *m, const struct kind_source *source)
{
    struct kind_texts texts;
    struct figures figures[RUNS_MAX];
    size_t counted = 0;
    kind_texts_init(&texts, source, source->count);
    for (size_t tries = 0; counted < m->runs && tries < m->runs * TRIES; tries++)
        counted += run_apart(m, &texts, &figures[counted]);
    if (counted > 0)
        print_kind(&texts, figures, counted);
    else
        printf("%-12s no run counts: the floor differs by over 5 %% before and after each\n", source->name);
    kind_texts_clear(&texts);
}

static bool is_wanted(const struct kind_source *source, char **names)
{
    if (!*names) return true;
    for (; *names; names++)
        if (strcmp(*names, source->name) == 0) return true;
    return false;
}

/* DIR/NAME.STATE, a line for each event, and the list of kinds. */
static void write_texts(const char *dir, const struct kind_source *source, FILE *list)
{
    struct kind_texts texts;
    kind_texts_init(&texts, source, source->count);
    for (size_t state = 0; state < KIND_STATES; state++) {
        char *path = xasprintf("%s/%s.%zu", dir, source->name, state);
        FILE *file = fopen(path, "wb");
        must(file &&
             fwrite(texts.states[state].data, 1, texts.states[state].len, file) == texts.states[state].len);
        must(fclose(file) == 0);
        free(path);
    }
    fprintf(list, "%s %.*s %s %.*s %zu %zu\n", source->name, STR_ARG(source->api_version), source->resource,
            STR_ARG(source->kind), source->count, texts.bytes);
    kind_texts_clear(&texts);
}

static int write_all(const char *dir, char **names)
{
    char *path = xasprintf("%s/kinds", dir);
    FILE *list = fopen(path, "w");
    if (!list) {
        fprintf(stderr, "kinds: %s: cannot be written\n", path);
        return 1;
    }
    const struct kind_source *source;
    for (size_t i = 0; (source = kind_source(i)) != NULL; i++)
        if (is_wanted(source, names)) write_texts(dir, source, list);
    must(fclose(list) == 0);
    free(path);
    return 0;
}

static void measure_all(size_t runs, char **names)
{
    struct measurement m = {.runs = runs};
    const struct kind_source *source;
    kind_texts_init(&m.floor_texts, kind_source(0), FLOOR_PODS);
    m.floor = kind_run_new(&m.floor_texts);
    printf("%-12s %8s %10s %10s %7s %10s %7s %9s %5s\n", "kind", "JSON B", "parse us", "sync us", "parses",
           "update us", "parses", "mem/JSON", "runs");
    for (size_t i = 0; (source = kind_source(i)) != NULL; i++)
        if (is_wanted(source, names)) measure(&m, source);
    kind_run_free(m.floor);
    kind_texts_clear(&m.floor_texts);
}

/* Kinds with many keys say so in each run. */
static void ignore(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                   const struct log_field *fields)
{
}

int main(int argc, char **argv)
{
    const char *dir = NULL;
    size_t runs = 5;
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--texts") == 0) dir = argv[at + 1];
        if (strcmp(argv[at], "--runs") == 0) runs = strtoul(argv[at + 1], NULL, 10);
    }
    if (at < argc && argv[at][0] == '-') {
        fprintf(stderr, "Usage: kinds [--runs N] [--texts DIR] [KIND ...]\n");
        return 2;
    }
    log_capture(ignore, NULL);
    if (dir) return write_all(dir, argv + at);
    measure_all(runs < 1 ? 1 : runs < RUNS_MAX ? runs : RUNS_MAX, argv + at);
    return 0;
}
