/* Rules as their authors describe them; see audit_explain.h. */
#include "app/audit/audit_explain.h"

#include <stdio.h>

#include "app/admin/admin_client.h"
#include "app/admin/admin_engine.h"
#include "app/audit/audit_scripts.h"
#include "base/text/json_out.h"
#include "engine/load_host.h"
#include "object/parse/document.h"
#include "tool/tool.h"

/* --- the rules as JSON */

static void put_rules(const struct audit_scripts *scripts, struct buf *json)
{
    json_open(json, NULL, '[');
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++)
            admin_put_rule(scripts->items[s], i, json);
    json_close(json, ']');
}

static bool load_rules(const struct audit_request *request, struct buf *json, struct err *err)
{
    struct audit_scripts scripts = {0};
    struct load_host dry;
    const struct engine_settings settings = audit_scripts_settings(request);
    load_host_open(&dry, &settings);
    bool ok = audit_scripts_load(&scripts, request, &dry.host, err);
    if (ok) put_rules(&scripts, json);
    audit_scripts_close(&scripts);
    load_host_close(&dry);
    return ok;
}

static bool fetch_rules(const struct audit_request *request, struct buf *json, struct err *err)
{
    struct admin_client *client = admin_client_request(request->options.admin_socket, "rules", err);
    if (!client) return false;
    const struct tape *tape = admin_client_tape(client);
    size_t rules = tape_field(tape, admin_client_result(client), STR("rules"));
    if (rules) document_compact(tape, rules, json);
    admin_client_free(client);
    return rules != 0 || err_set(err, ERR_PARSE, "the response has no rules");
}

/* --- printing */

static void push_request(lua_State *L, const struct audit_request *request)
{
    lua_newtable(L);
    tool_set_text(L, "explain", request->explain);
    tool_set_text(L, "output", request->output);
    lua_pushcfunction(L, tool_nearest);
    lua_setfield(L, -2, "nearest");
}

static bool print(const struct audit_request *request, struct str json, struct err *err)
{
    lua_State *L = tool_open();
    bool ok = tool_parse_json(L, json, err);
    if (ok) push_request(L, request);
    ok = ok && tool_call(L, "tool.view.rules", err);
    if (ok) fputs(lua_tostring(L, -1), stdout);
    lua_close(L);
    return ok;
}

bool audit_explain(const struct audit_request *request, struct err *err)
{
    struct buf json = {0};
    bool of_engine = request->engine.enabled && request->files.count == 0;
    bool ok = of_engine ? fetch_rules(request, &json, err) : load_rules(request, &json, err);
    ok = ok && print(request, buf_slice(&json), err);
    buf_clear(&json);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    return ok && (written || err_set(err, ERR_IO, "stdout: %s", "cannot be written"));
}
