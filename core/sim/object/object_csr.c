/* Conditions of CertificateSigningRequests: who may approve, and that nobody takes it back. */
#include <string.h>

#include "base/mem.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

static bool is_csr(const struct sim_kind *kind)
{
    return !kind->custom && strcmp(kind->kind, "CertificateSigningRequest") == 0;
}

static void forbid(json_t *causes, const char *what, const char *type)
{
    json_t *detail = sim_textf("updates may not %s a condition of type \"%s\"", what, type);
    json_array_append_new(
        causes, sim_cause("FieldValueForbidden", "status.conditions", NULL, json_string_value(detail)));
    json_decref(detail);
}

void sim_csr_check(const struct sim_kind *kind, const json_t *old, const json_t *object,
                   const char *subresource, json_t *causes)
{
    static const char *const types[] = {"Approved", "Denied", "Failed"};
    const json_t *before = sim_at(old, "status.conditions"), *after = sim_at(object, "status.conditions");
    bool approves = subresource && strcmp(subresource, "approval") == 0;
    for (size_t i = 0; is_csr(kind) && i < ARRAY_LEN(types); i++) {
        bool was = sim_find(before, "type", types[i]), is = sim_find(after, "type", types[i]);
        if (was && !is) forbid(causes, "remove", types[i]);
        if (is && !was && !approves && i < 2) forbid(causes, "add", types[i]);
    }
}

void sim_csr_stamp(const struct sim_kind *kind, json_t *object, int64_t now_s)
{
    json_t *condition;
    size_t i;
    json_array_foreach (is_csr(kind) ? sim_at(object, "status.conditions") : NULL, i, condition) {
        sim_default(condition, "lastUpdateTime", sim_time(now_s));
        sim_default(condition, "lastTransitionTime", sim_time(now_s));
    }
}
