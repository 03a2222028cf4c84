/* Questions with the engine thread; see admin_question.h. */
#include "app/admin/admin_socket_internal.h"

#include <unistd.h>

#include "base/must.h"

const char *admin_call_method(const struct admin_call *question)
{
    return question->request.method;
}

size_t admin_call_params(struct admin_call *question, const struct tape **tape)
{
    struct err err;
    if (!question->parser) question->parser = tape_parser_new();
    *tape = &question->tape;
    return admin_params_parse(question->parser, &question->line, &question->tape, &err);
}

void admin_call_on_disconnect(struct admin_call *question, void (*gone)(void *ctx), void *ctx)
{
    question->gone = gone;
    question->gone_ctx = ctx;
}

static void end(struct admin_call *question)
{
    must(question->open);
    question->open = false;
    question->gone = NULL;
    question->done(question);
}

int admin_call_take_connection(struct admin_call *question)
{
    int fd = question->fd;
    must(question->is_session && fd >= 0);
    question->fd = -1;
    end(question);
    return fd;
}

void admin_call_reply(struct admin_call *question, struct str result)
{
    question->good = true;
    buf_str(&question->result, result);
    end(question);
}

void admin_call_fail(struct admin_call *question, const char *text)
{
    question->good = false;
    err_set(&question->err, ERR_INVALID, "%s", text);
    end(question);
}

void admin_call_notify_disconnect(struct admin_call *question)
{
    void (*gone)(void *ctx) = question->gone;
    question->gone = NULL;
    if (question->open && gone) gone(question->gone_ctx);
}

void admin_call_clear(struct admin_call *question)
{
    if (question->is_session && question->fd >= 0) close(question->fd);
    buf_clear(&question->line);
    buf_clear(&question->result);
    tape_parser_free(question->parser);
}
