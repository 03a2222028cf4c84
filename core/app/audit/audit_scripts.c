/* Scripts with rules; see audit_scripts.h. */
#include "app/audit/audit_scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/options/options.h"
#include "base/mem.h"
#include "script/params/declared.h"

enum {
    MISSED_MAX_OF_FILES = 64,
    MISSED_MAX_OF_CLUSTER = 16, /* for each a page is listed again */
};

static void drop_failure(void *ctx, const char *call, const char *error, const char *traceback,
                         const struct log_field *about)
{
}

struct engine_settings audit_scripts_settings(const struct audit_request *request)
{
    const struct options *options = &request->options;
    const char *ns = options->all_namespaces ? NULL : options->cluster.namespace_;
    struct engine_settings settings = {.default_namespace = ns ? ns : "",
                                       .hooks.failed = drop_failure, /* the report has it */
                                       .max_object_size = options->max_object_size,
                                       .request_timeout_ms = options->request_timeout_ms,
                                       .qps = options->kube_api_qps,
                                       .burst = options->kube_api_burst};
    options_give_scripts(options, &settings);
    return settings;
}

bool audit_scripts_load(struct audit_scripts *scripts, const struct audit_request *request,
                        const struct script_host *host, struct err *err)
{
    const struct script_files *files = &request->files;
    size_t rules = 0, failed = 0;
    scripts->items = xcalloc(files->count, sizeof *scripts->items);
    for (size_t i = 0; i < files->count; i++) {
        struct script_source source = {.path = files->paths[i], .name = files->names[i], .generation = 1};
        struct err cause;
        struct script *script = script_prepare(host, &source, &cause);
        if (script) {
            scripts->items[scripts->count++] = script;
            rules += script_rule_count(script);
        } else if (failed++ == 0) {
            *err = cause;
        } else {
            fprintf(stderr, "kubelua audit: %s\n", cause.text);
        }
    }
    if (failed) return false;
    if (rules == 0) return err_set(err, ERR_INVALID, "none of the scripts has a rule (k8s.rule)");
    return params_check(request->options.given_params, scripts->items, scripts->count, err);
}

void audit_scripts_want_uses(struct audit_scripts *scripts)
{
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++) {
            const struct script_rule *rule = script_rule(scripts->items[s], i);
            for (size_t u = 0; u < rule->use_count; u++) claim_suspend(rule->uses[u].claim, false);
        }
}

bool audit_scripts_begin(struct audit_scripts *scripts, const struct audit_request *request,
                         struct pool *pool, const struct catalogue *catalogue, struct audit_table *table,
                         struct err *err)
{
    if (request->fixes)
        scripts->fixer = fixer_new(&(const struct fixer_options){.pool = pool,
                                                                 .catalogue = catalogue,
                                                                 .table = table,
                                                                 .known = request->known,
                                                                 .fixes = request->fixes});
    scripts->auditor =
        auditor_new(&(const struct auditor_options){.scripts = scripts->items,
                                                    .script_count = scripts->count,
                                                    .catalogue = catalogue,
                                                    .table = table,
                                                    .now_s = time(NULL),
                                                    .missed_max = request->from.count ? MISSED_MAX_OF_FILES
                                                                                      : MISSED_MAX_OF_CLUSTER,
                                                    .limits = options_suppression(&request->options),
                                                    .selector = request->labels,
                                                    .fixer = scripts->fixer},
                    err);
    return scripts->auditor != NULL;
}

void audit_scripts_close(struct audit_scripts *scripts)
{
    auditor_free(scripts->auditor);
    fixer_free(scripts->fixer);
    for (size_t i = 0; i < scripts->count; i++) script_free(scripts->items[i]);
    free(scripts->items);
    *scripts = (struct audit_scripts){0};
}
