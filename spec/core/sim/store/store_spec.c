/* The store: names of kinds, versions, events, waking of watches. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/store.h"

static struct sim_store *new_store(void)
{
    return sim_store_new(&(struct sim_store_options){.first_version = 1000000000000000});
}

static struct sim_object *object(const char *name)
{
    char *text = xasprintf("{'metadata':{'name':'%s'}}", name);
    json_t *json = js(text);
    struct sim_object *result = sim_object_from_json(json);
    json_decref(json);
    free(text);
    return result;
}

static void test_kinds_are_found_by_any_of_their_names(void **state)
{
    struct sim_store *store = new_store();
    static const char *const names[] = {"pods", "pod", "po", "Pod"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(sim_store_lookup(store, names[i])->kind->plural, "pods");
    assert_string_equal(sim_store_lookup(store, "deploy.apps")->kind->plural, "deployments");
    assert_null(sim_store_lookup(store, "deploy.example.com"));
    assert_null(sim_store_lookup(store, "nonsense"));
    assert_ptr_equal(sim_store_of_kind(store, "apps/v1", "Deployment"),
                     sim_store_find(store, "apps", "v1", "deployments"));
    assert_null(sim_store_find(store, "apps", "v2", "deployments"));
    assert_string_equal(sim_store_find(store, "", "v1", "pods")->head,
                        "\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
    sim_store_free(store);
}

static void expect_event(const struct sim_resource *resource, uint64_t sequence, enum sim_event_type type,
                         size_t count)
{
    const struct sim_event *event = sim_history_at(&resource->history, sequence);
    assert_non_null(event);
    assert_int_equal(event->type, type);
    assert_int_equal(event->object->version, event->version);
    assert_int_equal(omap_count(event->map), count);
}

static void test_each_change_has_a_version_of_its_own_and_an_event(void **state)
{
    struct sim_store *store = new_store();
    struct sim_resource *resource = sim_store_lookup(store, "nodes")->resource;
    uint64_t before = store->version;
    sim_store_put(store, resource, object("a"));
    sim_store_put(store, resource, object("b"));
    sim_store_put(store, resource, object("a"));
    assert_true(sim_store_remove(store, resource, "a"));
    assert_false(sim_store_remove(store, resource, "a"));
    assert_int_equal(store->version, before + 4);
    expect_event(resource, 0, SIM_ADDED, 1);
    expect_event(resource, 1, SIM_ADDED, 2);
    expect_event(resource, 2, SIM_MODIFIED, 2);
    expect_event(resource, 3, SIM_DELETED, 1);
    assert_non_null(sim_history_at(&resource->history, 3)->before);
    sim_store_free(store);
}

static void test_a_sleeping_watch_is_woken_by_its_own_resource_only(void **state)
{
    struct sim_store *store = new_store();
    struct sim_resource *nodes = sim_store_lookup(store, "nodes")->resource,
                        *pods = sim_store_lookup(store, "pods")->resource;
    struct sim_watcher watcher = {.wake_fd = eventfd(0, EFD_NONBLOCK), .asleep = true};
    eventfd_t woken;
    sim_watcher_join(&watcher, nodes, nodes->history.next);
    sim_store_put(store, pods, object("x"));
    assert_int_equal(eventfd_read(watcher.wake_fd, &woken), -1);
    sim_store_put(store, nodes, object("a"));
    sim_store_put(store, nodes, object("b")); /* it is awake already */
    assert_int_equal(eventfd_read(watcher.wake_fd, &woken), 0);
    assert_int_equal(woken, 1);
    assert_false(watcher.asleep);
    assert_false(watcher.ended);
    watcher.asleep = true;
    sim_store_expire(store, nodes);
    assert_true(watcher.ended);
    assert_int_equal(eventfd_read(watcher.wake_fd, &woken), 0);
    sim_watcher_leave(&watcher);
    close(watcher.wake_fd);
    sim_store_free(store);
}

static void test_what_was_given_out_before_an_expiry_is_too_old_after_it(void **state)
{
    struct sim_store *store = new_store();
    struct sim_resource *nodes = sim_store_lookup(store, "nodes")->resource;
    uint64_t sequence, newest;
    sim_store_put(store, nodes, object("a"));
    newest = store->version;
    sim_store_expire(store, NULL);
    assert_false(sim_history_after(&nodes->history, newest, &sequence));
    assert_true(sim_history_after(&nodes->history, store->version, &sequence));
    sim_store_free(store);
}

static void test_versions_of_a_later_start_are_higher(void **state)
{
    struct sim_store *first = sim_store_new(&(struct sim_store_options){0});
    struct sim_resource *nodes = sim_store_lookup(first, "nodes")->resource;
    sim_store_put(first, nodes, object("a"));
    uint64_t last = first->version;
    sim_store_free(first);
    struct sim_store *second = sim_store_new(&(struct sim_store_options){0});
    assert_true(second->version > last);
    sim_store_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_found_by_any_of_their_names),
        cmocka_unit_test(test_each_change_has_a_version_of_its_own_and_an_event),
        cmocka_unit_test(test_a_sleeping_watch_is_woken_by_its_own_resource_only),
        cmocka_unit_test(test_what_was_given_out_before_an_expiry_is_too_old_after_it),
        cmocka_unit_test(test_versions_of_a_later_start_are_higher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
