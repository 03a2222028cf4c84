/* core/informer/group/shards_source.c: the list of the Leases of a group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"
#include "informer/group/shards_internal.h"

/* A list that the spec answers. */
struct lw_call {
    const struct lw_sink *sink;
    void *ctx;
};

struct lease_list {
    struct list_watch base;
    struct lw_call call;
};

struct listing {
    struct loop *loop;
    struct shards *shards;
    struct lease_list list;
    struct err err;
    size_t count, responses;
};

static struct lw_call *start_list(struct list_watch *base, const struct lw_options *options,
                                  const struct lw_sink *sink, void *ctx)
{
    struct lease_list *list = container_of(base, struct lease_list, base);
    list->call = (struct lw_call){sink, ctx};
    return &list->call;
}

static void cancel_list(struct lw_call *call) {}

static void free_list(struct list_watch *base) {}

static struct list_watch *new_list(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start_list, cancel_list, free_list, NULL, NULL, NULL};
    struct listing *listing = ctx;
    listing->list.base.ops = &ops;
    return &listing->list.base;
}

static void on_response(void *ctx, const struct shard_response *response)
{
    struct listing *listing = ctx;
    listing->responses++;
    listing->count = response->count;
    listing->err = response->err ? *response->err : (struct err){0};
}

static void begin(struct listing *listing)
{
    const struct shard_source source = shards_source(listing->shards);
    source.send(source.ctx, SHARD_LINE_DUTY,
                &(struct shard_request){.verb = SHARD_LEASES_LIST, .timeout_ms = 60000}, on_response,
                listing);
    struct lw_call *call = &listing->list.call;
    call->sink->item(call->ctx, object("default/a@1"));
}

static void finish(struct listing *listing)
{
    struct lw_call *call = &listing->list.call;
    call->sink->list_end(call->ctx, &(struct lw_list_meta){STR("1"), STR(""), -1, false, false});
    call->sink->done(call->ctx, NULL);
    for (int i = 0; i < 5; i++) loop_once(listing->loop, false);
}

/* It may be that of a live member, whose slots would be given to another one. */
static void test_a_list_with_a_lease_that_cannot_be_read_is_none(void **state)
{
    struct listing listing = {.loop = loop_new()};
    const struct err wrong = {.code = ERR_LIMIT, .text = "Lease default/b: larger than 8Mi"};
    const struct lw_refusal refusal = {.err = &wrong, .ns = STR("default"), .name = STR("b")};
    objects_open();
    listing.shards = shards_new(&(struct shards_options){.engine_loop = listing.loop,
                                                         .io_loop = listing.loop,
                                                         .new_source = new_list,
                                                         .source_ctx = &listing,
                                                         .namespace_ = "default",
                                                         .group = "team",
                                                         .identity = "one"});
    begin(&listing);
    listing.list.call.sink->refused(listing.list.call.ctx, &refusal);
    finish(&listing);
    assert_int_equal(listing.responses, 1);
    assert_string_equal(listing.err.text, wrong.text);
    begin(&listing); /* the next one has no such Lease */
    finish(&listing);
    assert_int_equal(listing.responses, 2);
    assert_int_equal(listing.err.code, ERR_NONE);
    assert_int_equal(listing.count, 1);
    shards_free(listing.shards);
    loop_free(listing.loop);
    objects_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_with_a_lease_that_cannot_be_read_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
