/* Lists as streams: what they take of memory while they are read, and how they end before their end. */
#include <malloc.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"

#define CONFIGMAPS "GET /api/v1/namespaces/default/configmaps"
#define PROTOBUF   "application/vnd.kubernetes.protobuf"
#define AS(form)   ";as=" form ";g=meta.k8s.io;v=v1"

/* Sanitizers have an allocator of their own, of which mallinfo2 knows nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

enum { MANY = 1000, LARGE = 4000 };

static struct sim_cluster cluster;
static struct virtual_clock still; /* ages do not change between two lists */

static int set_up(void **state)
{
    sim_cluster_init(&cluster, 0);
    virtual_clock_init(&still);
    cluster.api.clock = &still.clock;
    for (char name[2] = "a"; *name < 'h'; ++*name) sim_cluster_make(&cluster, name);
    return 0;
}

static int tear_down(void **state)
{
    sim_cluster_clear(&cluster);
    virtual_clock_clear(&still);
    return 0;
}

static const char *const forms[] = {
    "application/json",
    "application/json" AS("Table"),
    "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
    "application/json" AS("PartialObjectMetadataList"),
    "application/yaml",
    "application/yaml" AS("Table"),
    "application/yaml" AS("PartialObjectMetadataList"),
    PROTOBUF,
    PROTOBUF AS("PartialObjectMetadataList"),
    PROTOBUF ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1",
};

/* Bytes that malloc gave, and those that it took from the system for large blocks. */
static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static bool sees(size_t bytes)
{
    size_t before = in_use();
    char *volatile block = xmalloc(bytes);
    size_t grown = in_use() - before;
    free(block);
    return grown >= bytes;
}

/* Reads a list of several megabytes; returns by how much the memory in use grew at most. */
static size_t growth(const char *accept, size_t *length)
{
    struct sim_reply reply;
    char *block = xmalloc(16 << 10);
    size_t before = in_use(), most = 0;
    ssize_t n;
    *length = 0;
    cluster.accept = accept;
    sim_cluster_call(&cluster, CONFIGMAPS, "", NULL, &reply);
    cluster.accept = NULL;
    while ((n = reply.stream->read(reply.stream, block, 16 << 10)) > 0) {
        size_t now = in_use();
        *length += (size_t)n;
        if (now > before && now - before > most) most = now - before;
    }
    sim_reply_clear(&reply);
    free(block);
    return most;
}

static void make_many(void)
{
    struct buf body = {0};
    for (size_t i = 0; i < MANY; i++) {
        body.len = 0;
        buf_printf(&body,
                   "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"m%zu\","
                   "\"annotations\":{\"a\":\"%0*d\"}}}",
                   i, LARGE, 0);
        json_decref(
            sim_cluster_json(&cluster, "POST /api/v1/namespaces/default/configmaps", buf_text(&body), 201));
    }
    buf_clear(&body);
}

static void test_the_memory_of_a_list_is_that_of_a_few_objects(void **state)
{
    if (IS_SANITIZED) skip();
    assert_true(sees(64 << 10) && sees((size_t)MANY * LARGE));
    make_many();
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        size_t length, grown = growth(forms[i], &length);
        assert_true(length > (size_t)MANY * LARGE);
        if (grown > 512 << 10) fail_msg("%s: %zu bytes for a list of %zu", forms[i], grown, length);
    }
}

/* As sanitizers see; without them it shows that nothing is read from a list that was freed. */
static void test_a_list_that_is_not_read_to_its_end_leaks_nothing(void **state)
{
    char block[200];
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct sim_reply reply;
        cluster.accept = forms[i];
        sim_cluster_call(&cluster, CONFIGMAPS, "", NULL, &reply);
        cluster.accept = NULL;
        assert_true(reply.stream->read(reply.stream, block, sizeof block) > 0);
        sim_reply_clear(&reply);
    }
}

/* The first read of a list in protobuf, of which nothing can be sent before all items are measured. */
static void test_nothing_is_measured_for_a_client_that_went_away(void **state)
{
    for (int gone = 0; gone < 2; gone++) {
        struct sim_reply reply;
        char block[200];
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        cluster.accept = PROTOBUF;
        cluster.fd = ends[0];
        sim_cluster_call(&cluster, CONFIGMAPS, "", NULL, &reply);
        cluster.accept = NULL;
        cluster.fd = 0;
        if (gone) close(ends[1]);
        ssize_t n = reply.stream->read(reply.stream, block, sizeof block);
        assert_true(gone ? n == SIM_STREAM_BROKEN : n > 0);
        sim_reply_clear(&reply);
        if (!gone) close(ends[1]);
        close(ends[0]);
    }
}

/* Returns how a list ends. */
static ssize_t read_all(const char *accept)
{
    struct sim_reply reply;
    char block[200];
    ssize_t n;
    cluster.accept = accept;
    sim_cluster_call(&cluster, CONFIGMAPS, "", NULL, &reply);
    cluster.accept = NULL;
    while ((n = reply.stream->read(reply.stream, block, sizeof block)) > 0) continue;
    sim_reply_clear(&reply);
    return n;
}

/* An object that is no JSON, which cannot be, ends the list: its length would not be that of the items. */
static void test_an_item_that_cannot_be_encoded_breaks_the_list(void **state)
{
    struct sim_served *served = sim_store_found(cluster.api.store, "", "v1", "configmaps");
    for (int measured = 0; measured < 2; measured++) {
        struct sim_object *object = sim_store_ref(cluster.api.store, served->resource, "default/d");
        if (measured) assert_int_equal(read_all(PROTOBUF), SIM_STREAM_END);
        ((char *)object->text)[1] = '!';
        assert_int_equal(read_all(PROTOBUF), SIM_STREAM_BROKEN);
        ((char *)object->text)[1] = '"';
        sim_store_release(cluster.api.store, object);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_memory_of_a_list_is_that_of_a_few_objects),
        TEST(test_a_list_that_is_not_read_to_its_end_leaks_nothing),
        TEST(test_nothing_is_measured_for_a_client_that_went_away),
        TEST(test_an_item_that_cannot_be_encoded_breaks_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
