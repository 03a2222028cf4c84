/* Rules for the names of a script's metrics; see user_metric.h. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/series/user_metric_internal.h"

/* Prefixes that the engine, client-go and Prometheus's client libraries use. */
static const char *const taken[] = {"kubelua_",    "rest_client_",     "workqueue_", "reflector_",
                                    "informer_",   "leader_election_", "process_",   "promhttp_",
                                    "kubernetes_", "scrape_",          "go_"};

static bool is_name(const char *name, bool with_colons)
{
    if (!*name || (*name >= '0' && *name <= '9')) return false;
    for (; *name; name++) {
        char lower = (char)(*name | 0x20);
        bool good = (lower >= 'a' && lower <= 'z') || (*name >= '0' && *name <= '9') || *name == '_' ||
                    (with_colons && *name == ':');
        if (!good) return false;
    }
    return true;
}

static bool check_name(const char *name, struct err *err)
{
    if (strlen(name) > USER_METRIC_NAME_MAX || !is_name(name, true))
        return err_set(err, ERR_INVALID,
                       "\"%.60s\" is not a valid metric name: letters, digits, _ and :, not starting with a "
                       "digit, at most %d characters",
                       name, USER_METRIC_NAME_MAX);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (strncmp(name, taken[i], strlen(taken[i])) == 0)
            return err_set(err, ERR_INVALID, "\"%s\": names starting with %s are reserved", name, taken[i]);
    return true;
}

static bool check_labels(const struct user_metric_options *o, struct err *err)
{
    if (o->label_count > USER_METRIC_LABELS_MAX)
        return err_set(err, ERR_INVALID, "%s has more than %d labels", o->name, USER_METRIC_LABELS_MAX);
    for (size_t i = 0; i < o->label_count; i++) {
        const char *label = o->labels[i];
        if (strlen(label) > USER_METRIC_NAME_MAX || !is_name(label, false) || strncmp(label, "__", 2) == 0)
            return err_set(
                err, ERR_INVALID,
                "%s: \"%.60s\" is not a valid label name: letters, digits and _, not starting with a digit "
                "or with __",
                o->name, label);
        if (strcmp(label, "script") == 0 || (o->kind == FAMILY_HISTOGRAM && strcmp(label, "le") == 0))
            return err_set(err, ERR_INVALID, "%s: label \"%s\" is reserved", o->name, label);
        for (size_t j = 0; j < i; j++)
            if (strcmp(label, o->labels[j]) == 0)
                return err_set(err, ERR_INVALID, "%s has the label \"%s\" twice", o->name, label);
    }
    return true;
}

static bool check_bounds(const struct user_metric_options *o, struct err *err)
{
    if (!o->bounds) return true;
    if (o->bound_count == 0 || o->bound_count > USER_METRIC_BUCKETS_MAX)
        return err_set(err, ERR_INVALID, "%s: buckets must be 1 to %d numbers", o->name,
                       USER_METRIC_BUCKETS_MAX);
    for (size_t i = 0; i < o->bound_count; i++)
        if (!isfinite(o->bounds[i]) || (i && o->bounds[i] <= o->bounds[i - 1]))
            return err_set(err, ERR_INVALID, "%s: buckets must increase and must not include +Inf", o->name);
    return true;
}

static bool check_help(const struct user_metric_options *o, struct err *err)
{
    if (strlen(o->help) <= USER_METRIC_HELP_MAX) return true;
    return err_set(err, ERR_INVALID, "%s: the help has more than %d bytes", o->name, USER_METRIC_HELP_MAX);
}

/* --- against those on the page */

/* Returns whether a sample of `name`, of that kind, would be called `other`. */
static bool has_series(const char *name, enum family_kind kind, const char *other)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    size_t n = strlen(name);
    if (kind != FAMILY_HISTOGRAM || strncmp(other, name, n) != 0) return false;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(other + n, suffixes[i]) == 0) return true;
    return false;
}

bool user_metric_names_clash(const char *a, enum family_kind kind_a, const char *b, enum family_kind kind_b)
{
    return strcmp(a, b) == 0 || has_series(a, kind_a, b) || has_series(b, kind_b, a);
}

bool user_metric_clashes(const struct user_metric *a, const struct user_metric *b)
{
    return user_metric_names_clash(a->name, a->family.kind, b->name, b->family.kind);
}

bool user_metric_refuse(const char *wanted, const char *shown, const char *script, struct err *err)
{
    if (strcmp(shown, wanted) == 0)
        return err_set(err, ERR_INVALID,
                       "%s: the script %s has it with another type, help, labels or buckets", wanted, script);
    return err_set(err, ERR_INVALID, "%s conflicts with the samples of %s of script %s", wanted, shown,
                   script);
}

struct clash {
    const struct user_metric *wanted;
    struct err *err;
    bool ok;
};

static void compare(void *ctx, const struct user_metric *shown)
{
    struct clash *q = ctx;
    const struct user_metric *wanted = q->wanted;
    if (!q->ok || !user_metric_clashes(shown, wanted) || user_metric_equal(shown, wanted)) return;
    if (strcmp(shown->script, wanted->script) == 0) return; /* an earlier generation, which will be gone */
    q->ok = user_metric_refuse(wanted->name, shown->name, shown->script, q->err);
}

bool user_metric_check_published(const struct user_metric *metric, struct err *err)
{
    struct clash q = {.wanted = metric, .err = err, .ok = true};
    user_metrics_each(metric->page, compare, &q);
    return q.ok;
}

bool user_metric_check(const struct user_metric_options *o, struct err *err)
{
    return check_name(o->name, err) && check_help(o, err) && check_labels(o, err) && check_bounds(o, err);
}
