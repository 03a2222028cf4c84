/* Documents that the admin socket and the page have, and their sections; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include <string.h>

#include "app/admin/admin_document.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "script/server/write_log.h"

static bool put_part(const struct admin_engine *admin, size_t at, struct buf *out)
{
    if (at < admin->part_count) admin->parts[at].put(admin->parts[at].ctx, out);
    return at + 1 < admin->part_count;
}

/* The last writes, the oldest first, and how many there ever were. */
static void put_writes(const struct admin_engine *admin, struct buf *out)
{
    const struct write_log *log = engine_host(admin->engine)->audit;
    json_int(out, "total", (int64_t)write_log_total(log));
    write_log_write(log, "writes", SIZE_MAX, out);
}

static void put_last_writes(const struct admin_engine *admin, struct buf *out)
{
    enum { PAGE_WRITES = 15 };
    write_log_write(engine_host(admin->engine)->audit, "writes", PAGE_WRITES, out);
}

static void open_status(const struct admin_engine *admin, struct buf *out)
{
    json_open(out, "status", '{');
}

static void close_status(const struct admin_engine *admin, struct buf *out)
{
    json_close(out, '}');
}

#define WHOLE(of, fn)               \
    {                               \
        .name = (of), .whole = (fn) \
    }
#define EACH(of, fn)               \
    {                              \
        .name = (of), .next = (fn) \
    }
#define STATUS_SECTIONS                                                           \
    WHOLE("the engine", admin_put_engine), EACH("scripts", admin_put_scripts),    \
        WHOLE("audits", admin_put_continuous), WHOLE("leases", admin_put_leases), \
        EACH("informers", admin_put_informers), EACH("queues", admin_put_queues), \
        EACH("timers", admin_put_timers), EACH("parts", put_part)

static const struct admin_section status[] = {STATUS_SECTIONS};
static const struct admin_section page[] = {WHOLE("status", open_status), STATUS_SECTIONS,
                                            WHOLE("status", close_status), WHOLE("writes", put_last_writes)};
static const struct admin_section queue[] = {EACH("queues", admin_put_queues)};
static const struct admin_section writes[] = {WHOLE("writes", put_writes)};
static const struct admin_section config[] = {WHOLE("config", admin_put_config)};
static const struct admin_section commands[] = {WHOLE("commands", admin_put_commands)};
static const struct admin_section reloads[] = {WHOLE("reloads", admin_put_reloads)};
static const struct admin_section plan[] = {WHOLE("plans", admin_put_plans)};
static const struct admin_section quarantine[] = {WHOLE("quarantine", admin_put_quarantine)};
static const struct admin_section rules[] = {WHOLE("rules", admin_put_rules)};

#define FORM(name)                   \
    {                                \
#name, name, ARRAY_LEN(name) \
    }

void admin_write_page(void *admin, void (*done)(void *ctx, struct buf *text), void *ctx)
{
    static const struct admin_form form = FORM(page);
    admin_document_write(admin, &form, done, ctx);
}

static void reply(void *call, struct buf *text)
{
    admin_call_reply(call, buf_slice(text));
}

bool admin_begin_document(struct admin_engine *admin, struct admin_call *call)
{
    static const struct admin_form known[] = {
        FORM(status),  FORM(queue), FORM(writes),     FORM(config), FORM(commands),
        FORM(reloads), FORM(plan),  FORM(quarantine), FORM(rules),
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, admin_call_method(call)) != 0) continue;
        admin_call_expect_soon(call);
        admin_document_write(admin, &known[i], reply, call);
        return true;
    }
    return false;
}

bool admin_engine_reply(void *ctx, const char *method, struct buf *result, struct err *err)
{
    return err_set(err, ERR_INVALID, "this engine (kubelua %s) does not support \"%s\"", KUBELUA_VERSION,
                   method);
}
