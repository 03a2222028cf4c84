/* core/kube/kinds/kinds.c and catalogue_nearest.c: names of live reads, before and after the server told its
 * kinds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/kinds.h"

struct waiter {
    struct kinds_waiter base;
    int calls;
    char cause[ERR_TEXT_MAX];
    struct kinds *again;    /* to wait once more */
    struct waiter *cancels; /* another one */
};

static void on_ready(struct kinds_waiter *base, const struct err *err)
{
    struct waiter *waiter = container_of(base, struct waiter, base);
    waiter->calls++;
    snprintf(waiter->cause, sizeof waiter->cause, "%s", err ? err->text : "");
    if (waiter->again && waiter->calls == 1) kinds_wait(waiter->again, base);
    if (waiter->cancels) kinds_cancel(&waiter->cancels->base);
}

static struct catalogue *new_catalogue(void)
{
    static const char document[] =
        "{\"kind\":\"APIResourceList\",\"resources\":["
        "{\"name\":\"deployments\",\"singularName\":\"deployment\",\"namespaced\":true,"
        "\"kind\":\"Deployment\",\"verbs\":[\"get\",\"list\",\"watch\"],\"shortNames\":[\"deploy\"]}]}";
    struct catalogue *catalogue = catalogue_new();
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    struct buf text = {0};
    buf_puts(&text, document);
    buf_reserve(&text, TAPE_PADDING);
    assert_true(tape_parse(parser, text.data, text.len, &tape, NULL));
    catalogue_add_legacy(catalogue, &tape, STR("apps"), STR("v1"), 0, 0);
    catalogue_finish(catalogue);
    tape_parser_free(parser);
    buf_clear(&text);
    return catalogue;
}

static struct virtual_clock vclock;
static int asked;

static void ask(void *ctx)
{
    asked++;
}

static struct kinds *open_kinds(void)
{
    virtual_clock_clear(&vclock);
    virtual_clock_init(&vclock);
    asked = 0;
    return kinds_new(&vclock.clock, ask, NULL);
}

static void set(struct kinds *kinds)
{
    struct catalogue *catalogue = new_catalogue();
    kinds_set(kinds, catalogue);
    catalogue_free(catalogue); /* it keeps a reference of its own */
}

static void test_a_waiter_is_notified_once(void **state)
{
    struct kinds *kinds = open_kinds();
    struct waiter one = {.base.ready = on_ready}, two = {.base.ready = on_ready};
    assert_false(kinds_known(kinds));
    kinds_wait(kinds, &one.base);
    kinds_wait(kinds, &two.base);
    kinds_cancel(&two.base);
    kinds_cancel(&two.base);
    set(kinds);
    assert_true(kinds_known(kinds));
    set(kinds);
    assert_int_equal(one.calls, 1);
    assert_int_equal(two.calls, 0);
    kinds_free(kinds);
}

/* A prompt may ask before the server has answered. */
static void test_no_name_means_anything_before_the_first_catalogue(void **state)
{
    struct kinds *kinds = open_kinds();
    struct resource resource;
    struct err err;
    assert_false(kinds_resolve(kinds, STR("deployments"), &resource, &err));
    assert_string_equal(err.text, "deployments: the kinds of the server are not known yet");
    kinds_free(kinds);
}

static void test_a_server_that_cannot_be_reached_is_reported_with_its_cause(void **state)
{
    struct kinds *kinds = open_kinds();
    struct waiter one = {.base.ready = on_ready, .again = kinds}, two = {.base.ready = on_ready};
    struct waiter canceller = {.base.ready = on_ready, .cancels = &two};
    struct err err;
    kinds_wait(kinds, &one.base);
    kinds_wait(kinds, &canceller.base);
    kinds_wait(kinds, &two.base);
    err_set(&err, ERR_CONNECT, "refused");
    kinds_fail(kinds, &err);
    assert_int_equal(one.calls, 1); /* who waits again is not told at once again */
    assert_string_equal(one.cause, "refused");
    assert_int_equal(two.calls, 0);
    set(kinds);
    assert_int_equal(one.calls, 2);
    assert_string_equal(one.cause, "");
    kinds_free(kinds);
}

static void assert_unknown(const struct kinds *kinds, const char *name, const char *expected)
{
    struct resource resource;
    struct err err;
    assert_false(kinds_resolve(kinds, str_of(name), &resource, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_string_equal(err.text, expected);
}

static void test_an_unknown_name_is_reported_with_the_nearest(void **state)
{
    struct kinds *kinds = open_kinds();
    struct resource resource;
    struct err err;
    set(kinds);
    assert_true(kinds_resolve(kinds, STR("deploy"), &resource, &err));
    assert_string_equal(resource.plural, "deployments");
    resource_clear(&resource);
    assert_unknown(kinds, "deplyoments",
                   "the server doesn't have a resource type \"deplyoments\", did you mean "
                   "\"deployments.apps\"?");
    assert_unknown(kinds, "apps/v1/Deploiment",
                   "the server doesn't have a resource type \"apps/v1/Deploiment\", did you mean "
                   "\"deployments.apps\"?");
    assert_unknown(kinds, "deploymnets",
                   "the server doesn't have a resource type \"deploymnets\", did you mean "
                   "\"deployments.apps\"?");
    assert_unknown(kinds, "x", "the server doesn't have a resource type \"x\"");
    assert_unknown(kinds, "", "the server doesn't have a resource type \"\"");
    kinds_free(kinds);
}

static void test_groups_that_did_not_response_are_named(void **state)
{
    struct kinds *kinds = open_kinds();
    struct catalogue *catalogue = new_catalogue();
    catalogue_add_failure(catalogue, "metrics.k8s.io/v1beta1", "503");
    catalogue_finish(catalogue);
    kinds_set(kinds, catalogue);
    catalogue_free(catalogue);
    assert_unknown(kinds, "x",
                   "the server doesn't have a resource type \"x\" (not all groups responded: "
                   "metrics.k8s.io/v1beta1: 503)");
    kinds_free(kinds);
}

static void test_an_invalidation_starts_discovery_unless_it_just_ran(void **state)
{
    struct kinds *kinds = open_kinds();
    struct waiter one = {.base.ready = on_ready};
    set(kinds);
    assert_false(kinds_invalidate(kinds));
    virtual_clock_advance(&vclock, 500);
    assert_false(kinds_invalidate_older(kinds, 501));
    virtual_clock_advance(&vclock, 4499);
    assert_false(kinds_invalidate(kinds));
    virtual_clock_advance(&vclock, 1);
    assert_true(kinds_invalidate(kinds));
    assert_int_equal(asked, 1);
    kinds_wait(kinds, &one.base);
    set(kinds);
    assert_int_equal(one.calls, 1);
    assert_false(kinds_invalidate(kinds));
    virtual_clock_advance(&vclock, 500);
    assert_true(kinds_invalidate_older(kinds, 500));
    assert_int_equal(asked, 2);
    kinds_free(kinds);
}

static void set_partial(struct kinds *kinds)
{
    struct catalogue *partial = catalogue_new();
    partial->partial = true;
    catalogue_add_failure(partial, "apps/v1", "no response yet");
    catalogue_finish(partial);
    kinds_set(kinds, partial);
    catalogue_free(partial);
}

static void test_a_partial_catalogue_goes_when_discovery_fails(void **state)
{
    struct kinds *kinds = open_kinds();
    struct err err;
    set_partial(kinds);
    assert_null(kinds_complete_catalogue(kinds));
    set(kinds);
    const struct catalogue *complete = kinds_catalogue(kinds);
    set_partial(kinds);
    assert_ptr_not_equal(kinds_catalogue(kinds), complete);
    assert_ptr_equal(kinds_complete_catalogue(kinds), complete);
    err_set(&err, ERR_CLOSED, "gone");
    kinds_fail(kinds, &err);
    assert_ptr_equal(kinds_catalogue(kinds), complete);
    virtual_clock_advance(&vclock, 5000);
    assert_true(kinds_invalidate(kinds));
    assert_int_equal(asked, 1);
    kinds_free(kinds);
}

static void test_a_partial_catalogue_lacks_nothing_for_good(void **state)
{
    struct kinds *kinds = open_kinds();
    struct resource resource;
    struct err err;
    for (int round = 0; round < 2; round++) {
        set_partial(kinds);
        assert_true(kinds_invalidate(kinds)); /* it may be waited for, and nobody is asked */
        assert_int_equal(asked, 0);
        if (round == 0)
            assert_unknown(
                kinds, "deployments",
                "the server doesn't have a resource type \"deployments\" (not all groups responded: "
                "apps/v1: no response yet)");
        else
            assert_true(kinds_resolve(kinds, STR("deployments"), &resource, &err));
        set(kinds);
    }
    resource_clear(&resource);
    assert_false(kinds_invalidate(kinds));
    kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_waiter_is_notified_once),
        cmocka_unit_test(test_no_name_means_anything_before_the_first_catalogue),
        cmocka_unit_test(test_a_server_that_cannot_be_reached_is_reported_with_its_cause),
        cmocka_unit_test(test_an_unknown_name_is_reported_with_the_nearest),
        cmocka_unit_test(test_groups_that_did_not_response_are_named),
        cmocka_unit_test(test_a_partial_catalogue_lacks_nothing_for_good),
        cmocka_unit_test(test_a_partial_catalogue_goes_when_discovery_fails),
        cmocka_unit_test(test_an_invalidation_starts_discovery_unless_it_just_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
