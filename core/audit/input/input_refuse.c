/* What of a file could not be read, told with file and line; see input_reader.h. */
#include "audit/input/input_fault.h"
#include "audit/input/input_reader.h"
#include "object/parse/token_match.h"

void input_refuse(struct input_reader *r, size_t line, struct err *err)
{
    const struct audit_input_sink *sink = r->options->sink;
    if (r->refused++ >= INPUT_TOLD_MAX) return;
    err_wrap(err, "%s: line %zu", r->file, line);
    sink->refused(sink->ctx, err);
}

void input_refuse_rest(struct input_reader *r)
{
    const struct audit_input_sink *sink = r->options->sink;
    struct err err;
    if (r->refused > INPUT_TOLD_MAX) {
        err_set(&err, ERR_LIMIT, "%s: %zu more that could not be read", r->file, r->refused - INPUT_TOLD_MAX);
        sink->refused(sink->ctx, &err);
    }
    r->refused = 0;
}

void input_refuse_text(struct input_reader *r, size_t line, enum err_code code, const char *format, ...)
{
    struct err err;
    va_list args;
    va_start(args, format);
    err_vset(&err, code, format, args);
    va_end(args);
    input_refuse(r, line, &err);
}

void input_refuse_cut(struct input_reader *r, enum input_cut_result result, size_t line)
{
    if (result == CUT_LARGE)
        input_refuse_text(r, line, ERR_LIMIT, "an object of more than %zu bytes (--max-object-size)", r->max);
    else
        input_refuse_text(r, line, ERR_CLOSED, "the text ends inside of what begins here");
}

void input_refuse_damaged(struct input_reader *r, struct str text, size_t line, struct err *err)
{
    size_t fault = input_fault(text);
    size_t below = fault < text.n ? input_count_lines((struct str){text.p, fault}) : 0;
    if (below > 0) {
        struct err cause = *err;
        err_set(err, cause.code, "%s, in what begins at line %zu", cause.text, line);
    }
    input_refuse(r, line + below, err);
}

void input_take_damaged(struct input_reader *r, struct str text, size_t line)
{
    struct tape tape;
    struct err err;
    if (tape_parse(r->parser, text.p, text.n, &tape, &err))
        err_set(&err, ERR_LIMIT, "nested deeper than %d", TOKEN_MATCH_DEPTH);
    input_refuse_damaged(r, text, line, &err);
}
