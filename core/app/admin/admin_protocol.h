/* Protocol of the admin socket: a line of JSON each way, {"v":1,"method":"status"} and {"v":1,"result":...}
 * or {"v":1,"error":"..."}. Owner: everything is borrowed, except what is appended. Any thread; a parser
 * belongs to one. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "object/parse/tape.h"

enum { ADMIN_VERSION = 1, ADMIN_REQUEST_MAX = 64 << 10, ADMIN_METHOD_MAX = 32 };

struct admin_request {
    char method[ADMIN_METHOD_MAX];
};

/* `line` is one line without its end; it needs no padding. ERR_PARSE, or ERR_INVALID for another version. */
bool admin_request_parse(struct tape_parser *parser, struct str line, struct admin_request *request,
                         struct err *err);
/* The "params" of a request that was parsed, which has TAPE_PADDING bytes behind it; 0: there are none. */
size_t admin_params_parse(struct tape_parser *parser, const struct buf *line, struct tape *tape,
                          struct err *err);
/* `params` is JSON; NULL for none. */
void admin_request_write(const char *method, const char *params, struct buf *out);
/* `result` is JSON. */
void admin_result_write(struct str result, struct buf *out);
void admin_error_write(const char *text, struct buf *out);
/* Returns the place of the result on the tape; 0 and sets err to the error of the engine, or ERR_PARSE.
 * `text` has TAPE_PADDING bytes behind it. */
size_t admin_reply_parse(struct tape_parser *parser, struct str text, struct tape *tape, struct err *err);
