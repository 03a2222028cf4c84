/* Evaluates rules of a script under test on its cluster, and calls its commands; see spec_calls.h. */
#include "app/specs/spec_calls.h"

#include <stdlib.h>
#include <string.h>

#include "audit/report/report_parts.h"
#include "audit/rules/auditor.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "script/params/declared.h"
#include "script/rules/rule.h"

/* The objects that rules match, each once. */
struct subjects {
    struct root **items; /* references */
    size_t count;
};

static bool keep(void *ctx, struct root *object)
{
    struct subjects *subjects = ctx;
    *array_add(subjects->items, subjects->count) = root_ref(object);
    return true;
}

static void keep_all(struct subjects *subjects, struct script *const *scripts, size_t count)
{
    size_t cache_count;
    struct indexer **caches = rule_caches(scripts, count, &cache_count);
    for (size_t i = 0; i < cache_count; i++) indexer_each(caches[i], keep, subjects);
    free(caches);
}

static void subjects_clear(struct subjects *subjects)
{
    for (size_t i = 0; i < subjects->count; i++) root_unref(subjects->items[i]);
    free(subjects->items);
}

/* --- rules and objects */

static void find_rule(struct nearest *nearest, bool *found, const struct script *script)
{
    for (size_t i = 0; i < script_rule_count(script); i++) {
        const struct script_rule *rule = script_rule(script, i);
        *found = *found || !nearest->wanted.p || str_is(nearest->wanted, rule->id);
        nearest_try(nearest, rule->id);
    }
}

static bool collect(struct script *const *scripts, size_t count, const char *rule, struct subjects *subjects,
                    struct err *err)
{
    struct nearest nearest = nearest_to(str_of(rule));
    bool found = false;
    for (size_t i = 0; i < count; i++) find_rule(&nearest, &found, scripts[i]);
    if (found) {
        keep_all(subjects, scripts, count);
        return true;
    }
    if (!rule) return err_set(err, ERR_NOT_FOUND, "the script has no rule (k8s.rule)");
    err_set(err, ERR_NOT_FOUND, "rule \"%s\" not found", rule);
    return nearest.name ? err_append(err, ", did you mean \"%s\"?", nearest.name) : false;
}

/* --- evaluation */

static void put_rows(const struct audit_table *table, const char *rule, struct buf *out)
{
    json_open(out, NULL, '[');
    for (size_t i = 0; i < audit_table_count_rows(table); i++) {
        const struct audit_row *row = audit_table_row(table, i);
        if (!rule || strcmp(audit_table_rule(table, row->rule)->id, rule) == 0)
            report_put_row(out, table, row, false, NULL);
    }
    json_close(out, ']');
}

static bool evaluate(struct spec_engine *engine, struct script *const *scripts, size_t count,
                     const struct subjects *subjects, struct audit_table *table, struct err *err)
{
    struct clock *clock = loop_clock(engine->loop);
    struct auditor *auditor =
        auditor_new(&(const struct auditor_options){.scripts = scripts,
                                                    .script_count = count,
                                                    .catalogue = kinds_catalogue(
                                                        engine_cluster(engine->engine)->parts.kinds),
                                                    .table = table,
                                                    .now_s = clock_wall_us(clock) / 1000000,
                                                    .fixes = true},
                    err);
    if (!auditor) return false;
    spec_engine_enter(engine);
    for (size_t i = 0; i < subjects->count; i++)
        auditor_audit(auditor, &(const struct audit_subject){.object = subjects->items[i]});
    spec_engine_leave();
    auditor_free(auditor);
    return true;
}

bool spec_audit(struct spec_engine *engine, const char *rule, bool passes, struct buf *out, struct err *err)
{
    struct subjects subjects = {0};
    if (!spec_engine_settle(engine, err)) return false;
    size_t count = engine_scripts(engine->engine)->count;
    struct script **scripts = xcalloc(count + 1, sizeof(struct script *));
    for (size_t i = 0; i < count; i++) scripts[i] = spec_engine_script(engine, i);
    struct audit_table *table = audit_table_new(passes);
    bool ok = engine_check_params(engine->engine, err) && collect(scripts, count, rule, &subjects, err) &&
              evaluate(engine, scripts, count, &subjects, table, err);
    if (ok) {
        audit_table_sort(table);
        put_rows(table, rule, out);
    }
    audit_table_free(table);
    subjects_clear(&subjects);
    free(scripts);
    return ok;
}

/* --- calls of commands */

enum { TIMEOUT_MS = 600000 };

struct waiting_call {
    struct spec_call_result *result;
    bool over;
};

static void on_done(void *ctx, const struct script_command_result *from)
{
    struct waiting_call *waiting = ctx;
    waiting->over = true;
    waiting->result->end = from->end;
    waiting->result->is_json = from->is_json;
    buf_str(waiting->result->text, from->text);
}

/* Returns the script and the number of the command; NULL with an error. */
static struct script *find_command(struct spec_engine *engine, const char *name, size_t *command,
                                   struct err *err)
{
    struct nearest nearest = nearest_to(str_of(name));
    struct script *script;
    for (size_t i = 0; (script = spec_engine_script(engine, i)); i++)
        for (*command = 0; *command < script_command_count(script); ++*command) {
            if (strcmp(script_command_name(script, *command), name) == 0) return script;
            nearest_try(&nearest, script_command_name(script, *command));
        }
    err_set(err, ERR_NOT_FOUND, "command \"%s\" not found%s%s%s", name,
            nearest.name ? ", did you mean \"" : "", nearest.name ? nearest.name : "",
            nearest.name ? "\"?" : "");
    return NULL;
}

bool spec_wait_for(struct spec_engine *engine, const bool *over, const char *what, struct err *err)
{
    struct clock *clock = loop_clock(engine->loop);
    int64_t end_ms = clock_now_ms(clock) + TIMEOUT_MS;
    if (!spec_engine_settle(engine, err)) return false;
    while (!*over && clock_next_due_ms(clock) <= end_ms)
        if (!spec_engine_advance(engine, clock_next_due_ms(clock) - clock_now_ms(clock), err)) return false;
    return *over || err_set(err, ERR_TIMEOUT, "the %s did not finish within ten minutes of test time", what);
}

bool spec_command_call(struct spec_engine *engine, const char *name, const char *const *args, size_t count,
                       struct spec_call_result *result, struct err *err)
{
    size_t command;
    struct waiting_call waiting = {.result = result};
    struct script *script = find_command(engine, name, &command, err);
    if (!script) return false;
    spec_engine_enter(engine);
    struct command_call *call = script_call_command(script, command, args, count, on_done, &waiting);
    spec_engine_leave();
    bool ok = spec_wait_for(engine, &waiting.over, "command", err);
    if (call && !waiting.over) command_call_cancel(call);
    return ok;
}
