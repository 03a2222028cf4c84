/* Lines of the admin socket; see admin_protocol.h. */
#include "app/admin/admin_protocol.h"

#include <string.h>

static bool check_version(const struct tape *tape, struct err *err)
{
    size_t root = tape_root(tape);
    if (tape_type(tape, root) != '{') return err_set(err, ERR_PARSE, "not a JSON object");
    int64_t version = tape_int(tape, tape_field(tape, root, STR("v")), 0);
    if (version == ADMIN_VERSION) return true;
    return err_set(err, ERR_INVALID,
                   "version %lld of the admin protocol; this is kubelua %s, which speaks %d",
                   (long long)version, KUBELUA_VERSION, ADMIN_VERSION);
}

bool admin_request_parse(struct tape_parser *parser, struct str line, struct admin_request *request,
                         struct err *err)
{
    struct buf padded = {0};
    struct tape tape;
    buf_str(&padded, line);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    bool ok = tape_parse(parser, padded.data, padded.len, &tape, err) && check_version(&tape, err);
    if (ok && tape_has_nul(&tape, tape_root(&tape)))
        ok = err_set(err, ERR_PARSE, "the texts of a request must not contain a NUL byte");
    if (ok) {
        struct str method = tape_str(&tape, tape_field(&tape, tape_root(&tape), STR("method")));
        ok = method.n > 0 && method.n < sizeof request->method;
        if (ok) {
            memcpy(request->method, method.p, method.n);
            request->method[method.n] = '\0';
        } else {
            err_set(err, ERR_PARSE, "the request has no method");
        }
    }
    buf_clear(&padded);
    return ok;
}

size_t admin_params_parse(struct tape_parser *parser, const struct buf *line, struct tape *tape,
                          struct err *err)
{
    if (!tape_parse(parser, line->data, line->len, tape, err)) return 0;
    return tape_field(tape, tape_root(tape), STR("params"));
}

void admin_request_write(const char *method, const char *params, struct buf *out)
{
    buf_printf(out, "{\"v\":%d,\"method\":", ADMIN_VERSION);
    buf_json_string(out, str_of(method));
    if (params) buf_printf(out, ",\"params\":%s", params);
    buf_puts(out, "}\n");
}

void admin_result_write(struct str result, struct buf *out)
{
    buf_printf(out, "{\"v\":%d,\"result\":", ADMIN_VERSION);
    buf_str(out, result);
    buf_puts(out, "}\n");
}

void admin_error_write(const char *text, struct buf *out)
{
    buf_printf(out, "{\"v\":%d,\"error\":", ADMIN_VERSION);
    buf_json_string(out, str_of(text));
    buf_puts(out, "}\n");
}

size_t admin_reply_parse(struct tape_parser *parser, struct str text, struct tape *tape, struct err *err)
{
    if (!tape_parse(parser, text.p, text.n, tape, err) || !check_version(tape, err)) return 0;
    struct str error = tape_str(tape, tape_field(tape, tape_root(tape), STR("error")));
    size_t result = tape_field(tape, tape_root(tape), STR("result"));
    if (error.n)
        err_set(err, ERR_INVALID, "%.*s", STR_ARG(error));
    else if (!result)
        err_set(err, ERR_PARSE, "the response has no result");
    return error.n ? 0 : result;
}
