/* Subjects in turn, run by run; see bench_all.h. */
#include "bench/run/bench_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_proc.h"

/* From so many pods on the memory that is needed is told. */
enum { MANY = 100000 };

static const unsigned measured_larger = BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_RELIST) |
                                        BENCH_BIT(BENCH_SELECT) | BENCH_BIT(BENCH_PROJECTED) |
                                        BENCH_BIT(BENCH_AUDIT_ENGINE);

struct campaign {
    const struct bench_setup *setup;
    struct bench_config plan; /* of the data in turn */
    size_t count;             /* of subjects, from the first on */
    struct bench_results *results;
    bool *any_failed;
};

static void tell(const struct bench_config *plan, size_t run, const char *subject)
{
    fprintf(stderr, "kubelua bench: %zu pods, run %zu of %zu: %s\n", plan->data.pods, run + 1, plan->runs,
            subject);
}

static bool other_data(const struct campaign *campaign)
{
    const struct bench_data *data = &campaign->setup->plan.data;
    return campaign->plan.data.pods != data->pods || campaign->plan.data.replicas != data->replicas;
}

/* In which of several runs, and with which of several data. */
static void put_down(const struct campaign *campaign, const char *subject, size_t run, const char *why)
{
    struct buf text = {0};
    const struct bench_config *plan = &campaign->plan;
    if (other_data(campaign))
        buf_printf(&text, "with %zu pods, %zu of a workload: ", plan->data.pods, plan->data.replicas);
    if (plan->runs > 1) buf_printf(&text, "in run %zu of %zu: ", run + 1, plan->runs);
    buf_puts(&text, why);
    fprintf(stderr, "kubelua bench: %s\n", why);
    bench_results_lack(campaign->results, subject, true, buf_text(&text));
    *campaign->any_failed = true;
    buf_clear(&text);
}

/* On a source of its own: what one subject did to the pods, or to the source, is nothing to the next. False
 * when there is no source, or somebody wants the end. */
static bool measure(const struct campaign *campaign, const struct bench_subject *subject, size_t run,
                    bool *failed, struct err *err)
{
    const struct bench_config *plan = &campaign->plan;
    struct bench_source *source = bench_source_start(&plan->data, err);
    if (!source) return false;
    struct bench_result *result =
        bench_results_of(campaign->results, subject->name, plan->data.pods, plan->data.replicas);
    result->wanted = plan->runs;
    *failed = !bench_run_subject(plan, subject, source, result, err);
    bench_source_stop(source);
    if (bench_interrupted()) return false;
    if (*failed)
        put_down(campaign, subject->name, run, err->text);
    else
        result->runs++;
    return true;
}

/* All runs with one set of data. */
static bool measure_data(const struct campaign *campaign, struct err *err)
{
    bool *failed = xcalloc(campaign->count, sizeof *failed), ok = true;
    for (size_t run = 0; ok && run < campaign->plan.runs; run++) {
        for (size_t i = 0; ok && i < campaign->count; i++) {
            const struct bench_subject *subject = &campaign->setup->subjects[i];
            if (failed[i] || !(subject->measurements & campaign->plan.measurements)) continue;
            tell(&campaign->plan, run, subject->name);
            ok = measure(campaign, subject, run, &failed[i], err);
        }
    }
    free(failed);
    return ok;
}

/* Ours, once each. */
static bool measure_larger(struct campaign *campaign, struct err *err)
{
    size_t count;
    const struct bench_data *larger = bench_larger(&count);
    bool ok = true;
    campaign->count = campaign->setup->larger_count;
    campaign->plan.runs = 1;
    campaign->plan.measurements &= measured_larger;
    for (size_t i = 0; ok && i < count; i++) {
        campaign->plan.data = larger[i];
        ok = measure_data(campaign, err);
    }
    return ok;
}

bool bench_all_measure(struct bench_setup *setup, struct bench_results *results, bool *any_failed,
                       struct err *err)
{
    char *folder = bench_scripts_write(err);
    if (!folder) return false;
    setup->plan.scripts = folder;
    struct campaign campaign = {setup, setup->plan, setup->count, results, any_failed};
    bool ok = measure_data(&campaign, err) && (!setup->plan.full || measure_larger(&campaign, err));
    bench_scripts_remove(folder);
    return ok;
}

/* --- before anything is started */

/* What needs the most. */
static struct bench_data largest(const struct bench_setup *setup)
{
    size_t count;
    const struct bench_data *larger = bench_larger(&count);
    struct bench_data most = setup->plan.data;
    for (size_t i = 0; setup->plan.full && i < count; i++)
        if (bench_memory_need(&larger[i]) > bench_memory_need(&most)) most = larger[i];
    return most;
}

static bool has_peers(const struct bench_setup *setup)
{
    bool any = false;
    for (size_t i = 0; i < setup->count; i++) any = any || setup->subjects[i].command;
    return any;
}

/* What a peer takes nobody knows before. */
static bool check_memory(const struct bench_setup *setup, struct err *err)
{
    struct bench_data data = largest(setup);
    size_t need = bench_memory_need(&data), available = bench_memory_available();
    struct buf text = {0};
    bench_number_exact(&text, (double)data.pods);
    buf_printf(
        &text,
        " pods need about %.1f GiB of memory (the source, and kubelua's cache), and %.1f GiB are available",
        (double)need / (1 << 30), (double)available / (1 << 30));
    bool ok = available == 0 || need <= available;
    if (!ok) err_set(err, ERR_INVALID, "%s", buf_text(&text));
    if (ok && data.pods >= MANY) fprintf(stderr, "kubelua bench: %s\n", buf_text(&text));
    if (ok && setup->plan.data.pods >= MANY && has_peers(setup))
        fputs("kubelua bench: peers may take many times as much for their caches\n", stderr);
    buf_clear(&text);
    return ok;
}

bool bench_all_check(const struct bench_setup *setup, struct err *err)
{
    unsigned able = 0;
    for (size_t i = 0; i < setup->count; i++) able |= setup->subjects[i].measurements;
    if (!(able & setup->plan.measurements))
        return err_set(err, ERR_INVALID,
                       "nothing to measure: no subject supports the measurements of --only; add a --peer");
    return check_memory(setup, err);
}

/* --- Scripts as files */

static bool write_one(const char *folder, const struct embedded_module *script, struct err *err)
{
    char *path = xasprintf("%s/%s.lua", folder, script->name);
    FILE *file = fopen(path, "we");
    bool ok = file && fwrite(script->source, 1, script->len, file) == script->len;
    if (file && fclose(file) != 0) ok = false;
    if (!ok) err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return ok;
}

char *bench_scripts_write(struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *folder = xasprintf("%s/kubelua-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        err_set(err, ERR_IO, "cannot create a directory like %s: %s", folder, strerror(errno));
        free(folder);
        return NULL;
    }
    for (const struct embedded_module *script = bench_scripts; script->name; script++) {
        if (write_one(folder, script, err)) continue;
        bench_scripts_remove(folder);
        return NULL;
    }
    return folder;
}

void bench_scripts_remove(char *folder)
{
    if (!folder) return;
    for (const struct embedded_module *script = bench_scripts; script->name; script++) {
        char *path = xasprintf("%s/%s.lua", folder, script->name);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    free(folder);
}
