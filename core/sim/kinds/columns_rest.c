/* Cells of jobs, autoscalers, storage, networks, roles and quotas. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/text/texts.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* A list of which no more than `max` are shown. */
struct shown_list {
    struct buf text;
    const char *separator;
    size_t max, shown, count;
};

static void add_shown(struct shown_list *list, const char *text)
{
    list->count++;
    if (list->shown == list->max) return;
    buf_printf(&list->text, "%s%s", list->shown ? list->separator : "", text);
    list->shown++;
}

/* Empties the list. */
static json_t *cell_of(struct shown_list *list, const json_t *column)
{
    if (list->count > list->max) buf_printf(&list->text, " + %zu more...", list->count - list->max);
    json_t *cell = sim_string(list->text.len ? buf_text(&list->text) : sim_text_at(column, "otherwise"));
    buf_clear(&list->text);
    return cell;
}

static bool has_condition(const json_t *object, const char *type, bool of_any_status)
{
    const json_t *condition = sim_find(sim_at(object, "status.conditions"), "type", type);
    return condition && (of_any_status || strcmp(sim_text_at(condition, "status"), "True") == 0);
}

static bool is_deleted(const json_t *object)
{
    return *sim_text_at(object, "metadata.deletionTimestamp") != '\0';
}

/* --- batch, autoscaling */

json_t *sim_cell_job_status(const json_t *job, const json_t *column, int64_t now_s)
{
    static const char *const before[] = {"Complete", "Failed"}, *const after[] = {"Suspended",
                                                                                  "FailureTarget",
                                                                                  "SuccessCriteriaMet"};
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        if (has_condition(job, before[i], false)) return json_string(before[i]);
    if (is_deleted(job)) return json_string("Terminating");
    for (size_t i = 0; i < ARRAY_LEN(after); i++)
        if (has_condition(job, after[i], false)) return json_string(after[i]);
    return json_string("Running");
}

json_t *sim_cell_job_completions(const json_t *job, const json_t *column, int64_t now_s)
{
    long long done = sim_int_at(job, "status.succeeded", 0), wanted = sim_int_at(job, "spec.completions", -1),
              beside = sim_int_at(job, "spec.parallelism", 0);
    if (wanted >= 0) return sim_textf("%lld/%lld", done, wanted);
    return beside > 1 ? sim_textf("%lld/1 of %lld", done, beside) : sim_textf("%lld/1", done);
}

json_t *sim_cell_job_duration(const json_t *job, const json_t *column, int64_t now_s)
{
    char text[SIM_AGE_MAX];
    int64_t from, to = now_s;
    if (!civil_read_utc(str_of(sim_text_at(job, "status.startTime")), &from)) return json_string("");
    civil_read_utc(str_of(sim_text_at(job, "status.completionTime")), &to);
    sim_age_format(to - from, text);
    return json_string(text);
}

/* The first letter of a type is small in the name of its field. */
static json_t *metric_part(const json_t *metric, const char *type)
{
    char *field = xstrdup(type);
    if (*field >= 'A' && *field <= 'Z') *field = (char)(*field - 'A' + 'a');
    json_t *part = json_object_get(metric, field);
    free(field);
    return part;
}

static void add_metric(struct shown_list *list, const json_t *spec, const json_t *status)
{
    const char *type = sim_text_at(spec, "type");
    const json_t *wanted = metric_part(spec, type), *found = metric_part(status, type);
    bool is_resource = strstr(type, "esource") != NULL;
    const char *average = sim_text_at(wanted, "target.averageValue"),
               *current = sim_text_at(found, *average ? "current.averageValue" : "current.value");
    int64_t now = sim_int_at(found, "current.averageUtilization", -1),
            target = sim_int_at(wanted, "target.averageUtilization", -1);
    struct buf text = {0};
    if (is_resource) buf_printf(&text, "%s: ", sim_text_at(wanted, "name"));
    if (is_resource && !*average) {
        buf_printf(&text, now >= 0 ? "%lld%%" : "<unknown>", (long long)now);
        buf_printf(&text, target >= 0 ? "/%lld%%" : "/<auto>", (long long)target);
    } else {
        bool is_average = *average && strcmp(type, "Pods") != 0 && !is_resource;
        buf_printf(&text, "%s/%s%s", *current ? current : "<unknown>",
                   *average ? average : sim_text_at(wanted, "target.value"), is_average ? " (avg)" : "");
    }
    add_shown(list, buf_text(&text));
    buf_clear(&text);
}

json_t *sim_cell_targets(const json_t *scaler, const json_t *column, int64_t now_s)
{
    struct shown_list list = {.separator = ", ", .max = 2};
    const json_t *statuses = sim_at(scaler, "status.currentMetrics");
    json_t *spec;
    size_t i;
    json_array_foreach (sim_at(scaler, "spec.metrics"), i, spec)
        add_metric(&list, spec, json_array_get(statuses, i));
    return list.count ? cell_of(&list, column) : json_string("<none>");
}

/* --- storage */

json_t *sim_cell_phase(const json_t *object, const json_t *column, int64_t now_s)
{
    return sim_string(is_deleted(object) ? "Terminating" : sim_text_at(object, "status.phase"));
}

/* `field` of the column names a text without which nothing is shown: the volume of a claim. */
json_t *sim_cell_access_modes(const json_t *object, const json_t *column, int64_t now_s)
{
    static const struct {
        const char *mode, *text;
    } modes[] = {{"ReadWriteOnce", "RWO"},
                 {"ReadOnlyMany", "ROX"},
                 {"ReadWriteMany", "RWX"},
                 {"ReadWriteOncePod", "RWOP"}};
    struct shown_list list = {.separator = ",", .max = ARRAY_LEN(modes)};
    const json_t *given = sim_at(object, sim_text_at(column, "jsonPath") + 1);
    const char *field = sim_text_at(column, "field");
    bool hidden = *field && !*sim_text_at(object, field);
    for (size_t i = 0; i < ARRAY_LEN(modes) && !hidden; i++)
        if (sim_has_text(given, modes[i].mode)) add_shown(&list, modes[i].text);
    return cell_of(&list, column);
}

json_t *sim_cell_claim_capacity(const json_t *claim, const json_t *column, int64_t now_s)
{
    bool bound = *sim_text_at(claim, "spec.volumeName") != '\0';
    const char *storage = sim_text_at(claim, "status.capacity.storage");
    return sim_string(!bound ? "" : *storage ? storage : "0");
}

/* "standard (default)" */
json_t *sim_cell_class_name(const json_t *object, const json_t *column, int64_t now_s)
{
    const json_t *annotations = sim_at(object, "metadata.annotations");
    const char *given = json_string_value(json_object_get(annotations, sim_text_at(column, "field")));
    return sim_textf("%s%s", sim_text_at(object, "metadata.name"),
                     given && strcmp(given, "true") == 0 ? " (default)" : "");
}

json_t *sim_cell_claim_state(const json_t *claim, const json_t *column, int64_t now_s)
{
    struct shown_list list = {.separator = ",", .max = 3};
    bool allocated = json_is_object(sim_at(claim, "status.allocation"));
    if (is_deleted(claim)) add_shown(&list, "deleted");
    if (allocated) add_shown(&list, "allocated");
    if (!allocated && !is_deleted(claim)) add_shown(&list, "pending");
    if (allocated && json_array_size(sim_at(claim, "status.reservedFor"))) add_shown(&list, "reserved");
    return cell_of(&list, column);
}

/* "requests.cpu: 1/2, pods: 3/10", by name; those that begin with "limits." are the other column's. */
json_t *sim_cell_quota(const json_t *quota, const json_t *column, int64_t now_s)
{
    const json_t *hard = sim_at(quota, "status.hard"), *used = sim_at(quota, "status.used");
    bool limits = strcmp(sim_text_at(column, "field"), "limits") == 0;
    size_t count = json_object_size(hard), n = 0;
    const char **names = xcalloc(count + 1, sizeof *names), *name;
    struct shown_list list = {.separator = ", ", .max = count};
    json_t *value;
    json_object_foreach ((json_t *)hard, name, value)
        if ((strncmp(name, "limits.", 7) == 0) == limits) names[n++] = name;
    qsort(names, n, sizeof *names, sim_compare_texts);
    for (size_t i = 0; i < n; i++) {
        const char *in_use = json_string_value(json_object_get(used, names[i]));
        const char *most = json_string_value(json_object_get(hard, names[i]));
        char *text = xasprintf("%s: %s/%s", names[i], in_use ? in_use : "0", most ? most : "0");
        add_shown(&list, text);
        free(text);
    }
    free(names);
    return cell_of(&list, column);
}

/* --- networks, roles, certificates, policies */

json_t *sim_cell_ingress_ports(const json_t *ingress, const json_t *column, int64_t now_s)
{
    return json_string(json_array_size(sim_at(ingress, "spec.tls")) ? "80, 443" : "80");
}

/* "IngressParameters.example.com/name" */
json_t *sim_cell_ingress_parameters(const json_t *class_, const json_t *column, int64_t now_s)
{
    const json_t *parameters = sim_at(class_, "spec.parameters");
    const char *group = sim_text_at(parameters, "apiGroup");
    if (!json_is_object(parameters)) return sim_string(sim_text_at(column, "otherwise"));
    return sim_textf("%s%s%s/%s", sim_text_at(parameters, "kind"), *group ? "." : "", group,
                     sim_text_at(parameters, "name"));
}

json_t *sim_cell_endpoints(const json_t *endpoints, const json_t *column, int64_t now_s)
{
    struct shown_list list = {.separator = ",", .max = 3};
    json_t *subset, *port, *address;
    size_t i, j, k;
    json_array_foreach (sim_at(endpoints, "subsets"), i, subset) {
        json_t *addresses = json_object_get(subset, "addresses"), *ports = json_object_get(subset, "ports");
        if (!json_array_size(ports))
            json_array_foreach (addresses, k, address) add_shown(&list, sim_text_at(address, "ip"));
        json_array_foreach (ports, j, port)
            json_array_foreach (addresses, k, address) {
                const char *ip = sim_text_at(address, "ip");
                char *text = xasprintf(strchr(ip, ':') ? "[%s]:%lld" : "%s:%lld", ip,
                                       (long long)sim_int_at(port, "port", 0));
                add_shown(&list, text);
                free(text);
            }
    }
    /* Without addresses that are ready: nothing; without any: what the column says. */
    if (!list.count && json_array_size(sim_at(endpoints, "subsets"))) return json_string("");
    return cell_of(&list, column);
}

json_t *sim_cell_slice_ports(const json_t *slice, const json_t *column, int64_t now_s)
{
    struct shown_list list = {.separator = ",", .max = 3};
    json_t *port;
    size_t i;
    json_array_foreach (sim_at(slice, "ports"), i, port) {
        int64_t number = sim_int_at(port, "port", -1);
        const char *name = json_string_value(json_object_get(port, "name"));
        char *text = number >= 0 ? xasprintf("%lld", (long long)number) : xstrdup(name ? name : "*");
        add_shown(&list, text);
        free(text);
    }
    return cell_of(&list, column);
}

json_t *sim_cell_slice_endpoints(const json_t *slice, const json_t *column, int64_t now_s)
{
    struct shown_list list = {.separator = ",", .max = 3};
    json_t *endpoint, *address;
    size_t i, j;
    json_array_foreach (sim_at(slice, "endpoints"), i, endpoint)
        json_array_foreach (json_object_get(endpoint, "addresses"), j, address)
            add_shown(&list, sim_text_at(address, ""));
    return cell_of(&list, column);
}

/* Names of the subjects of the kind `field`; a service account as "namespace/name". */
json_t *sim_cell_subjects(const json_t *binding, const json_t *column, int64_t now_s)
{
    const json_t *subjects = json_object_get(binding, "subjects");
    struct shown_list list = {.separator = ", ", .max = json_array_size(subjects)};
    json_t *subject;
    size_t i;
    json_array_foreach (subjects, i, subject) {
        const char *ns = sim_text_at(subject, "namespace");
        if (strcmp(sim_text_at(subject, "kind"), sim_text_at(column, "field")) != 0) continue;
        char *text = xasprintf("%s%s%s", ns, *ns ? "/" : "", sim_text_at(subject, "name"));
        add_shown(&list, text);
        free(text);
    }
    return cell_of(&list, column);
}

/* "services/default/web" */
json_t *sim_cell_parent(const json_t *address, const json_t *column, int64_t now_s)
{
    const json_t *parent = sim_at(address, "spec.parentRef");
    const char *group = sim_text_at(parent, "group"), *ns = sim_text_at(parent, "namespace");
    if (!json_is_object(parent)) return json_string("<none>");
    return sim_textf("%s%s%s%s%s/%s", sim_text_at(parent, "resource"), *group ? "." : "", group,
                     *ns ? "/" : "", ns, sim_text_at(parent, "name"));
}

/* "daemonset.apps/agent" */
json_t *sim_cell_controller(const json_t *object, const json_t *column, int64_t now_s)
{
    json_t *owner, *cell = NULL;
    size_t i;
    json_array_foreach (sim_at(object, "metadata.ownerReferences"), i, owner) {
        const char *version = sim_text_at(owner, "apiVersion"), *slash = strchr(version, '/');
        if (cell || !sim_true_at(owner, "controller")) continue;
        char *kind = sim_lower(sim_text_at(owner, "kind"));
        cell = sim_textf("%s%s%.*s/%s", kind, slash ? "." : "", slash ? (int)(slash - version) : 0, version,
                         sim_text_at(owner, "name"));
        free(kind);
    }
    return cell ? cell : json_string("<none>");
}

json_t *sim_cell_request_condition(const json_t *request, const json_t *column, int64_t now_s)
{
    const char *decision = has_condition(request, "Denied", true)     ? "Denied"
                           : has_condition(request, "Approved", true) ? "Approved"
                                                                      : "Pending";
    return sim_textf("%s%s%s", decision, has_condition(request, "Failed", true) ? ",Failed" : "",
                     *sim_text_at(request, "status.certificate") ? ",Issued" : "");
}

json_t *sim_cell_requested_duration(const json_t *request, const json_t *column, int64_t now_s)
{
    char text[SIM_AGE_MAX];
    int64_t seconds = sim_int_at(request, "spec.expirationSeconds", -1);
    if (seconds < 0) return sim_string(sim_text_at(column, "otherwise"));
    sim_age_format(seconds, text);
    return json_string(text);
}

/* "namespace/name" of a policy's parameters. */
json_t *sim_cell_policy_parameters(const json_t *binding, const json_t *column, int64_t now_s)
{
    const json_t *reference = sim_at(binding, "spec.paramRef");
    const char *name = sim_text_at(reference, "name"), *ns = sim_text_at(reference, "namespace");
    if (*name) return sim_textf("%s/%s", *ns ? ns : "*", name);
    return sim_string(sim_text_at(column, "otherwise"));
}

/* A number of a limited priority level; "<none>" where the map above it is missing. */
json_t *sim_cell_shares(const json_t *level, const json_t *column, int64_t now_s)
{
    const char *field = sim_text_at(column, "field"), *dot = strrchr(field, '.');
    const json_t *limited = sim_at(level, "spec.limited");
    char *above = dot ? xstrndup(field, (size_t)(dot - field)) : xstrdup("");
    bool there = *above ? json_is_object(sim_at(limited, above)) : json_is_object(limited);
    free(above);
    return there ? json_integer(sim_int_at(limited, field, 0)) : json_string("<none>");
}

/* Status of the condition whose type is `field`, and its reason where it is not true. */
json_t *sim_cell_condition(const json_t *object, const json_t *column, int64_t now_s)
{
    const json_t *condition =
        sim_find(sim_at(object, "status.conditions"), "type", sim_text_at(column, "field"));
    const char *status = sim_text_at(condition, "status"), *reason = sim_text_at(condition, "reason");
    bool explained = sim_true_at(column, "reason") && *reason && strcmp(status, "True") != 0;
    if (!condition) return sim_string(sim_text_at(column, "otherwise"));
    return sim_textf(explained ? "%s (%s)" : "%s", status, reason);
}
