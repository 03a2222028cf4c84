/* Scripts and their generations; see slot.h. */
#include "app/slot.h"

#include <stdlib.h>
#include <string.h>

#include "app/engine_internal.h"
#include "base/mem.h"
#include "base/must.h"

/* Other threads may read a name for as long as the engine lives (running.h). */
static const char *keep_name(struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->name_count; i++)
        if (strcmp(engine->names[i], name) == 0) return engine->names[i];
    engine->names = xrealloc(engine->names, (engine->name_count + 1) * sizeof *engine->names);
    return engine->names[engine->name_count++] = xstrdup(name);
}

struct slot *slot_add(struct engine *engine, const char *path, const char *name)
{
    struct slot *slot = NEW(struct slot);
    slot->path = keep_name(engine, path);
    slot->name = keep_name(engine, name);
    engine->slots = xrealloc(engine->slots, (engine->slot_count + 1) * sizeof(struct slot *));
    engine->slots[engine->slot_count++] = slot;
    return slot;
}

struct slot *slot_find(const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->slot_count; i++)
        if (strcmp(engine->slots[i]->name, name) == 0) return engine->slots[i];
    return NULL;
}

struct slot *slot_of(const struct engine *engine, const struct script *script)
{
    return slot_find(engine, script_name(script));
}

static void free_slot(struct slot *slot)
{
    series_free(slot->memory);
    free(slot);
}

void slot_remove(struct engine *engine, struct slot *slot)
{
    size_t i = 0;
    while (i < engine->slot_count && engine->slots[i] != slot) i++;
    must(i < engine->slot_count);
    memmove(&engine->slots[i], &engine->slots[i + 1], (--engine->slot_count - i) * sizeof(struct slot *));
    free_slot(slot);
}

struct script *slot_load(struct engine *engine, struct slot *slot, struct bundle *bundle, struct err *err)
{
    const struct script_source source = {
        .path = slot->path, .name = slot->name, .bundle = bundle, .generation = slot->made + 1};
    struct script *script = script_prepare(&engine->host, &source, err);
    if (!script) return NULL;
    slot->made++;
    engine->scripts = xrealloc(engine->scripts, (engine->script_count + 1) * sizeof(struct script *));
    engine->scripts[engine->script_count++] = script;
    return script;
}

void slot_drop(struct engine *engine, struct script *script)
{
    size_t i = 0;
    while (i < engine->script_count && engine->scripts[i] != script) i++;
    must(i < engine->script_count);
    memmove(&engine->scripts[i], &engine->scripts[i + 1],
            (--engine->script_count - i) * sizeof(struct script *));
    script_free(script);
}

void slots_clear(struct engine *engine)
{
    while (engine->script_count > 0) slot_drop(engine, engine->scripts[engine->script_count - 1]);
    for (size_t i = 0; i < engine->slot_count; i++) free_slot(engine->slots[i]);
    for (size_t i = 0; i < engine->name_count; i++) free(engine->names[i]);
    free(engine->scripts);
    free(engine->slots);
    free(engine->names);
}
