/* Lists in every form and encoding: the same content in one piece, in blocks and in pages, made item by item.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/api/encode.h"
#include "sim/proto/wire.h"
#include "sim/text/protobuf.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

#define CONFIGMAPS "GET /api/v1/namespaces/default/configmaps"
#define PROTOBUF   "application/vnd.kubernetes.protobuf"
#define AS(form)   ";as=" form ";g=meta.k8s.io;v=v1"

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

/* The body of a list that begins, in blocks of that size. */
static struct buf read_list(const char *accept, const char *request, size_t room)
{
    struct sim_reply reply;
    struct buf body = {0};
    ssize_t n;
    cluster.accept = accept;
    sim_cluster_call(&cluster, request, "", NULL, &reply);
    cluster.accept = NULL;
    assert_int_equal(reply.code, 200);
    assert_non_null(reply.stream);
    while ((n = reply.stream->read(reply.stream, buf_reserve(&body, room), room)) > 0) {
        assert_true((size_t)n <= room);
        body.len += (size_t)n;
    }
    assert_int_equal(n, SIM_STREAM_END);
    sim_reply_clear(&reply);
    return body;
}

static bool is_protobuf(const char *accept)
{
    return strncmp(accept, PROTOBUF, strlen(PROTOBUF)) == 0;
}

/* The message in an envelope. */
static struct str raw_of(struct str body)
{
    struct str raw = {0};
    assert_memory_equal(body.p, "k8s", 4);
    assert_true(sim_protobuf_find((struct str){body.p + 4, body.n - 4}, 2, &raw));
    assert_true(raw.p + raw.n == body.p + body.n); /* the length is that of all that came */
    return raw;
}

/* The items, or rows, as texts or messages, and the token of the next page. */
struct content {
    json_t *items; /* of protobuf the bytes of each in base64 */
    char *token;
};

static void take_messages(struct content *content, struct str raw, bool beta)
{
    struct sim_protobuf_field field, meta;
    while (sim_protobuf_next(&raw, &field)) {
        struct str inner = field.value;
        bool is_item = (field.number == 1) == beta;
        char hex[3];
        if (!is_item)
            while (sim_protobuf_next(&inner, &meta))
                if (meta.number == 3) content->token = xstrndup(meta.value.p, meta.value.n);
        if (!is_item) continue;
        struct buf text = {0};
        for (size_t i = 0; i < field.value.n; i++) {
            snprintf(hex, sizeof hex, "%02x", (unsigned char)field.value.p[i]);
            buf_puts(&text, hex);
        }
        json_array_append_new(content->items, json_stringn(text.data, text.len));
        buf_clear(&text);
    }
    assert_int_equal(raw.n, 0);
}

static struct content content_of(const char *accept, struct buf *body)
{
    struct content content = {.items = json_array()};
    struct err err;
    if (is_protobuf(accept)) {
        take_messages(&content, raw_of(buf_slice(body)), strstr(accept, "v1beta1"));
    } else {
        json_t *list = strstr(accept, "yaml") ? sim_read_yaml(buf_slice(body), false, &err)
                                              : json_loadb(body->data, body->len, 0, NULL);
        json_t *items = json_object_get(list, json_object_get(list, "rows") ? "rows" : "items");
        if (!list) fail_msg("%s: %s", accept, buf_text(body));
        const char *token = sim_text_at(list, "metadata.continue");
        json_array_extend(content.items, items);
        if (*token) content.token = xstrdup(token);
        json_decref(list);
    }
    buf_clear(body);
    return content;
}

static json_t *items_of(const char *accept, const char *request)
{
    struct buf body = read_list(accept, request, 1 << 20);
    struct content content = content_of(accept, &body);
    free(content.token);
    return content.items;
}

static void test_the_bytes_do_not_depend_on_the_size_of_the_blocks(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf whole = read_list(forms[i], CONFIGMAPS, 1 << 20);
        for (size_t room = 1; room < 400; room += 57) {
            struct buf pieces = read_list(forms[i], CONFIGMAPS, room);
            assert_int_equal(pieces.len, whole.len);
            assert_memory_equal(pieces.data, whole.data, whole.len);
            buf_clear(&pieces);
        }
        buf_clear(&whole);
    }
}

static void test_pages_have_what_the_whole_list_has(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        json_t *whole = items_of(forms[i], CONFIGMAPS), *paged = json_array();
        char *token = xstrdup("");
        assert_int_equal(json_array_size(whole), 7);
        for (size_t pages = 0; token; pages++) {
            char *request = xasprintf(CONFIGMAPS "?limit=3%s%s", *token ? "&continue=" : "", token);
            struct buf body = read_list(forms[i], request, 1 << 20);
            struct content page = content_of(forms[i], &body);
            json_array_extend(paged, page.items);
            json_decref(page.items);
            free(request);
            free(token);
            token = page.token;
            assert_true(pages < 3);
        }
        assert_true(json_equal(whole, paged));
        json_decref(whole);
        json_decref(paged);
    }
}

/* One object as a client gets it. */
static json_t *single(const char *accept, const char *name)
{
    struct sim_reply reply;
    char *request = xasprintf(CONFIGMAPS "/%s", name);
    cluster.accept = accept;
    sim_cluster_call(&cluster, request, "", NULL, &reply);
    cluster.accept = NULL;
    assert_int_equal(reply.code, 200);
    json_t *object = json_loadb(reply.text.data, reply.text.len, 0, NULL);
    sim_reply_clear(&reply);
    free(request);
    return object;
}

static void test_items_are_the_objects(void **state)
{
    json_t *rows = items_of("application/json" AS("Table"), CONFIGMAPS "?includeObject=Object");
    json_t *table = single("application/json" AS("Table"), "c"), *object = single("application/json", "c");
    json_t *partial = single("application/json" AS("PartialObjectMetadata"), "c"), *items;
    assert_true(json_equal(json_object_get(json_array_get(rows, 2), "object"), object));
    json_decref(rows);
    rows = items_of("application/json" AS("Table"), CONFIGMAPS);
    assert_true(json_equal(json_array_get(rows, 2), json_array_get(json_object_get(table, "rows"), 0)));
    assert_true(json_equal(json_object_get(json_array_get(rows, 2), "object"), partial));
    items = items_of("application/json" AS("PartialObjectMetadataList"), CONFIGMAPS);
    assert_true(json_equal(json_array_get(items, 2), partial));
    json_decref(items);
    items = items_of("application/json", CONFIGMAPS);
    json_object_del(object, "kind");
    json_object_del(object, "apiVersion");
    assert_true(json_equal(json_array_get(items, 2), object));
    json_decref(items);
    json_decref(rows);
    json_decref(table);
    json_decref(object);
    json_decref(partial);
}

/* The message of an item is that of the object. */
static void test_messages_are_those_of_the_objects(void **state)
{
    struct buf body = read_list(PROTOBUF, CONFIGMAPS "?fieldSelector=metadata.name=d", 1 << 20), bytes = {0};
    json_t *object = single("application/json", "d");
    struct str item = {0};
    assert_true(sim_protobuf_find(raw_of(buf_slice(&body)), 2, &item));
    struct buf text = {0};
    sim_put_json(&text, object);
    assert_true(sim_wire_put(&bytes, buf_slice(&text)));
    struct str message = raw_of(buf_slice(&bytes));
    assert_int_equal(item.n, message.n);
    assert_memory_equal(item.p, message.p, item.n);
    buf_clear(&body);
    buf_clear(&bytes);
    buf_clear(&text);
    json_decref(object);
}

static void test_selectors_and_limits_choose_the_same_everywhere(void **state)
{
    static const struct {
        const char *query;
        size_t count;
    } vectors[] = {{"?fieldSelector=metadata.name=c", 1},
                   {"?fieldSelector=metadata.name!=c", 6},
                   {"?labelSelector=none", 0},
                   {"?labelSelector=!none", 7},
                   {"?limit=2", 2},
                   {"?limit=2&resourceVersion=0", 7},
                   {"?labelSelector=!none&limit=4", 4}};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (size_t v = 0; v < ARRAY_LEN(vectors); v++) {
            char *request = xasprintf(CONFIGMAPS "%s", vectors[v].query);
            json_t *items = items_of(forms[i], request);
            if (json_array_size(items) != vectors[v].count)
                fail_msg("%s %s: %zu", forms[i], request, json_array_size(items));
            json_decref(items);
            free(request);
        }
}

static void test_a_list_shows_the_state_of_its_beginning(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct sim_reply reply;
        struct buf body = {0};
        ssize_t n;
        json_t *before = items_of(forms[i], CONFIGMAPS);
        cluster.accept = forms[i];
        sim_cluster_call(&cluster, CONFIGMAPS, "", NULL, &reply);
        cluster.accept = NULL;
        n = reply.stream->read(reply.stream, buf_reserve(&body, 300), 300);
        body.len += (size_t)n;
        json_decref(sim_cluster_json(&cluster, "DELETE /api/v1/namespaces/default/configmaps/g", NULL, 200));
        while ((n = reply.stream->read(reply.stream, buf_reserve(&body, 300), 300)) > 0)
            body.len += (size_t)n;
        sim_reply_clear(&reply);
        struct content content = content_of(forms[i], &body);
        assert_true(json_equal(before, content.items));
        json_decref(before);
        json_decref(content.items);
        free(content.token);
        sim_cluster_make(&cluster, "g");
    }
}

static void expect_whole(const char *accept, const char *request, const char *start, const char *end)
{
    struct buf body = read_list(accept, request, 1 << 20);
    const char *text = buf_text(&body);
    if (strncmp(text, start, strlen(start)) != 0 || body.len < strlen(end) ||
        strcmp(text + body.len - strlen(end), end) != 0)
        fail_msg("%s: %s", accept, text);
    buf_clear(&body);
}

static void test_lists_without_items(void **state)
{
    const char *pods = "GET /api/v1/pods";
    expect_whole("application/json", pods, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",",
                 ",\"items\":[]}\n");
    expect_whole(forms[1], pods,
                 "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"",
                 ",\"rows\":[]}\n");
    expect_whole(forms[3], pods, "{\"kind\":\"PartialObjectMetadataList\",", ",\"items\":null}\n");
    expect_whole("application/yaml", pods, "apiVersion: v1\nitems: []\nkind: PodList\nmetadata:\n", "\"\n");
    struct buf body = read_list(PROTOBUF, pods, 1 << 20);
    struct str item;
    assert_false(sim_protobuf_find(raw_of(buf_slice(&body)), 2, &item));
    buf_clear(&body);
}

static void test_yaml_is_that_of_the_whole_list(void **state)
{
    static const char *const yaml[] = {"application/yaml", "application/yaml" AS("Table"),
                                       "application/yaml" AS("PartialObjectMetadataList")};
    static const size_t as_json[] = {0, 1, 3};
    for (size_t i = 0; i < ARRAY_LEN(yaml); i++) {
        struct buf json = read_list(forms[as_json[i]], CONFIGMAPS, 1 << 20), whole = {0};
        struct buf body = read_list(yaml[i], CONFIGMAPS, 100);
        json_t *list = json_loadb(json.data, json.len, 0, NULL);
        sim_put_yaml(&whole, list);
        assert_string_equal(buf_text(&body), buf_text(&whole));
        json_decref(list);
        buf_clear(&json);
        buf_clear(&body);
        buf_clear(&whole);
    }
}

/* The version of the form, and the numbers of metadata and items, are those of a v1.36 server. */
static void test_lists_of_metadata_say_their_version(void **state)
{
    struct buf v1 = read_list(forms[8], CONFIGMAPS, 1 << 20), beta = read_list(forms[9], CONFIGMAPS, 1 << 20);
    struct str raw = raw_of(buf_slice(&v1)), old = raw_of(buf_slice(&beta));
    struct sim_protobuf_field field, other;
    assert_memory_equal(v1.data + 4, "\x0a\x2b\x0a\x0emeta.k8s.io/v1\x12\x19PartialObjectMetadataList", 45);
    assert_memory_equal(beta.data + 4, "\x0a\x30\x0a\x13meta.k8s.io/v1beta1\x12\x19PartialObjectMetadataList",
                        50);
    while (sim_protobuf_next(&raw, &field)) {
        assert_true(sim_protobuf_next(&old, &other));
        assert_int_equal(field.number + other.number, 3);
        assert_true(str_eq(field.value, other.value));
    }
    assert_int_equal(old.n, 0);
    buf_clear(&v1);
    buf_clear(&beta);
}

static void test_cells_have_what_stands_last_in_metadata(void **state)
{
    const char *path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    const char *body =
        "{\"kind\":\"ControllerRevision\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"r\","
        "\"managedFields\":[{}],\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
        "\"StatefulSet\",\"name\":\"web\",\"uid\":\"u\",\"controller\":true}]},\"data\":{\"a\":1},"
        "\"revision\":1}";
    char *request = xasprintf("POST %s", path);
    json_decref(sim_cluster_json(&cluster, request, body, 201));
    free(request);
    request = xasprintf("PUT %s/r", path);
    json_decref(sim_cluster_json(&cluster, request, body, 200));
    free(request);
    request = xasprintf("GET %s", path);
    json_t *rows = items_of(forms[1], request);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(json_array_get(rows, 0), "cells"), 1)),
        "statefulset.apps/web");
    free(request);
    json_decref(rows);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_bytes_do_not_depend_on_the_size_of_the_blocks),
        TEST(test_pages_have_what_the_whole_list_has),
        TEST(test_items_are_the_objects),
        TEST(test_messages_are_those_of_the_objects),
        TEST(test_selectors_and_limits_choose_the_same_everywhere),
        TEST(test_a_list_shows_the_state_of_its_beginning),
        TEST(test_lists_without_items),
        TEST(test_yaml_is_that_of_the_whole_list),
        TEST(test_lists_of_metadata_say_their_version),
        TEST(test_cells_have_what_stands_last_in_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
