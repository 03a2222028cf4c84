/* An order from the flags of a command; see audit_job_make.h. */
#include "app/audit/audit_job_make.h"

#include <stdlib.h>
#include <time.h>

#include "app/audit/audit_job.h"
#include "app/audit/audit_scripts.h"
#include "base/mem.h"
#include "engine/load_host.h"
#include "script/vm/bundle.h"

enum { MS_PER_S = 1000, TIMEOUT_MAX_H = 10000, NICE_MAX = 19 };

/* Loads the scripts here first: mistakes are reported before an engine is involved, and the modules that they
 * require become known. */
static bool load(const struct audit_request *request, struct audit_job *order, struct err *err)
{
    struct audit_scripts scripts = {0};
    struct load_host dry;
    const struct engine_settings settings = audit_scripts_settings(request);
    load_host_open(&dry, &settings);
    bool ok = audit_scripts_load(&scripts, request, &dry.host, err);
    order->scripts = xcalloc(scripts.count + 1, sizeof *order->scripts);
    for (size_t i = 0; ok && i < scripts.count; i++) {
        const struct script *script = scripts.items[i];
        order->scripts[order->script_count++] = (struct audit_job_script){
            xstrdup(script_name(script)), xstrdup(script_path(script)), bundle_ref(script_bundle(script))};
    }
    audit_scripts_close(&scripts);
    load_host_close(&dry);
    return ok;
}

static char **copy_list(const struct flag_list *list)
{
    char **copy = xcalloc(list->count + 1, sizeof *copy);
    for (size_t i = 0; i < list->count; i++) copy[i] = xstrdup(list->items[i]);
    return copy;
}

/* A copy, as the order owns what it has. */
static struct params *copy_params(const struct params *params)
{
    struct params *copy = params_new();
    for (size_t i = 0; i < params_count(params); i++) {
        const struct param_given given = params_at(params, i);
        params_put(copy, &given);
    }
    return copy;
}

static bool check(const struct audit_request *request, struct err *err)
{
    const int64_t hour_ms = 3600 * (int64_t)MS_PER_S;
    if (request->engine.nice > NICE_MAX)
        return err_set(err, ERR_INVALID, "--nice must be at most %d, not %d", NICE_MAX, request->engine.nice);
    return request->engine.timeout_ms <= TIMEOUT_MAX_H * hour_ms ||
           err_set(err, ERR_INVALID, "--timeout must be at most %dh, or 0 for none", TIMEOUT_MAX_H);
}

int audit_job_make(const struct audit_request *request, bool passes, struct err *err)
{
    const struct options *options = &request->options;
    const char *ns = options->all_namespaces ? NULL : options->cluster.namespace_;
    struct audit_job order = {
        .namespace_ = xstrdup(ns ? ns : ""),
        .selector = xstrdup(request->selector ? request->selector : ""),
        .now_s = time(NULL),
        .timeout_s = (request->engine.timeout_ms + MS_PER_S - 1) / MS_PER_S,
        .memory_bytes = (int64_t)request->engine.child_memory,
        .nice = request->engine.nice,
        .passes = passes,
        .is_own = request->files.count == 0,
        .limits = options->script_limits,
        .suppression = options_suppression(options),
        .params = copy_params(request->options.given_params),
        .trusted = copy_list(&options->trusted),
        .trusted_count = options->trusted.count,
        .lua_path = copy_list(&options->lua_path),
        .lua_path_count = options->lua_path.count,
    };
    bool ok = check(request, err) && (order.is_own || load(request, &order, err));
    int fd = ok ? audit_job_write(&order, err) : -1;
    audit_job_clear(&order);
    return fd;
}
