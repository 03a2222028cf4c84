/* core/script/delivery.c: what a handler has not been told of yet goes to the one that follows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "script/delivery.h"

/* One handler with these options; a call takes a second, or as many as its object's uid says. */
static struct script *load(struct cluster *c, const char *name, const char *options)
{
    char text[1024];
    snprintf(text, sizeof text,
             "k8s = require 'k8s' said = ''\n"
             "function take() local text = said said = '' return text end\n"
             "local function work(what, o, ev)\n"
             "  local me = what .. o:name() .. o:resource_version() .. (ev.coalesced and 'c' or '')\n"
             "  said = said .. me .. '( ' k8s.sleep(tonumber(o:uid())) said = said .. ')' .. me .. ' ' end\n"
             "local options = { id = 'it', %s }\n"
             "function options.OnAdd(o, ev) work('+', o, ev) end\n"
             "function options.OnUpdate(_, o, ev) work('=', o, ev) end\n"
             "function options.OnDelete(o, ev) work('-', o, ev) end\n"
             "if options.adds then options = { id = 'it', OnAdd = options.OnAdd } end\n"
             "registration = k8s.informer('pods'):add_event_handler(options)\n",
             options);
    return cluster_load(c, name, text);
}

static struct script_handler *handler_of(struct script *script)
{
    return TAILQ_FIRST(&script->handlers);
}

static struct root *pack(struct cluster *c, const char *name, int version, int seconds)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\","
               "\"uid\":\"%d\",\"resourceVersion\":\"%d\"}}",
               name, seconds, version);
    memset(buf_reserve(&json, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(c->packer, json.data, json.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&json);
    return root;
}

/* The informer tells the handler of an object whose call takes so long. */
static void tell(struct cluster *c, struct script *script, char what, const char *name, int version,
                 int seconds)
{
    const struct event_handler handler = delivery_callbacks(handler_of(script));
    const struct event_info info = {0};
    struct root *object = pack(c, name, version, seconds);
    if (what == '+') handler.on_add(handler.ctx, object, &info);
    if (what == '=') handler.on_update(handler.ctx, object, object, &info);
    if (what == '-') handler.on_delete(handler.ctx, object, &info);
    root_unref(object);
}

static void test_a_sequential_handler_goes_on_when_the_old_call_has_ended(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", ""), *new = load(c, "new", "");
    tell(c, old, '+', "a", 1, 1);
    tell(c, old, '=', "a", 2, 1);
    tell(c, old, '+', "b", 3, 1);
    delivery_hand_over(handler_of(old), handler_of(new));
    tell(c, new, '-', "b", 4, 1);
    assert_ask(c, new, "return take()", "");
    assert_int_equal(script_pending_events(old), 1); /* its call */
    assert_int_equal(script_pending_events(new), 3);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, old, "return take()", "+a1( )+a1 ");
    assert_ask(c, new, "return take()", "=a2( ");
    virtual_clock_advance(&c->clock, 3000);
    assert_ask(c, new, "return take()", ")=a2 +b3( )+b3 -b4( )-b4 ");
    assert_ask(c, old, "return take()", "");
    script_free(old);
    script_free(new);
}

static void test_only_busy_keys_of_the_old_one_wait_with_concurrency(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", "concurrency = 3"), *new = load(c, "new", "concurrency = 3");
    tell(c, old, '+', "a", 1, 2);
    tell(c, old, '+', "b", 2, 3);
    tell(c, old, '=', "a", 3, 1);
    delivery_hand_over(handler_of(old), handler_of(new));
    tell(c, new, '=', "b", 4, 1);
    tell(c, new, '+', "c", 5, 1); /* one more may wait beside those two, not two */
    tell(c, new, '+', "d", 6, 1);
    assert_ask(c, new, "return take()", "+c5( ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", ")+c5 +d6( ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", ")+d6 =a3( ");
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, new, "return take()", ")=a3 =b4( )=b4 ");
    assert_int_equal(handler_of(new)->busy_count, 0);
    assert_null(handler_of(new)->pending.keys);
    script_free(old);
    script_free(new);
}

static void test_options_may_differ(void **state)
{
    struct cluster *c = *state;
    struct script *one = load(c, "one", ""), *many = load(c, "many", "concurrency = 4"),
                  *adds = load(c, "adds", "adds = true");
    tell(c, one, '+', "a", 1, 3);
    tell(c, one, '=', "a", 2, 1);
    tell(c, one, '+', "b", 3, 9);
    delivery_hand_over(handler_of(one), handler_of(many)); /* of what waits, b may begin now */
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, many, "return take()", "+b3( ");
    tell(c, many, '+', "c", 4, 1);
    tell(c, many, '-', "c", 5, 1);
    delivery_hand_over(handler_of(many), handler_of(adds)); /* has a function for adds alone */
    tell(c, adds, '+', "d", 6, 1);
    virtual_clock_advance(&c->clock, 8000);
    assert_ask(c, adds, "return take()", ""); /* b of the second one still holds it up, a of the first did */
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, adds, "return take()", "+d6( )+d6 ");
    assert_ask(c, one, "return take()", "+a1( )+a1 ");
    script_free(one);
    script_free(many);
    script_free(adds);
}

static void test_either_may_go_before_the_other(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", ""), *new = load(c, "new", "concurrency = 2");
    tell(c, old, '+', "a", 1, 5);
    tell(c, old, '=', "a", 2, 1);
    delivery_hand_over(handler_of(old), handler_of(new));
    assert_ask(c, old, "registration:remove()", "nil"); /* its call is cancelled: nothing to wait for */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", "=a2( )=a2 ");
    tell(c, new, '+', "a", 3, 5);
    struct script *newest = load(c, "newest", "");
    delivery_hand_over(handler_of(new), handler_of(newest));
    tell(c, newest, '+', "b", 4, 1);
    script_free(newest);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, new, "return take()", "+a3( )+a3 ");
    script_free(old);
    script_free(new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_sequential_handler_goes_on_when_the_old_call_has_ended),
        T(test_only_busy_keys_of_the_old_one_wait_with_concurrency),
        T(test_options_may_differ),
        T(test_either_may_go_before_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
