/* Asking rules; see rules.h. */
#include "core/script/support/rules.h"

#include "core/script/support/feed.h"

struct buf said;

struct str without_folder(struct str text)
{
    const char *file = text.n && *text.p == '/' ? memmem(text.p, text.n, "/rules.lua:", 11) : NULL;
    return file ? (struct str){file + 1, text.n - (size_t)(file + 1 - text.p)} : text;
}

static void on_found(void *ctx, const struct rule_finding *finding)
{
    struct str message = without_folder(finding->message);
    buf_printf(&said, "%s%s %.*s", said.len ? "; " : "", verdict_name(finding->verdict), STR_ARG(message));
    if (finding->path.n) buf_printf(&said, " at %.*s", STR_ARG(finding->path));
    if (finding->value.n) buf_printf(&said, " = %.*s", STR_ARG(finding->value));
}

enum verdict ask(struct script *script, size_t rule, struct root *object)
{
    static const struct rule_sink sink = {.found = on_found};
    buf_clear(&said);
    return script_evaluate_rule(script, rule, object, &sink);
}

void assert_rule_says(struct cluster *c, const char *lua, enum verdict verdict, const char *text)
{
    struct script *script = cluster_load(c, "rules", lua);
    struct root *pod = feed_pod(c, "web", 1, 1);
    assert_said(script, 0, pod, verdict, text);
    root_unref(pod);
    script_free(script);
}
