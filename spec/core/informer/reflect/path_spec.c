/* The whole way of an event: source, reflector, queue, store, handler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/history.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/scripted_source.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/shared_informer.h"

static void test_events_of_the_server_reach_the_handler_in_order(void **state)
{
    struct scripted_source source;
    struct virtual_clock clock;
    struct history history = {0};
    struct registration *registration;
    objects_open();
    virtual_clock_init(&clock);
    struct shared_informer *informer = shared_informer_new("pods", NULL, NULL);
    struct event_handler handler = history_handler(&history);
    shared_informer_add_handler(informer, &handler, &registration);
    struct reflector *reflector = reflector_new(&(struct reflector_options){
        .name = "pods",
        .source = scripted_source_init(&source),
        .fifo = shared_informer_fifo(informer),
        .clock = &clock.clock,
    });
    reflector_start(reflector);
    assert_string_equal(source_asked(&source), "list limit=500 rv=0");
    source_list(&source, "shop/a@1 shop/b@2", "5");
    assert_string_equal(source_asked(&source), "watch bookmarks rv=5");
    source_event(&source, LW_ADDED, "shop/c@6");
    source_event(&source, LW_MODIFIED, "shop/a@7");
    source_event(&source, LW_DELETED, "shop/b@8");
    assert_false(shared_informer_has_synced(informer));
    assert_int_equal(shared_informer_process(informer, 100), 5);
    assert_true(shared_informer_has_synced(informer));
    assert_true(registration_has_synced(registration));
    assert_string_equal(history_take(&history), "add+ shop/a@1; add+ shop/b@2; add shop/c@6; "
                                                "update shop/a@1 shop/a@7; delete shop/b@8");
    assert_int_equal(indexer_count(shared_informer_indexer(informer)), 2);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(informer)), "8");
    reflector_free(reflector);
    shared_informer_free(informer);
    scripted_source_clear(&source);
    history_clear(&history);
    virtual_clock_clear(&clock);
    objects_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_of_the_server_reach_the_handler_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
