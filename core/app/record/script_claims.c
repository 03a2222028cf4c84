/* Claims of scripts that are only loaded; see script_claims.h. */
#include "app/record/script_claims.h"

#include "engine/load_host.h"
#include "script/generation/script.h"

static bool each_claim(const struct script *script,
                       bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err), void *ctx,
                       struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < script_claim_count(script); i++)
        ok = claim(ctx, claim_spec(script_claim(script, i)), err);
    return ok;
}

bool script_claims_each(const struct script_files *files, const struct options *options,
                        const char *default_namespace,
                        bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err),
                        void *ctx, struct err *err)
{
    struct load_host dry;
    bool ok = true;
    struct engine_settings settings = {.default_namespace = default_namespace};
    options_give_scripts(options, &settings);
    load_host_open(&dry, &settings);
    for (size_t i = 0; ok && i < files->count; i++) {
        struct script *script = script_load(&dry.host, files->paths[i], files->names[i], err);
        ok = script && each_claim(script, claim, ctx, err);
        script_free(script);
    }
    load_host_close(&dry);
    return ok;
}
