/* Parameters of a script as tables; see script_settings.h. */
#include "app/check/script_settings.h"

#include "tool/tool.h"

static void append_param(lua_State *L, const struct declared_param *param)
{
    lua_newtable(L);
    tool_set_text(L, "rule", param->rule);
    tool_set_text(L, "name", param->name);
    tool_set_text(L, "type", param->type);
    tool_set_text(L, "default", param->fallback);
    tool_set_text(L, "value", param->value);
    tool_set_text(L, "source", param->source);
    tool_set_text(L, "help", param->help);
    tool_set_text(L, "bounds", param->bounds);
    tool_set_text(L, "from", param->from);
    tool_set_bool(L, "is_secret", param->is_secret);
    tool_set_bool(L, "is_required", param->is_required);
    tool_set_bool(L, "lacks", param->lacks);
    tool_append(L);
}

void script_settings_set(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    for (size_t i = 0; i < script_param_count(script); i++) append_param(L, script_param(script, i));
    lua_setfield(L, -2, "params");
}
