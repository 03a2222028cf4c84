/* core/script/generation/handover.c, delivery.c: what handlers that begin anew in the next generation are
 * told of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/log.h"
#include "core/script/support/cluster.h"
#include "script/generation/handover.h"

/* What every generation begins with: a handler says what it is told of, and waits for each of its calls. */
#define HEAD                                                                              \
    "k8s = require 'k8s' said = ''\n"                                                     \
    "function take() local text = said said = '' return text end\n"                       \
    "local function say(what) said = said .. what .. ' ' end\n"                           \
    "function handler(kind, options, scope)\n"                                            \
    "  options.id = 'it'\n"                                                               \
    "  function options.OnAdd(o) say('+' .. o:name()) k8s.sleep(1) end\n"                 \
    "  function options.OnUpdate(old, o) say(old:name() .. '=' .. o:name()) end\n"        \
    "  if not options.forgets then function options.OnDelete(o) say('-' .. o:name()) end" \
    "  end options.forgets = nil\n"                                                       \
    "  return k8s.informer(kind, scope):add_event_handler(options)\n"                     \
    "end\n"

static struct script *load(struct cluster *c, const char *lua)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", HEAD, lua);
    struct script *script = cluster_load(c, "first", buf_text(&text));
    buf_clear(&text);
    cluster_resolve(c);
    return script;
}

/* The next generation, which has taken over. The old one is left to the caller. */
static struct script *reload(struct cluster *c, struct script *before, const char *lua)
{
    char path[96];
    struct handover done;
    struct err err;
    snprintf(path, sizeof path, "%s/next.lua", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", HEAD, lua);
    fclose(file);
    const struct script_source source = {
        .path = path, .name = "unit", .generation = script_generation(before) + 1, .before = before};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    cluster_resolve(c);
    if (!script_handover(before, script, &done, &err)) fail_msg("%s", err.text);
    return script;
}

/* All that waits is told. */
static void run_out(struct cluster *c, struct script *script)
{
    do {
        cluster_settle(c);
        virtual_clock_advance(&c->clock, 1000);
    } while (script_pending_events(script));
}

/* --- the cache */

static void ignore(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                   const struct log_field *fields)
{
}

static void test_a_handler_that_gets_events_from_now_on_gets_the_cache_when_it_is_lifted(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "k8s.informer 'pods'");
    cluster_list(c, 0, "shop/a");
    struct script *new =
        reload(c, old,
               "k8s.on_reload { replay = 'none' }\n"
               "k8s.informer('pods'):add_event_handler { OnAdd = function(o) said = said .. '+' .. o:name() "
               "end, OnUpdate = function(_, o) while o:label 'x' == 'spin' do end end }\n");
    script_free(old);
    new->limits.values[LIMIT_HANDLER_CPU] = 5;
    log_capture(ignore, NULL);
    for (int i = 0; i < 3; i++)
        cluster_event(c, 0, LW_MODIFIED, i % 2 ? "shop/a x=spin" : "shop/a x=spin n=1");
    cluster_event(c, 0, LW_ADDED, "shop/b");
    run_out(c, new);
    assert_ask(c, new, "return take()", "");
    assert_int_equal(script_lift(new, NULL), 1);
    run_out(c, new);
    assert_ask(c, new, "return take()", "+a+b");
    log_capture(NULL, NULL);
    script_free(new);
}

/* --- objects that are gone, of which the old generation was not told yet */

/* Of pods: a, b and z of two namespaces; the handler is busy with z, and then a and b go. */
static struct script *load_with_backlog(struct cluster *c, const char *options)
{
    char lua[128];
    snprintf(lua, sizeof lua, "handler('pods', { %s }) k8s.informer 'nodes'", options);
    struct script *script = load(c, lua);
    cluster_list(c, 0, "shop/a app=web;play/b app=db");
    cluster_list(c, 1, "");
    run_out(c, script);
    cluster_event(c, 0, LW_ADDED, "shop/z app=web");
    cluster_event(c, 0, LW_DELETED, "shop/a app=web");
    cluster_event(c, 0, LW_DELETED, "play/b app=db");
    assert_ask(c, script, "return take()", "+a +b +z ");
    return script;
}

static void test_it_gets_deletes_of_what_it_reads_and_what_passes_its_filter(void **state)
{
    static const struct {
        const char *lua, *told;
    } cases[] = {
        {"handler('pods', { unchanged = true })", "+a -a +b -b +z "},
        {"handler('pods', { namespaces = { 'play' } })", "+b -b "},
        {"handler('pods', { where = { ['metadata.labels.app'] = 'web' } })", "+a -a +z "},
        {"handler('pods', { filter = function(o) return o:label 'app' == 'db' end })", "+b -b "},
        {"handler('pods', {}, { namespace = 'play' })", "+b -b "},
        {"handler('pods', {}, { namespaces = { 'other', 'shop' } })", "+a -a "},
        {"handler('pods', {}, { selector = 'app!=db' })", "+a -a "},
        {"handler('pods', {}, { field_selector = 'spec.nodeName=n' })", ""},
        {"handler('nodes', {})", ""},
        {"handler('pods', { forgets = true })", "+z "},
        {"r = handler('pods', { filter = function() r:remove() return true end })", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        cluster_init(&c);
        c.host.clock = &c.clock.clock;
        struct script *old = load_with_backlog(&c, "");
        struct script *new = reload(&c, old, cases[i].lua);
        run_out(&c, new);
        assert_ask(&c, new, "return take()", cases[i].told);
        script_free(old);
        script_free(new);
        cluster_clear(&c);
    }
}

static void test_a_second_reload_loses_no_deletes(void **state)
{
    static const char *const last[] = {"handler('pods', {})",
                                       "handler('pods', {}) k8s.on_reload { replay = 'all' }"};
    for (size_t i = 0; i < 2; i++) {
        struct cluster c;
        cluster_init(&c);
        c.host.clock = &c.clock.clock;
        struct script *one = load_with_backlog(&c, "");
        struct script *two = reload(&c, one, "handler('pods', { unchanged = true })");
        struct script *three = reload(&c, two, last[i]); /* as when a bad generation is taken back at once */
        run_out(&c, three);
        assert_ask(&c, two, "return take()", "");
        assert_ask(&c, three, "return take()", "+a -a +b -b +z ");
        script_free(one);
        script_free(two);
        script_free(three);
        cluster_clear(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_handler_that_gets_events_from_now_on_gets_the_cache_when_it_is_lifted),
        cmocka_unit_test(test_it_gets_deletes_of_what_it_reads_and_what_passes_its_filter),
        cmocka_unit_test(test_a_second_reload_loses_no_deletes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
