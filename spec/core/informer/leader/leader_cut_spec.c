/* core/informer/leader/leadership.c over real connections: the requests of an election whose answers break
 * off at any byte, over each protocol. None costs leadership, and each costs a warning at most (H-4, L-3). */
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
#include "core/kube/support/cut_client.h"
#include "informer/leader/leadership.h"

enum { HUNG_S = 120 };

static struct cut_client c;
static struct leaders *leaders;
static bool lease_is_there;
static size_t updates;

#define LEASE                                                                                         \
    "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"rules\"," \
    "\"namespace\":\"ops\",\"resourceVersion\":\"5\"},\"spec\":{\"holderIdentity\":\"me\","           \
    "\"leaseDurationSeconds\":10,\"leaseTransitions\":0}}"

static const struct cut_answer lease = {.status = 200,
                                        .headers = "Content-Type: application/json\r\n",
                                        .pieces = (const char *const[]){LEASE, NULL}};
static const struct cut_answer no_lease = {
    .status = 404,
    .headers = "Content-Type: application/json\r\n",
    .pieces = (const char *const[]){"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                                    "\"reason\":\"NotFound\",\"code\":404}",
                                    NULL}};

static const struct cut_answer *answer(void *ctx, const char *method, const char *path)
{
    bool is_lease = strstr(path, "/leases") != NULL;
    if (is_lease && strcmp(method, "POST") == 0) lease_is_there = true;
    updates += is_lease && strcmp(method, "PUT") == 0;
    return is_lease && lease_is_there ? &lease : &no_lease;
}

static struct object_call *call(void *ctx, const struct object_request *request, object_done *done,
                                void *done_ctx)
{
    return object_call_start(c.client, request, done, done_ctx);
}

static void on_changed(void *ctx) {}

static bool leads(void)
{
    struct leadership_status status;
    leadership_get_status(leaders_at(leaders, 0), &status);
    return status.leads;
}

/* An election from its start until the answer was broken off, or came whole, and renewals go on. */
static void run(void *ctx)
{
    const struct lease_config config = {.namespace_ = "ops", .name = "rules", .times = {10000, 5000, 1}};
    struct err err;
    lease_is_there = false;
    log_take();
    leaders = leaders_new(&(struct leaders_options){.engine_loop = c.loop,
                                                    .io_loop = c.loop,
                                                    .caller = {call, object_call_cancel, NULL},
                                                    .changed = on_changed,
                                                    .identity = "me",
                                                    .seed = 1});
    assert_non_null(leaders_join(leaders, &config, &err));
    leaders_start(leaders);
    while (cut_server_is_armed(c.server)) loop_once(c.loop, true);
    updates = 0;
    while (!leads() || updates < 2) loop_once(c.loop, true);
    size_t lines = log_lines(); /* "Became leader" is one */
    const char *log = log_take();
    if (strstr(log, "Stopped leading") || lines > 1U + cut_server_has_cut(c.server)) fail_msg("%s", log);
    leaders_end(leaders);
    leaders_free(leaders);
}

static void test_l3_no_response_that_breaks_off_costs_leadership(void **state)
{
    enum { LOOK_CREATE_UPDATE_EVENT = 4 };
    for (enum cut_wire wire = 0; wire < WIRE_COUNT; wire++) {
        alarm(HUNG_S);
        cut_client_open(&c, wire, answer);
        for (unsigned skip = 0; skip < LOOK_CREATE_UPDATE_EVENT; skip++)
            assert_true(cut_each(c.server, skip, run, NULL) > 50);
        cut_client_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_l3_no_response_that_breaks_off_costs_leadership),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
