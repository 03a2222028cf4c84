/* Changes of a spec to the cluster of its script; see spec_cluster.h. */
#include "app/specs/spec_cluster.h"

#include <string.h>

int spec_cluster_request(struct spec_engine *engine, const char *method, const char *target,
                         const char *content_type, struct str body, struct buf *out)
{
    const struct sim_inside_request r = {
        .method = method, .target = target, .content_type = content_type, .body = body};
    struct sim_inside_response answer = {0};
    sim_inside_serve(spec_cluster_inside(engine->cluster), &r, &answer);
    int code = answer.code;
    buf_str(out, buf_slice(&answer.body));
    sim_inside_response_clear(&answer);
    return code;
}

bool spec_cluster_put(struct spec_engine *engine, struct str json, struct err *err)
{
    bool ok = sim_inside_put(spec_cluster_inside(engine->cluster), json, err);
    if (memmem(json.p, json.n, "CustomResourceDefinition", 24)) engine_refresh_kinds(engine->engine);
    return ok;
}

bool spec_cluster_add_kind(struct spec_engine *engine, const struct resource *r, struct err *err)
{
    sim_inside_add_kind(spec_cluster_inside(engine->cluster), r->group, r->version, r->plural, r->kind,
                        r->namespaced);
    engine_refresh_kinds(engine->engine);
    return spec_engine_ops.settle(engine, err);
}

bool spec_cluster_remove(struct spec_engine *engine, const char *path)
{
    return sim_inside_remove(spec_cluster_inside(engine->cluster), path);
}

bool spec_cluster_add_rule(struct spec_engine *engine, const struct spec_fault_options *rule, struct err *err)
{
    struct resource resource = {0};
    struct buf name = {0};
    if (rule->kind && !kinds_resolve(engine->engine->cluster->kinds, str_of(rule->kind), &resource, err))
        return false;
    if (rule->kind) resource_name(&resource, &name);
    spec_cluster_add_fault(engine->cluster,
                           &(struct spec_fault){.id = rule->id,
                                                .verb = rule->verb,
                                                .resource = rule->kind ? buf_text(&name) : NULL,
                                                .namespace_ = rule->namespace_,
                                                .name = rule->name,
                                                .subresource = rule->subresource,
                                                .code = rule->code,
                                                .reason = rule->reason,
                                                .message = rule->message,
                                                .retry_after_s = rule->retry_after_s,
                                                .delay_ms = rule->delay_ms,
                                                .skip = rule->skip,
                                                .times = rule->times});
    buf_clear(&name);
    resource_clear(&resource);
    return true;
}

bool spec_cluster_rule_is_unmet(struct spec_engine *engine, int id)
{
    return spec_cluster_has_unmet(engine->cluster, id);
}

void spec_cluster_add_answer(struct spec_engine *engine, const struct spec_response *a)
{
    struct http_header headers[TEST_ANSWER_HEADERS_MAX + 1] = {{NULL, NULL}};
    for (size_t i = 0; i < a->header_count && i < TEST_ANSWER_HEADERS_MAX; i++)
        headers[i] = (struct http_header){a->headers[2 * i], a->headers[2 * i + 1]};
    spec_web_add(engine->servers, &(struct spec_web_response){.method = a->method,
                                                              .url = a->url,
                                                              .status = a->status,
                                                              .headers = headers,
                                                              .body = a->body,
                                                              .delay_ms = a->delay_ms,
                                                              .times = a->times});
}

void spec_cluster_clear_rules(struct spec_engine *engine)
{
    spec_cluster_clear_faults(engine->cluster);
}

bool spec_cluster_end_watches(struct spec_engine *engine, const char *kind, bool expire, struct err *err)
{
    return sim_inside_end_watches(spec_cluster_inside(engine->cluster), kind, expire, err);
}

bool spec_cluster_resolve(struct spec_engine *engine, const char *kind, struct resource *out, struct err *err)
{
    return kinds_resolve(engine->engine->cluster->kinds, str_of(kind), out, err);
}
