/* A question as the admin socket keeps it; see admin_question.h. Owner: its client. It is the I/O thread's
 * but while it is `open`, when it is the engine thread's. For these files only. */
#pragma once
#include "app/admin/admin_protocol.h"
#include "app/admin/admin_question.h"

struct admin_question {
    struct admin_request request;
    struct buf line; /* the request, with TAPE_PADDING behind it */
    struct tape_parser *parser;
    struct tape tape;
    bool open, good;
    bool is_session;
    int fd; /* of a session, while it is with the engine thread; -1: it was taken. Others have none */
    struct buf result;
    struct err err;
    void (*answered)(struct admin_question *question);
    void (*gone)(void *ctx);
    void *gone_ctx;
};

/* On the engine thread. */
void admin_question_tell_gone(struct admin_question *question);
void admin_question_clear(struct admin_question *question);
