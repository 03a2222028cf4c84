/* A request of the admin socket whose answer takes its time: it is with the engine thread until that answers,
 * meanwhile nothing waits for it but its client, however long. Owner: the admin socket; whoever took one owes
 * it exactly one answer. All calls on the engine thread. */
#pragma once
#include "base/err.h"
#include "object/parse/tape.h"

struct admin_question;

/* Of a session (admin_socket.h): takes the connection, a descriptor that does not block. Nobody else reads or
 * writes there any more; the question is gone then, without an answer. */
int admin_question_take_connection(struct admin_question *question);
const char *admin_question_method(const struct admin_question *question);
/* The request's "params" on `*tape`, which lives as long as the question; 0: there are none. */
size_t admin_question_params(struct admin_question *question, const struct tape **tape);
/* `gone` is called when the client has gone, once at most and never after the answer; the answer is owed all
 * the same. From inside `begin` or later. */
void admin_question_on_gone(struct admin_question *question, void (*gone)(void *ctx), void *ctx);
/* `result` is JSON. The question is gone then. */
void admin_question_answer(struct admin_question *question, struct str result);
void admin_question_refuse(struct admin_question *question, const char *text);
