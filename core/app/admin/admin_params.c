/* Parameters of scripts and of their rules, for the admin socket; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include "base/text/json_out.h"
#include "script/params/declared.h"

static void put_text(struct buf *out, const char *name, const char *text)
{
    if (text) json_text(out, name, text);
}

static void put_param(const struct declared_param *param, struct buf *out)
{
    json_open(out, NULL, '{');
    put_text(out, "rule", param->rule);
    json_text(out, "name", param->name);
    json_text(out, "type", param->type);
    put_text(out, "value", param->value);
    put_text(out, "default", param->fallback);
    json_text(out, "source", param->source ? param->source : param->fallback ? "default" : "not set");
    put_text(out, "help", param->help);
    json_close(out, '}');
}

void admin_put_params(const struct script *script, const char *rule, struct buf *out)
{
    json_open(out, "params", '[');
    for (size_t i = 0; i < script_param_count(script); i++)
        if (!rule || param_is_of(script_param(script, i), rule)) put_param(script_param(script, i), out);
    json_close(out, ']');
}
