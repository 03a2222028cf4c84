/* Continuous audits by hand; see live.h. */
#include "core/audit/support/live/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "audit/found/findings.h"
#include "base/mem.h"
#include "core/script/support/patient.h"
#include "informer/shared/shared_factory.h"
#include "object/value/value.h"

void (*live_changed)(void *ctx, struct str ns);
void *live_changed_ctx;

static int64_t spent_ns;
static bool is_held;

/* Each look at the time takes a third of a millisecond: some ten calls are a slice. While the audit is held
 * each takes more than a slice. */
static int64_t slow_ns(void)
{
    return spent_ns += is_held ? 10000000 : 300000;
}

void live_hold(bool held)
{
    is_held = held;
}

struct fixture live_begin_with(struct cluster *c, const char *lua, size_t max_dependencies, size_t max_bytes)
{
    struct fixture f = {.c = c};
    c->host.runs_rules = true;
    is_held = false;
    f.audit = continuous_new(&(const struct continuous_options){.clock = &c->clock.clock,
                                                                .max_dependencies = max_dependencies,
                                                                .max_finding_bytes = max_bytes,
                                                                .changed = live_changed,
                                                                .ctx = live_changed_ctx,
                                                                .now_ns = slow_ns});
    f.script = cluster_load(c, "rules", lua);
    continuous_take(f.audit, NULL, f.script);
    cluster_resolve(c);
    return f;
}

struct fixture live_begin(struct cluster *c, const char *lua)
{
    return live_begin_with(c, lua, CONTINUOUS_DEPENDENCIES_MAX, CONTINUOUS_FINDING_BYTES_MAX);
}

struct fixture live_begin_hurried(struct cluster *c, const char *lua)
{
    static struct limits limits;
    limits = patient_limits;
    limits.values[LIMIT_HANDLER_CPU] = limits.values[LIMIT_FILTER_CPU] = 20;
    c->host.limits = &limits;
    return live_begin(c, lua);
}

void live_end(struct fixture *f)
{
    continuous_free(f->audit);
    script_free(f->script);
}

void live_settle(struct fixture *f)
{
    cluster_settle(f->c);
    virtual_clock_advance(&f->c->clock, 200);
    for (int i = 0; i < 1000 && continuous_status(f->audit).pending; i++)
        virtual_clock_advance(&f->c->clock, 10);
    assert_int_equal(continuous_status(f->audit).pending, 0);
}

void live_put_pod(struct cluster *c, const char *annotation)
{
    struct buf text = {0};
    struct root *root;
    struct err err;
    buf_printf(&text,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\","
               "\"resourceVersion\":\"%llu\",\"labels\":{\"bad\":\"1\"},\"annotations\":{"
               "\"kubelua/ignore.own\":\"%s\"}}}",
               (unsigned long long)++c->version, annotation);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(c->packer, text.data, text.len, NULL, &root, &err)) fail_msg("%s", err.text);
    c->sources[0].sink.event(c->sources[0].ctx, LW_ADDED, root, 1700000000500000);
    buf_clear(&text);
}

/* --- what is known, and what a rule says now */

static struct buf line;
static char **lines;
static size_t line_count;

static void add_line(void)
{
    lines = xrealloc(lines, (line_count + 1) * sizeof *lines);
    lines[line_count++] = xstrdup(buf_text(&line));
}

static void put_finding(const struct rule_finding *finding)
{
    buf_printf(&line, "; %s %.*s %.*s", verdict_name(finding->verdict), STR_ARG(finding->message),
               STR_ARG(finding->path));
    if (finding->reason.n) buf_printf(&line, "(%.*s)", STR_ARG(finding->reason));
}

static void put_head(const struct script_rule *rule, const struct root *object, enum verdict verdict)
{
    buf_printf(&line, " <- %s ", rule->id);
    root_key(object, &line);
    buf_printf(&line, " %s", verdict_name(verdict));
}

static void put_known(void *ctx, const struct continuous_result *result)
{
    struct rule_finding finding;
    bool accepted;
    size_t at = 0;
    (void)ctx;
    line.len = 0;
    while (findings_next(result->findings, &at, &finding, &accepted)) put_finding(&finding);
    put_head(result->ref->rule, result->object, result->verdict);
    add_line();
}

static void on_found(void *ctx, const struct rule_finding *finding)
{
    (void)ctx;
    put_finding(finding);
}

struct question {
    struct script *script;
    size_t rule;
};

static bool ask_one(void *ctx, struct root *object)
{
    const struct question *q = ctx;
    static const struct rule_sink sink = {.found = on_found};
    line.len = 0;
    enum verdict verdict = script_evaluate_rule(q->script, q->rule, object, &sink);
    put_head(script_rule(q->script, q->rule), object, verdict);
    add_line();
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *all_lines(void)
{
    struct buf out = {0};
    if (line_count) qsort(lines, line_count, sizeof *lines, compare);
    for (size_t i = 0; i < line_count; i++) {
        buf_printf(&out, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    lines = NULL;
    line_count = 0;
    buf_clear(&line);
    return buf_take(&out);
}

char *live_known(struct fixture *f)
{
    static const char *const namespaces[] = {"", "shop", "bar", "x"};
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        struct continuous_walk *walk = continuous_walk_new(f->audit, str_of(namespaces[i]));
        while (continuous_walk_on(walk, 1, put_known, NULL)) continue;
        continuous_walk_free(walk);
    }
    return all_lines();
}

static char *from_scratch(struct fixture *f)
{
    for (size_t i = 0; i < script_rule_count(f->script); i++) {
        struct question q = {f->script, i};
        const struct script_rule *rule = script_rule(f->script, i);
        for (size_t k = 0; k < rule->kind_count; k++)
            indexer_each(claim_indexer(rule->kinds[k]), ask_one, &q);
    }
    return all_lines();
}

/* Names the first line that differs. */
void live_assert_true(struct fixture *f)
{
    char *is = live_known(f), *should = from_scratch(f);
    struct str left = str_of(is), right = str_of(should), a = STR(""), b = STR("");
    while (left.n && right.n && str_eq(a, b)) {
        str_cut(&left, '\n', &a);
        str_cut(&right, '\n', &b);
    }
    if (strcmp(is, should) != 0) fail_msg("known: %.*s; now: %.*s", STR_ARG(a), STR_ARG(b));
    free(is);
    free(should);
}

void live_reload(struct fixture *f, const char *lua)
{
    struct script *before = f->script;
    f->script = cluster_load(f->c, "rules", lua);
    cluster_resolve(f->c);
    continuous_take(f->audit, before, f->script);
    script_free(before);
}
