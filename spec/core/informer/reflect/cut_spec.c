/* core/informer/reflect/reflector.c over real connections: lists, watches and watch-lists whose answers break
 * off at any byte, over each protocol. Each costs a warning at most and a retry, and the cache is whole in
 * the end (H-4, H-10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/small_catalogue.h"
#include "core/kube/support/cut_client.h"
#include "informer/shared/shared_factory.h"
#include "support/jump_clock.h"

enum { HUNG_S = 120, STEP_MS = 100 };

static struct cut_client c;
static struct shared_factory *factory;
static struct informer_claim *claim;
static enum watch_list_mode mode;
static struct buf cache;
static size_t usual_requests;

#define POD(name, version)                                                   \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"x\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

/* The server is at version 12 for good: a list has what a watch from 10 would tell. */
static const struct cut_answer list_at_10 = {
    .status = 200,
    .headers = "Content-Type: application/json\r\n",
    .pieces = (const char *const[]){"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
                                    "{\"resourceVersion\":\"10\"},\"items\":[",
                                    POD("a", "9"), "]}", NULL},
    .trailers = "X-Sum: 1\r\n",
};
static const struct cut_answer watch_from_10 = {
    .status = 200,
    .headers = "Content-Type: application/json\r\n",
    .pieces = (const char *const[]){EVENT("ADDED", POD("b", "11")), EVENT("MODIFIED", POD("a", "12")), NULL},
    .stays = true,
};
static const struct cut_answer watch_from_11 = {
    .status = 200,
    .headers = "Content-Type: application/json\r\n",
    .pieces = (const char *const[]){EVENT("MODIFIED", POD("a", "12")), NULL},
    .stays = true,
};
static const struct cut_answer watch_from_12 = {
    .status = 200,
    .headers = "Content-Type: application/json\r\n",
    .stays = true,
};
static const struct cut_answer watch_list = {
    .status = 200,
    .headers = "Content-Type: application/json\r\n",
    .pieces = (const char *const[]){EVENT("ADDED", POD("a", "9")),
                                    EVENT("BOOKMARK", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
                                                      "\"resourceVersion\":\"10\",\"annotations\":{"
                                                      "\"k8s.io/initial-events-end\":\"true\"}}}"),
                                    EVENT("ADDED", POD("b", "11")), EVENT("MODIFIED", POD("a", "12")), NULL},
    .stays = true,
};

static const struct cut_answer *answer(void *ctx, const char *method, const char *path)
{
    if (!strstr(path, "watch=")) return &list_at_10;
    if (strstr(path, "sendInitialEvents=true")) return &watch_list;
    if (strstr(path, "resourceVersion=10")) return &watch_from_10;
    if (strstr(path, "resourceVersion=11")) return &watch_from_11;
    return &watch_from_12;
}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    return list_watch_new(c.client, resource, scope);
}

static void open_factory(void)
{
    struct catalogue *catalogue = small_catalogue(false);
    factory = shared_factory_new(&(struct shared_factory_options){.engine_loop = c.loop,
                                                                  .io_loop = c.loop,
                                                                  .new_source = new_source,
                                                                  .seed = 1,
                                                                  .tuning.watch_list = mode});
    claim = shared_factory_claim(
        factory, &(struct informer_spec){
                     .kind = "pods", .namespace_ = "", .label_selector = "", .field_selector = ""});
    shared_factory_resolve(factory, catalogue, NULL, NULL);
    catalogue_free(catalogue);
}

static bool cache_is_whole(void)
{
    struct lister_list list;
    cache.len = 0;
    if (!claim_indexer(claim)) return false;
    lister_list(claim_indexer(claim), STR(""), NULL, NULL, &list);
    for (size_t i = 0; i < list.count; i++) {
        object_describe(list.objects[i], &cache);
        buf_putc(&cache, ' ');
    }
    lister_free_list(&list);
    return strcmp(buf_text(&cache), "x/a@12 x/b@11 ") == 0;
}

static enum reflector_state state(void)
{
    struct claim_status status;
    claim_get_status(claim, &status);
    return status.reflector.state;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

/* A factory from its start until the answer was broken off, or came whole, and all is well. */
static void run(void *ctx)
{
    log_take();
    open_factory();
    while (cut_server_is_armed(c.server) || state() != REFLECTOR_WATCHING || !cache_is_whole()) {
        bool waits = state() == REFLECTOR_BACKING_OFF;
        if (waits) jump_clock_move(c.loop, STEP_MS);
        loop_once(c.loop, !waits);
    }
    bool has_cut = cut_server_has_cut(c.server);
    const char *log = log_take();
    if (count(log, "W ") > has_cut || count(log, "E ") || count(log, "\n") > 2 * has_cut) fail_msg("%s", log);
    /* A list again and its watch, of a watch-list a list before the next. */
    if (cut_server_requests(c.server) > usual_requests + 3 * has_cut)
        fail_msg("%zu requests", cut_server_requests(c.server));
    shared_factory_free(factory);
}

static void cut_all(enum watch_list_mode how, size_t requests)
{
    mode = how;
    usual_requests = requests;
    for (enum cut_wire wire = 0; wire < WIRE_COUNT; wire++) {
        alarm(HUNG_S);
        cut_client_open(&c, wire, answer);
        for (unsigned skip = 0; skip < requests; skip++)
            assert_true(cut_each(c.server, skip, run, NULL) > 100);
        cut_client_close(&c);
    }
    buf_clear(&cache);
}

static void test_h10_a_list_or_watch_that_breaks_off_costs_a_warning_and_a_retry(void **state)
{
    cut_all(WATCH_LIST_OFF, 2);
}

static void test_h10_a_watch_list_that_breaks_off_costs_a_warning_and_a_retry(void **state)
{
    cut_all(WATCH_LIST_AUTO, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h10_a_list_or_watch_that_breaks_off_costs_a_warning_and_a_retry),
        cmocka_unit_test(test_h10_a_watch_list_that_breaks_off_costs_a_warning_and_a_retry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
