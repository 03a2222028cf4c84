/* raw.metric: metrics of scripts. */
#include <math.h>
#include <string.h>

#include "base/text/nearest.h"
#include "script/inventory/metrics.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { LEVEL_SLOTS = 4 };

struct metric_box {
    struct script_metric *metric;
};

/* --- creation */

static const char *text_arg(lua_State *L, int idx, const char *what)
{
    return arg_str(L, idx, what).p;
}

/* Fills in the strings of the array at `idx`; they stay on the stack. */
static size_t label_names(lua_State *L, int idx, const char **names)
{
    size_t count = lua_isnil(L, idx) ? 0 : lua_objlen(L, idx);
    if (count > USER_METRIC_LABELS_MAX)
        script_raise(L, "k8s.metric: a metric has at most %d labels", USER_METRIC_LABELS_MAX);
    luaL_checkstack(L, USER_METRIC_LABELS_MAX + LEVEL_SLOTS, "k8s.metric");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, idx, (int)i + 1);
        names[i] = text_arg(L, -1, "k8s.metric: each label");
    }
    return count;
}

static size_t bounds_arg(lua_State *L, int idx, double *bounds)
{
    size_t count = lua_objlen(L, idx);
    if (count > USER_METRIC_BUCKETS_MAX) return count;
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, idx, (int)i + 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            script_raise(L, "k8s.metric.histogram: buckets must be numbers, not %s", arg_type_name(L, -1));
        bounds[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return count;
}

static enum family_kind kind_arg(lua_State *L, int idx)
{
    const char *kind = arg_str(L, idx, "k8s.metric: type").p;
    return strcmp(kind, "counter") == 0 ? FAMILY_COUNTER
           : strcmp(kind, "gauge") == 0 ? FAMILY_GAUGE
                                        : FAMILY_HISTOGRAM;
}

/* Checks the metric against those of the script, and of other scripts. */
static bool fits(const struct script *script, const struct user_metric *metric, struct err *err)
{
    for (size_t i = 0; i < script->own.metrics->count; i++) {
        const struct user_metric *other = script->own.metrics->items[i]->metric;
        if (strcmp(user_metric_name(other), user_metric_name(metric)) == 0)
            return err_set(err, ERR_INVALID, "%s already exists", user_metric_name(metric));
        if (user_metric_clashes(other, metric))
            return err_set(err, ERR_INVALID, "%s conflicts with the samples of %s", user_metric_name(metric),
                           user_metric_name(other));
    }
    return user_metric_check_published(metric, err);
}

/* Creates a metric of the script. */
static struct script_metric *make(lua_State *L, const struct user_metric_options *o)
{
    struct script *script = script_of(L);
    struct err err;
    if (script->own.metrics->count == SCRIPT_METRICS_MAX)
        script_raise(L, "k8s.metric: a script has at most %d metrics", SCRIPT_METRICS_MAX);
    if (!user_metric_check(o, &err)) script_raise(L, "k8s.metric: %s", err.text);
    struct user_metric *metric = user_metric_new(o);
    if (fits(script, metric, &err) && metrics_have_room(script, metric, user_metric_bytes(metric), &err)) {
        struct script_metric *made = metrics_add(script, metric);
        metrics_note_memory(script);
        return made;
    }
    user_metric_unref(metric);
    script_raise(L, "k8s.metric: %s", err.text);
}

/* new(type, name, help, labels, buckets): labels and buckets are tables or nil. */
static int l_metric_new(lua_State *L)
{
    static const enum script_class classes[] = {
        [FAMILY_COUNTER] = CLASS_COUNTER, [FAMILY_GAUGE] = CLASS_GAUGE, [FAMILY_HISTOGRAM] = CLASS_HISTOGRAM};
    const char *labels[USER_METRIC_LABELS_MAX];
    double bounds[USER_METRIC_BUCKETS_MAX];
    arg_loading(L, "k8s.metric");
    lua_settop(L, 5);
    struct user_metric_options o = {
        .page = script_of(L)->host->hooks.metrics_page,
        .script = script_of(L)->id.name,
        .kind = kind_arg(L, 1),
        .name = text_arg(L, 2, "k8s.metric: the name"),
        .help = text_arg(L, 3, "k8s.metric: the help"),
        .labels = labels,
    };
    o.label_count = label_names(L, 4, labels);
    if (lua_istable(L, 5)) {
        o.bound_count = bounds_arg(L, 5, bounds);
        o.bounds = bounds;
    }
    struct metric_box *box = lua_newuserdata(L, sizeof *box);
    box->metric = make(L, &o);
    class_set(L, script_of(L), classes[o.kind]);
    return 1;
}

/* --- its series */

static __attribute__((noreturn)) void refuse_label(lua_State *L, const struct user_metric *metric, int key)
{
    const char *name = user_metric_name(metric);
    if (lua_type(L, key) != LUA_TSTRING)
        script_raise(L, "%s: labels must have names as keys, not a %s", name, arg_type_name(L, key));
    char what[USER_METRIC_VALUE_MAX];
    snprintf(what, sizeof what, "%s: the name of a label", name);
    const char *given = arg_str(L, key, what).p;
    struct nearest nearest = nearest_to(str_of(given));
    for (size_t i = 0; i < user_metric_label_count(metric); i++)
        nearest_try(&nearest, user_metric_label(metric, i));
    struct buf *known = script_scratch(script_of(L));
    for (size_t i = 0; i < user_metric_label_count(metric); i++)
        buf_printf(known, "%s%s", i ? ", " : "", user_metric_label(metric, i));
    if (nearest.name)
        script_raise(L, "%s has no label \"%.60s\", did you mean \"%s\"?", name, given, nearest.name);
    script_raise(L, "%s has no label \"%.60s\" (labels: %s)", name, given,
                 known->len ? buf_text(known) : "none");
}

static size_t label_of(lua_State *L, const struct user_metric *metric, int key)
{
    struct str name = {0};
    if (lua_type(L, key) == LUA_TSTRING) name = arg_bytes(L, key, "the name of a label");
    for (size_t i = 0; name.p && i < user_metric_label_count(metric); i++)
        if (str_is(name, user_metric_label(metric, i))) return i;
    refuse_label(L, metric, key);
}

/* Replaces the value on top of the stack by its text, and returns that. */
static struct str label_value(lua_State *L, const struct user_metric *metric, const char *label)
{
    if (lua_type(L, -1) == LUA_TBOOLEAN) {
        lua_pushstring(L, lua_toboolean(L, -1) ? "true" : "false");
        lua_replace(L, -2);
    }
    if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
        script_raise(L, "%s: the label %s must be a string, a number or a boolean, not %s",
                     user_metric_name(metric), label, arg_type_name(L, -1));
    struct str value;
    value.p = lua_tolstring(L, -1, &value.n);
    if (value.n > USER_METRIC_VALUE_MAX)
        script_raise(L, "%s: the label %s has more than %d bytes", user_metric_name(metric), label,
                     USER_METRIC_VALUE_MAX);
    return value;
}

/* Fills in the values in the order of the labels, "" for missing ones; they stay on the stack. */
static void read_labels(lua_State *L, const struct user_metric *metric, int idx, struct str *values)
{
    for (size_t i = 0; i < user_metric_label_count(metric); i++) values[i] = STR("");
    if (lua_isnoneornil(L, idx)) return;
    if (!lua_istable(L, idx))
        script_raise(L, "%s: labels must be a table, not %s", user_metric_name(metric),
                     arg_type_name(L, idx));
    luaL_checkstack(L, USER_METRIC_LABELS_MAX + LEVEL_SLOTS, "k8s.metric");
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        size_t i = label_of(L, metric, lua_gettop(L) - 1);
        values[i] = label_value(L, metric, user_metric_label(metric, i));
        lua_insert(L, -2); /* below the key */
    }
}

static struct user_metric *self_arg(lua_State *L, enum script_class class_, const char *method)
{
    struct metric_box *box = class_self(L, class_, method);
    return box->metric->metric;
}

static struct series *series_arg(lua_State *L, struct user_metric *metric, int idx)
{
    struct str values[USER_METRIC_LABELS_MAX];
    read_labels(L, metric, idx, values);
    struct script *script = script_of(L);
    struct err err;
    struct series *series = user_metric_series(metric, values, false);
    if (series) return series;
    arg_room(L, user_metric_name(metric), LIMIT_SERIES, metrics_series_count(script));
    if (!metrics_have_room(script, metric, user_metric_series_bytes(metric, values), &err))
        script_raise(L, "%s", err.text);
    series = user_metric_series(metric, values, true);
    metrics_note_memory(script);
    return series;
}

static double number_arg(lua_State *L, const struct user_metric *metric, int idx, bool may_be_absent)
{
    if (may_be_absent && lua_isnoneornil(L, idx)) return 1;
    if (lua_type(L, idx) != LUA_TNUMBER)
        script_raise(L, "%s: expected a number, not %s", user_metric_name(metric), arg_type_name(L, idx));
    return lua_tonumber(L, idx);
}

static int l_counter_inc(lua_State *L)
{
    struct user_metric *metric = self_arg(L, CLASS_COUNTER, "inc");
    double n = number_arg(L, metric, 2, true);
    if (!(n >= 0) || isinf(n))
        script_raise(L, "%s: a counter cannot decrease: %g", user_metric_name(metric), n);
    series_add(series_arg(L, metric, 3), n);
    return 0;
}

static int add_to_gauge(lua_State *L, const char *method, double sign)
{
    struct user_metric *metric = self_arg(L, CLASS_GAUGE, method);
    double n = number_arg(L, metric, 2, true);
    series_add(series_arg(L, metric, 3), sign * n);
    return 0;
}

static int l_gauge_inc(lua_State *L)
{
    return add_to_gauge(L, "inc", 1);
}

static int l_gauge_dec(lua_State *L)
{
    return add_to_gauge(L, "dec", -1);
}

static int l_gauge_set(lua_State *L)
{
    struct user_metric *metric = self_arg(L, CLASS_GAUGE, "set");
    double n = number_arg(L, metric, 2, false);
    series_set(series_arg(L, metric, 3), n);
    return 0;
}

static int l_histogram_observe(lua_State *L)
{
    struct user_metric *metric = self_arg(L, CLASS_HISTOGRAM, "observe");
    double n = number_arg(L, metric, 2, false);
    if (isnan(n)) script_raise(L, "%s: nan cannot be observed", user_metric_name(metric));
    series_observe(series_arg(L, metric, 3), n);
    return 0;
}

static int remove_series(lua_State *L, enum script_class class_)
{
    struct user_metric *metric = self_arg(L, class_, "remove");
    struct str values[USER_METRIC_LABELS_MAX];
    read_labels(L, metric, 2, values);
    bool removed = user_metric_remove(metric, values);
    if (removed) metrics_note_memory(script_of(L));
    lua_pushboolean(L, removed);
    return 1;
}

static int l_counter_remove(lua_State *L)
{
    return remove_series(L, CLASS_COUNTER);
}

static int l_gauge_remove(lua_State *L)
{
    return remove_series(L, CLASS_GAUGE);
}

static int l_histogram_remove(lua_State *L)
{
    return remove_series(L, CLASS_HISTOGRAM);
}

static const luaL_Reg counter_methods[] = {
    {"inc", l_counter_inc}, {"remove", l_counter_remove}, {NULL, NULL}};
static const luaL_Reg gauge_methods[] = {{"set", l_gauge_set},
                                         {"inc", l_gauge_inc},
                                         {"dec", l_gauge_dec},
                                         {"remove", l_gauge_remove},
                                         {NULL, NULL}};
static const luaL_Reg histogram_methods[] = {
    {"observe", l_histogram_observe}, {"remove", l_histogram_remove}, {NULL, NULL}};

static void bind_metric(lua_State *L)
{
    static const luaL_Reg meta[] = {{NULL, NULL}};
    class_define(L, CLASS_COUNTER, "counter", meta, counter_methods);
    class_define(L, CLASS_GAUGE, "gauge", meta, gauge_methods);
    class_define(L, CLASS_HISTOGRAM, "histogram", meta, histogram_methods);
    lua_pop(L, 3);
    lua_newtable(L);
    lua_pushcfunction(L, l_metric_new);
    lua_setfield(L, -2, "new");
    lua_setfield(L, -2, "metric");
}

const struct feature feature_metric = {.parts = {"metric"},
                                       .bind = bind_metric,
                                       .classes = CLASS_BIT(CLASS_COUNTER) | CLASS_BIT(CLASS_GAUGE) |
                                                  CLASS_BIT(CLASS_HISTOGRAM),
                                       FEATURE_OWNS(metrics),
                                       .close = metrics_clear};
