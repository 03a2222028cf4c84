/* Errors as tables; see push_err.h. */
#include "script/vm/push_err.h"

#include "script/vm/args.h"

const char *err_reason(const struct err *err)
{
    static const char *const names[] = {
        [ERR_NONE] = "Unknown",         [ERR_INVALID] = "Invalid",      [ERR_NOT_FOUND] = "NotFound",
        [ERR_IO] = "InternalError",     [ERR_CONNECT] = "NotConnected", [ERR_CLOSED] = "ConnectionClosed",
        [ERR_TLS] = "BadCertificate",   [ERR_TIMEOUT] = "Timeout",      [ERR_HTTP] = "Unknown",
        [ERR_PARSE] = "BadAnswer",      [ERR_LIMIT] = "LimitExceeded",  [ERR_CANCELLED] = "Cancelled",
        [ERR_SCRIPT] = "InternalError",
    };
    return *err->reason ? err->reason : names[err->code];
}

int push_err(lua_State *L, const struct err *err)
{
    int code = err->http_status ? err->http_status : err->code == ERR_NOT_FOUND ? 404 : 0;
    push_error(L, code, err_reason(err), str_of(err->text));
    if (err->retry_after_ms < 0) return 2;
    lua_pushnumber(L, (lua_Number)err->retry_after_ms / 1e3);
    lua_setfield(L, -2, "retry_after");
    return 2;
}

static void set_text(lua_State *L, const char *key, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

void push_err_status(lua_State *L, const struct err *err)
{
    lua_createtable(L, 0, 8);
    set_text(L, "kind", "Status");
    set_text(L, "apiVersion", "v1");
    set_text(L, "status", "Failure");
    set_text(L, "reason", err_reason(err));
    set_text(L, "message", err->text);
    lua_newtable(L);
    lua_setfield(L, -2, "metadata");
    if (err->http_status) {
        lua_pushinteger(L, err->http_status);
        lua_setfield(L, -2, "code");
    }
    if (err->retry_after_ms < 0) return;
    lua_newtable(L);
    lua_pushnumber(L, (lua_Number)err->retry_after_ms / 1e3);
    lua_setfield(L, -2, "retryAfterSeconds");
    lua_setfield(L, -2, "details");
}
