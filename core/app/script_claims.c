/* Claims of scripts that are only loaded; see script_claims.h. */
#include "app/script_claims.h"

#include "app/leader_options.h"
#include "kube/kinds.h"
#include "script/script.h"
#include "script/turns.h"

static void ask_nobody(void *ctx) {}

static bool each_claim(const struct script *script,
                       bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err), void *ctx,
                       struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < script_claim_count(script); i++)
        ok = claim(ctx, claim_spec(script_claim(script, i)), err);
    return ok;
}

bool script_claims_each(const struct script_files *files, const char *default_namespace,
                        bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err),
                        void *ctx, struct err *err)
{
    struct loop *loop = loop_new();
    struct kinds *kinds = kinds_new(loop_clock(loop), ask_nobody, NULL);
    struct shared_factory *factory =
        shared_factory_new(&(struct shared_factory_options){.engine_loop = loop, .io_loop = loop});
    struct leaders *leaders =
        leaders_new(&(struct leaders_options){.engine_loop = loop, .io_loop = loop, .identity = "none"});
    struct turns turns;
    turns_init(&turns);
    struct leader_flags flags = {0};
    leader_flags(&flags); /* sets the defaults */
    const struct script_host host = {.factory = factory,
                                     .loop = loop,
                                     .turns = &turns,
                                     .kinds = kinds,
                                     .leaders = leaders,
                                     .lease = leader_flags_lease(&flags, "default"),
                                     .default_namespace = default_namespace};
    bool ok = true;
    for (size_t i = 0; ok && i < files->count; i++) {
        struct script *script = script_load(&host, files->paths[i], files->names[i], err);
        ok = script && each_claim(script, claim, ctx, err);
        script_free(script);
    }
    leaders_end(leaders);
    leaders_free(leaders);
    shared_factory_free(factory);
    kinds_free(kinds);
    loop_free(loop);
    return ok;
}
