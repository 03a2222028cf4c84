/* core/kube/api/object_request.c: what a request sends, and a copy of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/api/object_request.h"

static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};

static void assert_goes_to(const struct object_request *request, const char *expected)
{
    struct buf path = {0};
    struct err err;
    if (!object_request_path(request, &path, &err)) fail_msg("%s", err.text);
    assert_string_equal(buf_text(&path), expected);
    buf_clear(&path);
}

static void test_the_query_has_the_options_of_the_write(void **state)
{
    struct object_request request = {.verb = OBJECT_APPLY,
                                     .place = {&pods, "shop", "web", "status"},
                                     .manager = "a b",
                                     .force = true,
                                     .dry_run = true};
    assert_goes_to(&request,
                   "/api/v1/namespaces/shop/pods/web/status?fieldManager=a%20b&force=true&dryRun=All");
    request.manager = "";
    request.force = false;
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods/web/status?dryRun=All");
    request.dry_run = false;
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods/web/status");
}

static void test_a_delete_has_its_options_in_the_body_where_it_has_one(void **state)
{
    struct object_request request = {
        .verb = OBJECT_DELETE, .place = {&pods, "shop", "web"}, .manager = "me", .dry_run = true};
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods/web?fieldManager=me&dryRun=All");
    request.body = STR("{}");
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods/web");
}

static void test_a_new_object_goes_to_its_collection(void **state)
{
    struct object_request request = {.verb = OBJECT_CREATE, .place = {&pods, "shop", "web"}};
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods");
    request.place.subresource = "eviction";
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods/web/eviction");
}

static void test_a_table_is_a_list_of_one_object_too(void **state)
{
    struct object_request request = {.verb = OBJECT_TABLE, .place = {&pods, "", ""}};
    assert_goes_to(&request, "/api/v1/pods?includeObject=Metadata&limit=500");
    assert_string_equal(object_request_accept(&request), "application/json;as=Table;v=v1;g=meta.k8s.io");
    request.selector = "app=web,tier!=db";
    request.continue_ = "a/b=";
    assert_goes_to(&request, "/api/v1/pods?includeObject=Metadata&limit=500&"
                             "labelSelector=app%3Dweb%2Ctier%21%3Ddb&continue=a%2Fb%3D");
    request = (struct object_request){.verb = OBJECT_TABLE, .place = {&pods, "shop", "web"}};
    assert_goes_to(&request, "/api/v1/namespaces/shop/pods?includeObject=Metadata&limit=500&"
                             "fieldSelector=metadata.name%3Dweb");
    request.verb = OBJECT_GET;
    assert_null(object_request_accept(&request));
}

static void test_the_verb_sets_the_type_of_a_body(void **state)
{
    struct object_request request = {.place = {&pods, "shop", "web"},
                                     .patch_type = "application/json-patch+json"};
    static const char *const expected[][2] = {
        [OBJECT_GET] = {"GET", NULL},
        [OBJECT_CREATE] = {"POST", "application/json"},
        [OBJECT_UPDATE] = {"PUT", "application/json"},
        [OBJECT_PATCH] = {"PATCH", "application/json-patch+json"},
        [OBJECT_APPLY] = {"PATCH", "application/apply-patch+yaml"},
        [OBJECT_DELETE] = {"DELETE", "application/json"},
    };
    for (size_t i = OBJECT_GET; i < ARRAY_LEN(expected); i++) {
        request.verb = (enum object_verb)i;
        request.body = (struct str){0};
        assert_string_equal(object_request_method(&request), expected[i][0]);
        assert_null(object_request_type(&request));
        if (i == OBJECT_GET) continue;
        request.body = STR("{}");
        assert_string_equal(object_request_type(&request), expected[i][1]);
    }
}

/* With `place` and texts that are gone when it is used. */
static void test_a_copy_stands_alone(void **state)
{
    struct resource kind;
    struct fence *fence = fence_new(NULL, INT64_MAX);
    char *ns = xstrdup("shop"), *name = xstrdup("web"), *sub = xstrdup("status"),
         *body = xstrdup("{\"a\":1}"), *type = xstrdup("application/json-patch+json"),
         *manager = xstrdup("me"), *selector = xstrdup("app=web"), *token = xstrdup("t");
    char *const texts[] = {ns, name, sub, body, type, manager, selector, token};
    resource_copy(&kind, &pods);
    struct object_request request = {.verb = OBJECT_PATCH,
                                     .place = {&kind, ns, name, sub},
                                     .body = {body, 4},
                                     .patch_type = type,
                                     .manager = manager,
                                     .selector = selector,
                                     .continue_ = token,
                                     .timeout_ms = 7,
                                     .urgent = true,
                                     .fence = fence};
    struct object_request *copy = object_request_copy(&request);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) free(texts[i]);
    resource_clear(&kind);
    fence_unref(fence);
    request = (struct object_request){0};
    assert_goes_to(copy, "/api/v1/namespaces/shop/pods/web/status?fieldManager=me");
    assert_string_equal(object_request_type(copy), "application/json-patch+json");
    assert_true(str_is(copy->body, "{\"a\""));
    assert_int_equal(copy->timeout_ms, 7);
    assert_true(copy->urgent && fence_is_open(copy->fence));
    object_request_free(copy);
    object_request_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_query_has_the_options_of_the_write),
        cmocka_unit_test(test_a_delete_has_its_options_in_the_body_where_it_has_one),
        cmocka_unit_test(test_a_new_object_goes_to_its_collection),
        cmocka_unit_test(test_a_table_is_a_list_of_one_object_too),
        cmocka_unit_test(test_the_verb_sets_the_type_of_a_body),
        cmocka_unit_test(test_a_copy_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
