/* core/script/handlers/handler.c, bind_informer.c, bind_registration.c: what a script's handlers are told,
 * and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/series/series.h"
#include "core/script/support/cluster.h"

/* Writes down what it is told: "add shop/a+" for an initial one. */
static const char watcher[] =
    "k8s = require 'k8s'\n"
    "said = {}\n"
    "local function say(...) said[#said + 1] = table.concat({...}, ' ') end\n"
    "function take() local text = table.concat(said, '; ') said = {} return text end\n"
    "pods = k8s.informer 'pods'\n"
    "lister = pods:lister()\n"
    "registration = pods:add_event_handler {\n"
    "  OnAdd = function(o, ev) say('add', o:key() .. (ev.initial and '+' or '')) end,\n"
    "  OnUpdate = function(old, new, ev) say('update', new:key(), old:label 'x' or '-', new:label 'x' or "
    "'-') end,\n"
    "  OnDelete = function(o, ev) say('delete', o:key() .. (ev.final_state_unknown and '?' or '')) end,\n"
    "}\n";

static void test_handlers_are_notified_of_adds_updates_and_deletes(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "watcher", watcher);
    assert_int_equal(script_claim_count(script), 1);
    assert_false(script_has_synced(script));
    assert_ask(c, script, "return registration:has_synced()", "false");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b x=1");
    assert_true(script_has_synced(script));
    assert_ask(c, script, "return registration:has_synced()", "true");
    assert_ask(c, script, "return take()", "add shop/a+; add shop/b+");
    cluster_event(c, 0, LW_ADDED, "shop/c");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=2");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    assert_ask(c, script, "return take()", "add shop/c; update shop/b 1 2; delete shop/a");
    cluster_list(c, 0, "shop/b x=3");
    assert_ask(c, script, "return take()", "delete shop/c?; update shop/b 2 3");
    struct script_counters counters = script_counters(script);
    assert_int_equal(counters.adds, 3);
    assert_int_equal(counters.updates, 2);
    assert_int_equal(counters.deletes, 2);
    assert_int_equal(counters.errors, 0);
    script_free(script);
}

static void test_an_event_table_is_fresh_and_reports_when_and_which_version(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "events",
                     "local k8s = require 'k8s' kept = {}\n"
                     "k8s.informer('pods'):on_add(function(o, ev) kept[#kept + 1] = ev end)");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_ask(c, script, "return #kept .. tostring(kept[1] ~= kept[2])", "2true");
    assert_ask(c, script, "return tostring(kept[1].initial) .. tostring(kept[2].initial)", "truefalse");
    assert_ask(c, script, "return kept[1].resource_version .. ' ' .. kept[2].resource_version", "1 3");
    assert_ask(c, script, "return kept[2].time", "1700000000.5");
    assert_ask(
        c, script,
        "local names = {} for name in pairs(kept[2]) do names[#names + 1] = name end table.sort(names) "
        "return table.concat(names, ' ')",
        "coalesced filtered final_state_unknown initial resource_version resync time warm");
    script_free(script);
}

static void test_functions_that_do_not_use_the_event_are_called_too(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "arguments",
                     "local k8s = require 'k8s' local pods = k8s.informer 'pods' seen = ''\n"
                     "pods:on_add(function() seen = seen .. 'none ' end)\n"
                     "pods:on_add(function(o) seen = seen .. o:name() .. ' ' end)\n"
                     "pods:on_add(function(...) seen = seen .. select('#', ...) .. ' ' end)\n"
                     "pods:on_update(function(a, b, ev) seen = seen .. type(ev) .. ' ' end)\n"
                     "pods:on_update(function(a, b) seen = seen .. type(b) .. ' ' end)\n"
                     "pods:on_update(function(a) seen = seen .. type(a) .. ' ' end)\n"
                     "pods:on_update(function(a, ...) seen = seen .. select('#', ...) .. ' ' end)\n"
                     "pods:on_update(function() seen = seen .. 'none ' end)\n"
                     "pods:on_delete(function() seen = seen .. 'none ' end)\n"
                     "pods:on_delete(function(o) seen = seen .. o:name() .. ' ' end)\n"
                     "pods:on_delete(function(o, ...) seen = seen .. select('#', ...) .. ' ' end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_event(c, 0, LW_MODIFIED, "shop/a");
    assert_ask(c, script, "return seen", "none a 2 table userdata userdata 2 none ");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    assert_ask(c, script, "return seen:sub(-9)", "none a 1 ");
    script_free(script);
}

/* Sends stderr to a file; gives the descriptor that was. */
static int redirect(const char *path)
{
    fflush(stderr);
    int before = dup(STDERR_FILENO), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    return before;
}

static char *restore(int before, const char *path, char *text, size_t size)
{
    dup2(before, STDERR_FILENO);
    close(before);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* I-11 */
static void test_a_handler_that_raises_is_logged_and_counted_and_the_others_go_on(void **state)
{
    struct cluster *c = *state;
    char log[160], text[8192];
    snprintf(log, sizeof log, "%s/log", c->folder);
    struct script *script =
        cluster_load(c, "raising",
                     "local k8s = require 'k8s' local pods = k8s.informer 'pods' seen = 0\n"
                     "local function fail(o)\n"
                     "  return o.spec.nodeName .. '!'\n"
                     "end\n"
                     "pods:on_add(function(o) fail(o) return 1 end, { id = 'bad' })\n"
                     "pods:on_add(function(o) seen = seen + 1 end)\n");
    cluster_resolve(c);
    int before = redirect(log);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    restore(before, log, text, sizeof text);
    assert_ask(c, script, "return seen", "3");
    assert_int_equal(script_counters(script).errors, 3);
    assert_int_equal(script_counters(script).adds, 6);
    struct buf page = {0};
    series_render(&page);
    assert_non_null(
        strstr(buf_text(&page), "kubelua_handler_errors_total{script=\"raising\",handler=\"bad\"} 3\n"));
    assert_non_null(strstr(buf_text(&page), "kubelua_handler_duration_seconds_count{script=\"raising\","
                                            "handler=\"bad\",event=\"OnAdd\"} 3\n"));
    assert_non_null(strstr(buf_text(&page),
                           "kubelua_event_latency_seconds_count{script=\"raising\",handler=\"bad\"} 3\n"));
    buf_clear(&page);
    assert_non_null(strstr(text, "raising.lua:3] \"Handler failed\" script=\"raising\" handler=\"bad\" "
                                 "event=\"OnAdd\" key=\"shop/a\""));
    assert_non_null(
        strstr(text, "attempt to index field 'spec' (a nil value); last absent field: spec of Pod shop/a"));
    assert_non_null(strstr(text, "raising.lua:3: in function 'fail'"));
    assert_non_null(strstr(text, "raising.lua:5: in function"));
    assert_null(strstr(text, "shop/b")); /* one line a second */
    script_free(script);
}

/* Those without a line are counted in the next one, or in one of their own when no failure follows. */
static void test_failures_without_a_line_are_reported_in_time(void **state)
{
    struct cluster *c = *state;
    char log[160], text[8192];
    snprintf(log, sizeof log, "%s/log", c->folder);
    struct script *script =
        cluster_load(c, "often",
                     "local k8s = require 'k8s'\n"
                     "k8s.informer('pods'):on_add(function() error 'no' end, { id = 'bad' })\n");
    cluster_resolve(c);
    virtual_clock_advance(&c->clock, 5);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    int before = redirect(log);
    virtual_clock_advance(&c->clock, 1100);
    cluster_event(c, 0, LW_ADDED, "shop/d");
    restore(before, log, text, sizeof text);
    assert_non_null(strstr(text, "key=\"shop/d\""));
    assert_non_null(strstr(text, "unreported=2\n"));
    assert_null(strstr(text, "More failures"));
    cluster_event(c, 0, LW_ADDED, "shop/e");
    before = redirect(log);
    virtual_clock_advance(&c->clock, 2000);
    restore(before, log, text, sizeof text);
    assert_non_null(
        strstr(text, "often.lua:2] \"More failures\" script=\"often\" handler=\"bad\" unreported=1\n"));
    cluster_event(c, 0, LW_ADDED, "shop/f");
    cluster_event(c, 0, LW_ADDED, "shop/g");
    before = redirect(log);
    script_free(script);
    restore(before, log, text, sizeof text);
    assert_non_null(strstr(text, "\"More failures\" script=\"often\" handler=\"bad\" unreported=1\n"));
}

static void test_a_handler_may_remove_itself(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "once",
                     "local k8s = require 'k8s' local pods = k8s.informer 'pods' seen = ''\n"
                     "local r\n"
                     "r = pods:on_add(function(o) seen = seen .. o:name() r:remove() r:remove() end)\n"
                     "pods:on_add(function(o) seen = seen .. o:name():upper() end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_event(c, 0, LW_ADDED, "shop/c");
    assert_ask(c, script, "return seen", "aABC");
    script_free(script);
}

static void test_a_handler_added_while_running_is_sent_the_cache_first(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "late", watcher);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, script,
               "take() pods:on_add(function(o, ev) said[#said + 1] = 'late ' .. o:key() .. "
               "tostring(ev.initial) end) return #said",
               "0");
    /* The call that added it has ended; the handlers of the next one bring it in. */
    cluster_event(c, 0, LW_ADDED, "shop/c");
    assert_ask(c, script, "return take()", "add shop/c; late shop/atrue; late shop/btrue; late shop/ctrue");
    cluster_event(c, 0, LW_ADDED, "shop/d");
    assert_ask(c, script, "return take()", "add shop/d; late shop/dfalse");
    script_free(script);
}

static void test_handlers_may_add_and_remove_handlers_during_their_initial_delivery(void **state)
{
    struct cluster *c = *state;
    struct script *first = cluster_load(c, "first", watcher);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    struct script *script =
        cluster_load(c, "second",
                     "local k8s = require 'k8s' local pods = k8s.informer 'pods' seen = {}\n"
                     "local r\n"
                     "r = pods:on_add(function(o)\n"
                     "  seen[#seen + 1] = 'once ' .. o:name()\n"
                     "  r:remove()\n"
                     "  pods:on_add(function(p) seen[#seen + 1] = 'inner ' .. p:name() end)\n"
                     "end)\n");
    cluster_resolve(c);
    assert_int_equal(c->source_count, 1);
    assert_true(script_has_synced(script));
    assert_ask(c, script, "return table.concat(seen, '; ')", "once a; inner a; inner b");
    script_free(script);
    script_free(first);
}

static void test_scripts_share_one_informer_and_one_may_end_before_the_other(void **state)
{
    struct cluster *c = *state;
    struct script *a = cluster_load(c, "a", watcher), *b = cluster_load(c, "b", watcher);
    cluster_resolve(c);
    assert_int_equal(c->source_count, 1);
    cluster_list(c, 0, "shop/a");
    script_free(a);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_ask(c, b, "return take()", "add shop/a+; add shop/b");
    script_free(b);
}

/* F-2 */
static void test_options_become_the_scope_of_the_watch(void **state)
{
    struct cluster *c = *state;
    c->host.default_namespace = "default";
    struct script *script = cluster_load(
        c, "scopes",
        "local k8s = require 'k8s'\n"
        "k8s.informer('pods', { selector = 'b=2, a in (y, x)', field_selector = 'spec.nodeName=n1' })\n"
        "k8s.informer('pods', { namespace = '' })\n"
        "k8s.informer('nodes', { namespace = 'shop' })\n"
        "k8s.factory({ namespace = 'shop' }):informer('deployments.apps')\n");
    cluster_resolve(c);
    assert_int_equal(c->source_count, 4);
    assert_string_equal(c->sources[0].scope, "default|a in (x,y),b=2|spec.nodeName=n1");
    assert_string_equal(c->sources[1].scope, "||");
    assert_string_equal(c->sources[2].scope, "||");
    assert_string_equal(c->sources[3].scope, "shop||");
    assert_string_equal(c->sources[3].plural, "deployments");
    script_free(script);
}

static void test_a_script_that_fails_to_load_registers_nothing(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *lua, *part;
    } cases[] = {
        {"k8s.informer('pods'):on_add(print)\nerror('no')", "bad.lua:3: no"},
        {"k8s.informer('pods', { selector = 'a==' .. '=b' })", "bad.lua:2: k8s.informer: selector: "},
        {"k8s.informer('pods', { label = 'a' })", "bad.lua:2: k8s.informer: unknown option \"label\""},
        {"k8s.informer('')", "bad.lua:2: k8s.informer: the kind is empty"},
        {"k8s.informer('pods'):add_event_handler { OnAdded = print }",
         "bad.lua:2: add_event_handler: unknown option \"OnAdded\", did you mean \"OnAdd\"?"},
        {"local p = k8s.informer('pods')\np.add_event_handler { OnAdd = print }",
         "bad.lua:3: informer:add_event_handler: called on table, not on an informer (methods are called "
         "with "
         "':')"},
        {"k8s.informer('pods').on_add(print)", "bad.lua:2: informer:on_add: called on function, not on an "},
        {"local p = k8s.informer('pods')\np:on_add(print, { id = 'x' })\np:on_add(print, { id = 'x' })",
         "bad.lua:4: the handler id \"x\" is already taken"},
        {"k8s.informer('pods'):on_add(print, { id = '' })",
         "bad.lua:2: on_add: id must be a string of 1 to 253 "},
        {"k8s.informer('pods'):on_add(print, { id = 'a\\0b' })",
         "bad.lua:2: on_add: id must not contain a NUL byte"},
        {"k8s.informer('pods'):on_add(print, { id = 'a\\nb' })",
         "bad.lua:2: on_add: id must be a string of "},
        {"k8s.informer('pods'):on_add(print, { namespaces = { 'a', 1 } })",
         "bad.lua:2: on_add: namespaces must be a non-empty list of strings"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char lua[400];
        snprintf(lua, sizeof lua, "local k8s = require 'k8s'\n%s", cases[i].lua);
        const char *error = cluster_load_error(c, "bad", lua);
        if (!strstr(error, cases[i].part)) fail_msg("%s\n  gave: %s", cases[i].lua, error);
    }
    cluster_resolve(c);
    assert_int_equal(c->source_count, 0);
}

static void test_an_id_is_free_again_after_its_handler_was_removed(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "ids",
                                         "local k8s = require 'k8s' local p = k8s.informer 'pods'\n"
                                         "p:on_add(print, { id = 'x' }):remove()\n"
                                         "r = p:on_add(print, { id = 'x' })\n"
                                         "s = p:on_add(print)\n");
    assert_ask(c, script, "return tostring(r) .. ', ' .. tostring(s)", "registration x, registration pods/3");
    script_free(script);
}

/* Each version is another object of some size; its views are garbage at once. */
static void test_objects_that_left_the_cache_do_not_pile_up_behind_garbage(void **state)
{
    struct cluster *c = *state;
    char object[2200];
    size_t most = 0;
    struct script *script =
        cluster_load(c, "storm",
                     "local k8s = require 'k8s'\n"
                     "ballast = {} for i = 1, 200000 do ballast[i] = {} end\n"
                     "k8s.informer('pods'):on_update(function(old, new) local x = old.metadata.labels end)");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1");
    for (int i = 0; i < 10000; i++) {
        snprintf(object, sizeof object, "shop/a x=%d,%02000d", i, i);
        cluster_event(c, 0, LW_MODIFIED, object);
        pool_drain(c->pool);
        if (pool_stats(c->pool).used_bytes > most) most = pool_stats(c->pool).used_bytes;
    }
    assert_true(most < 6 << 20);
    script_free(script);
}

static void test_a_view_may_outlive_its_object_in_the_cache(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "keeper",
                                         "local k8s = require 'k8s'\n"
                                         "k8s.informer('pods'):on_delete(function(o) kept = o.metadata end)");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1");
    cluster_event(c, 0, LW_DELETED, "shop/a x=1");
    assert_ask(c, script, "collectgarbage 'count' return kept.labels.x", "1");
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_handlers_are_notified_of_adds_updates_and_deletes),
        T(test_an_event_table_is_fresh_and_reports_when_and_which_version),
        T(test_functions_that_do_not_use_the_event_are_called_too),
        T(test_a_handler_that_raises_is_logged_and_counted_and_the_others_go_on),
        cmocka_unit_test_setup_teardown(test_failures_without_a_line_are_reported_in_time,
                                        cluster_setup_by_hand, cluster_teardown),
        T(test_a_handler_may_remove_itself),
        T(test_a_handler_added_while_running_is_sent_the_cache_first),
        T(test_handlers_may_add_and_remove_handlers_during_their_initial_delivery),
        T(test_scripts_share_one_informer_and_one_may_end_before_the_other),
        T(test_options_become_the_scope_of_the_watch),
        T(test_a_script_that_fails_to_load_registers_nothing),
        T(test_an_id_is_free_again_after_its_handler_was_removed),
        T(test_objects_that_left_the_cache_do_not_pile_up_behind_garbage),
        T(test_a_view_may_outlive_its_object_in_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
