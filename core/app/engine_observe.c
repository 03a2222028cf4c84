/* What probes and metrics show of the engine; see engine_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "app/engine_internal.h"
#include "base/mem.h"

/* So many informers are named when they lag; the rest is counted. */
enum { LAGGARDS_MAX = 20 };

struct laggards {
    struct buf text;
    size_t named, more;
};

static bool is_named(const struct laggards *l, struct str line)
{
    struct str rest = buf_slice(&l->text), one;
    while (str_cut(&rest, ';', &one))
        if (str_eq(str_trim(one), line)) return true;
    return false;
}

/* Scripts that share an informer have it named once. */
static void add_laggard(struct engine *engine, struct laggards *l, struct informer_claim *claim)
{
    struct claim_status status;
    struct buf line = {0};
    claim_get_status(claim, &status);
    const char *ns = claim_spec(claim)->namespace_, *cause = engine_lag_cause(engine, &status);
    buf_printf(&line, "%s%s%s: %s", claim_spec(claim)->kind, *ns ? " in " : "", ns,
               *cause ? cause : "discovery has not answered yet");
    for (char *c = line.data; c < line.data + line.len; c++)
        if (*c == ';') *c = ','; /* it parts the informers */
    if (is_named(l, buf_slice(&line))) {
    } else if (l->named == LAGGARDS_MAX) {
        l->more++;
    } else {
        buf_printf(&l->text, "%s%s", l->named++ ? "; " : "", buf_text(&line));
    }
    buf_clear(&line);
}

static void observe_informers(struct engine *engine)
{
    struct laggards l = {0};
    for (size_t i = 0; i < engine->script_count; i++)
        for (size_t j = 0; j < script_claim_count(engine->scripts[i]); j++) {
            struct informer_claim *claim = script_claim(engine->scripts[i], j);
            if (!claim_has_synced(claim)) add_laggard(engine, &l, claim);
        }
    if (l.more) buf_printf(&l.text, "; and %zu more", l.more);
    health_set_informers(monitor_health(engine->monitor), buf_text(&l.text));
    buf_clear(&l.text);
}

static void observe_scripts(struct engine *engine)
{
    if (!engine->memory) {
        engine->memory = xcalloc(engine->script_count + 1, sizeof *engine->memory);
        for (size_t i = 0; i < engine->script_count; i++)
            engine->memory[i] = SERIES(FAMILY_SCRIPT_MEMORY, script_name(engine->scripts[i]));
    }
    for (size_t i = 0; i < engine->script_count; i++)
        series_set(engine->memory[i], (double)script_memory(engine->scripts[i]));
}

void engine_observe(void *ctx)
{
    struct engine *engine = ctx;
    observe_informers(engine);
    observe_scripts(engine);
}

void engine_observe_end(struct engine *engine)
{
    for (size_t i = 0; engine->memory && i < engine->script_count; i++) series_free(engine->memory[i]);
    free(engine->memory);
}
