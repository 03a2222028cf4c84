/* core/informer/shard/pulse.c: the Lease of a member, and the log's lines about its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/log_double.h"
#include "informer/shard/member.h"

/* The requests of the line of renewals wait here until the spec answers. */
static struct {
    struct virtual_clock clock;
    struct shard_member *member;
    enum shard_verb verb;
    char name[SHARD_NAME_MAX], uid[SHARD_UID_MAX]; /* of the request */
    const char *stored_uid;
    shard_done *done;
    void *ctx;
} pulse;

static void send(void *ctx, enum shard_line line, const struct shard_request *request, shard_done *done,
                 void *done_ctx)
{
    if (line != SHARD_LINE_PULSE) return;
    assert_null(pulse.done);
    pulse.verb = request->verb;
    snprintf(pulse.name, sizeof pulse.name, "%s", request->lease.name);
    snprintf(pulse.uid, sizeof pulse.uid, "%s", request->lease.uid);
    pulse.done = done;
    pulse.ctx = done_ctx;
}

static void cancel(void *ctx, enum shard_line line)
{
    if (line == SHARD_LINE_PULSE) pulse.done = NULL;
}

static void ignore(void *ctx) {}

static void respond(enum shard_verb verb, const struct shard_response *response)
{
    shard_done *done = pulse.done;
    assert_non_null(done);
    assert_int_equal(pulse.verb, verb);
    pulse.done = NULL;
    done(pulse.ctx, response);
}

static void succeed(enum shard_verb verb)
{
    struct shard_lease lease = {.version = "1"};
    snprintf(lease.name, sizeof lease.name, "%s", pulse.name);
    snprintf(lease.uid, sizeof lease.uid, "%s", pulse.stored_uid);
    respond(verb, &(struct shard_response){.leases = &lease, .count = 1});
}

static void refuse(enum shard_verb verb, int status)
{
    const struct err err = {.code = ERR_HTTP, .http_status = status, .text = "failed"};
    respond(verb, &(struct shard_response){.err = &err});
}

static int open(void **state)
{
    virtual_clock_init(&pulse.clock);
    pulse.stored_uid = "first";
    pulse.member = shard_member_new(&(struct shard_member_options){.prefix = "one",
                                                                   .times = shard_times_default,
                                                                   .source = {send, cancel, NULL},
                                                                   .clock = &pulse.clock.clock,
                                                                   .seed = 1,
                                                                   .changed = ignore});
    shard_member_start(pulse.member);
    return 0;
}

static int close(void **state)
{
    shard_member_free(pulse.member);
    pulse.done = NULL;
    virtual_clock_clear(&pulse.clock);
    log_take();
    return 0;
}

static void assert_logged(const char *text)
{
    const char *lines = log_take();
    if (!strstr(lines, text)) fail_msg("\"%s\" is not in the log: %s", text, lines);
}

static void test_a_lease_that_was_deleted_is_lost(void **state)
{
    char name[SHARD_NAME_MAX];
    succeed(SHARD_LEASE_CREATE);
    snprintf(name, sizeof name, "%s", pulse.name);
    virtual_clock_advance(&pulse.clock, 5000);
    refuse(SHARD_LEASE_UPDATE, 404);
    assert_logged("W Lost the lease of a shard");
    assert_int_equal(pulse.verb, SHARD_LEASE_CREATE);
    assert_string_not_equal(pulse.name, name);
}

/* Others deleted it as that of a dead replica. */
static void test_the_loss_of_a_lease_that_ran_out_is_logged_too(void **state)
{
    char wanted[SHARD_NAME_MAX + 64];
    succeed(SHARD_LEASE_CREATE);
    snprintf(wanted, sizeof wanted, "W Lost the lease of a shard lease=%s", pulse.name);
    virtual_clock_advance(&pulse.clock, 15000);
    assert_logged("W Lease of a shard was not renewed in time");
    refuse(SHARD_LEASE_UPDATE, 404);
    assert_logged(wanted);
}

/* A create without a response may have failed or succeeded. */
static void test_a_lease_that_never_was_is_not_lost(void **state)
{
    const struct err err = {.code = ERR_TIMEOUT, .text = "no response"};
    respond(SHARD_LEASE_CREATE, &(struct shard_response){.err = &err});
    virtual_clock_advance(&pulse.clock, 1000);
    refuse(SHARD_LEASE_GET, 404);
    assert_null(strstr(log_take(), "Lost the lease"));
}

/* Without the uid a server would create it anew, under the name whose slots others have by then. */
static void test_a_renewal_names_the_lease_that_it_is_of(void **state)
{
    succeed(SHARD_LEASE_CREATE);
    assert_string_equal(pulse.uid, "");
    virtual_clock_advance(&pulse.clock, 5000);
    assert_string_equal(pulse.uid, "first");
    refuse(SHARD_LEASE_UPDATE, 409);
    virtual_clock_advance(&pulse.clock, 0);
    succeed(SHARD_LEASE_GET);
    assert_string_equal(pulse.uid, "first");
    assert_int_equal(pulse.verb, SHARD_LEASE_UPDATE);
}

static void test_a_lease_of_its_name_that_is_another_one_is_lost(void **state)
{
    char name[SHARD_NAME_MAX];
    succeed(SHARD_LEASE_CREATE);
    snprintf(name, sizeof name, "%s", pulse.name);
    virtual_clock_advance(&pulse.clock, 5000);
    refuse(SHARD_LEASE_UPDATE, 409);
    virtual_clock_advance(&pulse.clock, 0);
    pulse.stored_uid = "second";
    succeed(SHARD_LEASE_GET);
    assert_logged("W Lost the lease of a shard");
    assert_int_equal(pulse.verb, SHARD_LEASE_CREATE);
    assert_string_not_equal(pulse.name, name);
    assert_string_equal(pulse.uid, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_lease_that_was_deleted_is_lost),
        TEST(test_the_loss_of_a_lease_that_ran_out_is_logged_too),
        TEST(test_a_lease_that_never_was_is_not_lost),
        TEST(test_a_renewal_names_the_lease_that_it_is_of),
        TEST(test_a_lease_of_its_name_that_is_another_one_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
