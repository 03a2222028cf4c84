/* Which paths name what. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/target.h"

static struct sim_store *store;

/* "plural namespace name subresource", with "-" for what is not there; "" when the path is none. */
static char *told(const char *path)
{
    struct sim_target t;
    if (!sim_target_parse(store, path, &t)) return xstrdup("");
    char *text = xasprintf("%s %s %s %s", t.served->kind->plural, t.namespace_ ? t.namespace_ : "-",
                           t.name ? t.name : "-", t.subresource ? t.subresource : "-");
    sim_target_clear(&t);
    return text;
}

static void test_paths(void **state)
{
    static const char *const cases[][2] = {
        {"/api/v1/pods", "pods - - -"},
        {"/api/v1/pods/", "pods - - -"},
        {"/api/v1/namespaces/n/pods", "pods n - -"},
        {"/api/v1/namespaces/n/pods/p", "pods n p -"},
        {"/api/v1/namespaces/n/pods/p/status", "pods n p status"},
        {"/api/v1/namespaces", "namespaces - - -"},
        {"/api/v1/namespaces/n", "namespaces - n -"},
        {"/api/v1/namespaces/n/status", "namespaces - n status"},
        {"/api/v1/namespaces/n/finalize", "namespaces - n finalize"},
        {"/api/v1/nodes/n", "nodes - n -"},
        {"/apis/apps/v1/namespaces/n/deployments/d", "deployments n d -"},
        {"/api/v1/pods/p", ""},
        {"/api/v1/namespaces/n/nodes", ""},
        {"/api/v1/namespaces/n/pods/p/status/more", ""},
        {"/api/v1/nonsense", ""},
        {"/api/v2/pods", ""},
        {"/apis/apps/v1", ""},
        {"/apis/apps/v1/pods", ""},
        {"/api/v1//pods", ""},
        {"/api/v1", ""},
        {"/", ""},
        {"", ""},
        {"/a/b/c/d/e/f/g/h/i/j/k", ""},
    };
    store = sim_store_new(&(struct sim_store_options){0});
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = told(cases[i][0]);
        if (strcmp(text, cases[i][1]) != 0) print_error("%s\n", cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
    sim_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
