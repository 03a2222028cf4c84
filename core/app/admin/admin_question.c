/* Questions with the engine thread; see admin_question.h. */
#include "app/admin/admin_socket_internal.h"

#include <unistd.h>

#include "base/must.h"

const char *admin_question_method(const struct admin_question *question)
{
    return question->request.method;
}

size_t admin_question_params(struct admin_question *question, const struct tape **tape)
{
    struct err err;
    if (!question->parser) question->parser = tape_parser_new();
    *tape = &question->tape;
    return admin_params_parse(question->parser, &question->line, &question->tape, &err);
}

void admin_question_on_gone(struct admin_question *question, void (*gone)(void *ctx), void *ctx)
{
    question->gone = gone;
    question->gone_ctx = ctx;
}

static void end(struct admin_question *question)
{
    must(question->open);
    question->open = false;
    question->gone = NULL;
    question->answered(question);
}

int admin_question_take_connection(struct admin_question *question)
{
    int fd = question->fd;
    must(question->is_session && fd >= 0);
    question->fd = -1;
    end(question);
    return fd;
}

void admin_question_answer(struct admin_question *question, struct str result)
{
    question->good = true;
    buf_str(&question->result, result);
    end(question);
}

void admin_question_refuse(struct admin_question *question, const char *text)
{
    question->good = false;
    err_set(&question->err, ERR_INVALID, "%s", text);
    end(question);
}

void admin_question_tell_gone(struct admin_question *question)
{
    void (*gone)(void *ctx) = question->gone;
    question->gone = NULL;
    if (question->open && gone) gone(question->gone_ctx);
}

void admin_question_clear(struct admin_question *question)
{
    if (question->is_session && question->fd >= 0) close(question->fd);
    buf_clear(&question->line);
    buf_clear(&question->result);
    tape_parser_free(question->parser);
}
