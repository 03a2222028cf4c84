/* What a script is and has declared, for those who ask; see script.h. */
#include "script/generation/script.h"

#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/vm/state.h"

const char *script_name(const struct script *script)
{
    return script->name;
}

const char *script_path(const struct script *script)
{
    return script->path;
}

uint64_t script_generation(const struct script *script)
{
    return script->generation;
}

struct bundle *script_bundle(const struct script *script)
{
    return script->bundle;
}

size_t script_claim_count(const struct script *script)
{
    return script->claim_count;
}

struct informer_claim *script_claim(const struct script *script, size_t i)
{
    must(i < script->claim_count);
    return script->claims[i];
}

size_t script_handler_count(const struct script *script)
{
    const struct script_handler *handler;
    size_t count = 0;
    TAILQ_FOREACH (handler, &script->handlers, link) count++;
    return count;
}

size_t script_read_count(const struct script *script)
{
    return script->reads.count;
}

const char *script_read(const struct script *script, size_t i)
{
    must(i < script->reads.count);
    return script->reads.items[i].text;
}

size_t script_write_count(const struct script *script)
{
    return script->writes.count;
}

const char *script_write(const struct script *script, size_t i)
{
    must(i < script->writes.count);
    return script->writes.items[i].text;
}

const struct plan *script_plan(const struct script *script)
{
    return &script->plan;
}

size_t script_stepping_down(const struct script *script)
{
    return leading_count_stopping(script);
}

const struct leadership *script_leadership(const struct script *script)
{
    return script->leading.leadership;
}

const struct declared_write *script_write_parts(const struct script *script, size_t i)
{
    must(i < script->writes.count);
    return &script->writes.items[i];
}

bool script_tells_events(const struct script *script)
{
    return script->tells_events;
}

bool script_has_main(const struct script *script)
{
    return script->has_main;
}

bool script_has_synced(const struct script *script)
{
    return handlers_have_synced(script);
}

struct script_counters script_counters(const struct script *script)
{
    return script->counters;
}

struct script_tally script_tally(const struct script *script)
{
    return script->tally;
}

struct str script_first_failure(const struct script *script)
{
    return buf_slice(&script->first_failure);
}

bool script_is_trusted(const struct script *script)
{
    return script->trusted;
}

int64_t script_load_us(const struct script *script)
{
    return script->load_us;
}

size_t script_memory(const struct script *script)
{
    return script->memory + script->queue_keys.bytes;
}
