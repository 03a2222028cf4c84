/* Calls with the engine thread; see admin_call.h. */
#include "app/admin/admin_socket_internal.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/must.h"
#include "base/text/redact.h"

const char *admin_call_method(const struct admin_call *call)
{
    return call->request.method;
}

size_t admin_call_params(struct admin_call *call, const struct tape **tape)
{
    struct err err;
    if (!call->parser) call->parser = tape_parser_new();
    *tape = &call->tape;
    return admin_params_parse(call->parser, &call->line, &call->tape, &err);
}

void admin_call_on_disconnect(struct admin_call *call, void (*gone)(void *ctx), void *ctx)
{
    call->gone = gone;
    call->gone_ctx = ctx;
}

static void end(struct admin_call *call)
{
    must(call->open);
    call->open = false;
    call->gone = NULL;
    call->done(call);
}

int admin_call_take_connection(struct admin_call *call)
{
    int fd = call->fd;
    must(call->is_session && fd >= 0);
    call->fd = -1;
    end(call);
    return fd;
}

void admin_call_expect_soon(struct admin_call *call)
{
    atomic_store(&call->taken, false);
}

void admin_call_reply(struct admin_call *call, struct str result)
{
    call->good = true;
    buf_str(&call->result, result);
    end(call);
}

void admin_call_fail(struct admin_call *call, const char *text)
{
    struct buf shown = {0};
    call->good = false;
    buf_puts(&shown, text);
    redact(&shown);
    err_set(&call->err, ERR_INVALID, "%s", buf_text(&shown));
    buf_clear(&shown);
    end(call);
}

void admin_call_notify_disconnect(struct admin_call *call)
{
    void (*gone)(void *ctx) = call->gone;
    call->gone = NULL;
    if (call->open && gone) gone(call->gone_ctx);
}

void admin_call_clear(struct admin_call *call)
{
    if (call->is_session && call->fd >= 0) close(call->fd);
    buf_clear(&call->line);
    buf_clear(&call->result);
    tape_parser_free(call->parser);
}
