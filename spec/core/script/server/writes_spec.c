/* core/script/server/declared.c, bind_write.c, bind_kind.c, write_request.c, lua/k8s/write.lua: what a
 * script's writes send, and what it may send. */
#include "core/script/support/writes.h"

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/server/declared.h"

static void test_each_verb_sends_its_method_place_and_type(void **state)
{
    writes_discover();
    assert_sends("k8s.create(pod)", "POST pods shop/?fieldManager=kubelua application/json: "
                                    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
                                    "\"namespace\":\"shop\",\"resourceVersion\":\"7\"}}");
    assert_sends("k8s.create { apiVersion = 'v1', kind = 'Node', metadata = { generateName = 'n-' } }",
                 "POST nodes /?fieldManager=kubelua application/json: "
                 "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"generateName\":\"n-\"}}");
    assert_sends(
        "k8s.update({ apiVersion = 'v1', kind = 'Pod', metadata = { name = 'a', namespace = 'b' } }, "
        "{ manager = 'a b', dry_run = true })",
        "PUT pods b/a?fieldManager=a%20b&dryRun=All application/json: "
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}");
    assert_sends("k8s.patch(pod, { spec = { a = k8s.null } }, { subresource = 'status' })",
                 "PATCH pods shop/web/status?fieldManager=kubelua application/merge-patch+json: "
                 "{\"spec\":{\"a\":null}}");
    assert_sends("k8s.patch(pod, {}, { type = 'strategic' })",
                 "PATCH pods shop/web?fieldManager=kubelua application/strategic-merge-patch+json: {}");
    assert_sends("k8s.patch({ kind = 'pod', namespace = 'a', name = 'b' }, {}, { type = 'json' })",
                 "PATCH pods a/b?fieldManager=kubelua application/json-patch+json: []");
    assert_sends("k8s.apply({ kind = 'pods', namespace = 'a', name = 'b' }, { spec = {} }, { force = true })",
                 "PATCH pods a/b?fieldManager=kubelua&force=true application/apply-patch+yaml: "
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"namespace\":\"a\"},"
                 "\"spec\":{}}");
    assert_sends(
        "k8s.create({ kind = 'Eviction', apiVersion = 'policy/v1' }, { subresource = 'eviction', of = pod })",
        "POST pods shop/web/eviction?fieldManager=kubelua application/json: "
        "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\"}");
}

static void test_all_of_a_delete_is_in_its_body(void **state)
{
    writes_discover();
    assert_sends("k8s.delete(pod)",
                 "DELETE pods shop/web application/json: {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}");
    assert_sends(
        "k8s.delete(pod, { propagation = 'orphan', lock = true, dry_run = true, grace_period = '5s',\n"
        "  precondition = { uid = 'u' } })",
        "DELETE pods shop/web application/json: {\"apiVersion\":\"v1\",\"dryRun\":[\"All\"],"
        "\"gracePeriodSeconds\":5,\"kind\":\"DeleteOptions\",\"preconditions\":{\"resourceVersion\":\"7\","
        "\"uid\":\"u\"},\"propagationPolicy\":\"Orphan\"}");
}

static void test_a_lock_sends_the_version(void **state)
{
    writes_discover();
    assert_sends("k8s.patch(pod, { metadata = { labels = {} } }, { lock = true })",
                 "PATCH pods shop/web?fieldManager=kubelua application/merge-patch+json: "
                 "{\"metadata\":{\"labels\":{},\"resourceVersion\":\"7\"}}");
    assert_sends("k8s.patch(pod, { { op = 'remove', path = '/a' } }, { type = 'json', lock = true })",
                 "PATCH pods shop/web?fieldManager=kubelua application/json-patch+json: "
                 "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
                 "{\"op\":\"remove\",\"path\":\"/a\"}]");
    assert_sends(
        "k8s.apply(pod, { spec = {} }, { lock = true })",
        "PATCH pods shop/web?fieldManager=kubelua application/apply-patch+yaml: "
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\","
        "\"resourceVersion\":\"7\"},\"spec\":{}}");
}

/* As a view, too. */
static void test_a_list_of_another_object_may_be_a_patch(void **state)
{
    writes_discover();
    writes_start("local object = k8s.patch(pod, {})\n"
                 "k8s.patch(pod, object.ops, { type = 'json', lock = true })");
    writes_answer("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},"
                  "\"ops\":[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/b\"}]}");
    assert_non_null(bench.call);
    assert_string_equal(buf_text(&bench.sent),
                        "PATCH pods shop/web?fieldManager=kubelua application/json-patch+json: "
                        "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
                        "{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/b\"}]");
    writes_answer(NULL);
}

static void test_the_table_of_the_script_is_not_changed(void **state)
{
    writes_discover();
    writes_start("local patch, op = { metadata = {} }, {}\n"
                 "k8s.patch(pod, patch, { lock = true })\n"
                 "tell(next(patch.metadata), next(patch, next(patch)))");
    writes_answer(NULL);
    assert_told("nil nil");
}

static void test_a_write_returns_the_object_or_true_or_an_error(void **state)
{
    writes_discover();
    writes_start(
        "tell(k8s.patch(pod, {}):name(), k8s.delete(pod))\n"
        "local object, err = k8s.patch(pod, {}) tell(object, err.code, err.reason, err)\n"
        "local review = k8s.create(pod) tell(review.kind, review:name(), review:key(), "
        "review.status.allowed)\n"
        "tell(review.metadata.uid, review:uid(), review:label 'a', review == review, #review:json())");
    writes_answer(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}");
    writes_answer(NULL);
    writes_refuse(409, "Conflict");
    writes_answer(
        "{\"apiVersion\":\"v1\",\"kind\":\"TokenReview\",\"metadata\":{},\"status\":{\"allowed\":true}}");
    assert_told("web true nil 409 Conflict no TokenReview nil  true nil nil nil true 80");
}

static void test_a_timeout_is_for_everything(void **state)
{
    writes_discover();
    writes_start("k8s.delete(pod, { timeout = '90s' })");
    assert_int_equal(bench.timeout_ms, 90000);
    writes_answer(NULL);
}

/* Pauses are client-go's: 10 ms and up to a tenth more, four of them. */
static void test_conflicts_are_tried_again_five_times(void **state)
{
    writes_discover();
    writes_start("tell(k8s.retry_on_conflict(function() return k8s.update(pod) end))");
    for (int i = 0; i < 4; i++) {
        writes_refuse(409, "Conflict");
        assert_null(bench.call);
        writes_advance(9);
        assert_null(bench.call);
        writes_advance(2);
        assert_non_null(bench.call);
    }
    writes_refuse(409, "Conflict");
    assert_null(bench.call);
    assert_told("nil no");
}

static void test_other_errors_are_not_tried_again(void **state)
{
    writes_discover();
    writes_start("tell(k8s.retry_on_conflict(function() return k8s.update(pod) end))");
    writes_refuse(409, "AlreadyExists");
    assert_null(bench.call);
    assert_told("nil no");
}

#define LARGE                                                                                              \
    "pod.spec = ('x'):rep(3 * 2^20 - 500) local function write() local ok, why = pcall(k8s.update, pod)\n" \
    "if not ok then tell(why:match '%d: (.*)') end end\n"

static void test_the_bodies_of_writes_that_wait_have_a_limit(void **state)
{
    writes_discover();
    writes_start(LARGE "for i = 1, 23 do k8s.after(1, write) end");
    bench.is_mute = true;
    writes_advance(1000); /* 21 of 3,145,337 bytes wait */
    assert_told("k8s.update: limit write-bodies exceeded: 66052077 bytes in flight, the maximum is 64 MiB "
                "k8s.update: limit write-bodies exceeded: 66052077 bytes in flight, the maximum is 64 MiB");
    script_free(bench.script);
    bench.script = NULL;
}

static void test_bodies_count_until_the_response(void **state)
{
    writes_discover();
    writes_start(LARGE "for i = 1, 23 do write() end tell 'end'");
    for (int i = 0; i < 22; i++) {
        assert_int_equal(bench.script->own.writes->bodies > 3 * 1000 * 1000, true);
        writes_answer(NULL);
    }
    writes_refuse(409, "Conflict");
    assert_told("end");
    assert_int_equal(bench.script->own.writes->bodies, 0);
}

static void test_a_script_may_be_freed_while_it_writes(void **state)
{
    writes_start("k8s.update(pod)");
    assert_null(bench.call);
    script_free(bench.script);
    bench.script = NULL;
    writes_discover();
    writes_start("k8s.update(pod)");
    assert_non_null(bench.call);
    script_free(bench.script);
    bench.script = NULL;
    writes_settle();
}

static void test_what_is_not_declared_is_not_sent(void **state)
{
    writes_discover();
    writes_start("local node = { apiVersion = 'v1', kind = 'Node', metadata = { name = 'n' } }\n"
                 "tell(select(2, pcall(k8s.delete, node)):match ': (.*)')\n"
                 "tell(select(2, pcall(k8s.update, pod, { subresource = 'status' })):match ': (.*)')\n"
                 "tell(select(2, pcall(k8s.apply, pod, {}, { subresource = 'scale' })):match ': (.*)')");
    assert_null(bench.call);
    assert_told(
        "k8s.delete: \"nodes:delete\" is not declared with k8s.writes k8s.update: \"pods/status:update\" is "
        "not declared with k8s.writes k8s.apply: \"pods/scale:apply\" is not declared with k8s.writes");
}

/* C asks again, of what is sent: whatever lua/k8s made of it. */
static void test_a_sent_write_is_declared_whatever_was_sent_before(void **state)
{
    writes_discover();
    bench.script = cluster_load(
        &bench.cluster, "raw",
        "local k8s = require 'k8s'\n"
        "k8s.writes { 'pods/status:patch', 'nodes:create' }\n"
        "local said = {}\n"
        "function told() return table.concat(said, ' ') end\n"
        "local function send(verb, kind, asked, request)\n"
        "  local ok, found = pcall(raw.write.resource, verb, kind, asked)\n"
        "  assert(ok, found)\n"
        "  local ok, why = pcall(raw.write.send, found, request.as or verb, request, {})\n"
        "  said[#said + 1] = why:match ': (.*)'\n"
        "end\n"
        "k8s.main(function()\n"
        "  send('k8s.patch', 'pods', 'status', { namespace = 'a', name = 'b', content_type = 'x' })\n"
        "  send('k8s.patch', 'pods', 'status', { as = 'k8s.apply', namespace = 'a', name = 'b' })\n"
        "  send('k8s.patch', 'pods', 'status', { as = 'k8s.update', namespace = 'a', name = 'b',\n"
        "    subresource = 'status' })\n"
        "  send('k8s.create', 'nodes', nil, { name = 'b', subresource = 'status' })\n"
        "end)\n");
    push_ref(bench.script->L, bench.script, REF_RAW);
    lua_setglobal(bench.script->L, "raw");
    writes_run_main(bench.script);
    assert_null(bench.call);
    assert_told("k8s.patch: \"pods:patch\" is not declared with k8s.writes k8s.apply: \"pods:apply\" is not "
                "declared with k8s.writes k8s.update: \"pods/status:update\" is not declared with k8s.writes "
                "k8s.create: \"nodes/status:create\" is not declared with k8s.writes");
}

/* Discovery takes its time; what a script does to its tables meanwhile is too late. */
static void test_what_a_script_changes_while_a_write_waits_is_not_sent(void **state)
{
    writes_start("local options = { subresource = 'status' }\n"
                 "k8s.after(0, function() options.subresource = nil end)\n"
                 "k8s.apply(pod, {}, options)");
    writes_discover();
    assert_non_null(bench.call);
    assert_string_equal(buf_text(&bench.sent),
                        "PATCH pods shop/web/status?fieldManager=kubelua application/apply-patch+yaml: "
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
                        "\"namespace\":\"shop\"}}");
    writes_answer(NULL);
}

static void test_an_object_is_sent_as_its_place_was_read(void **state)
{
    writes_start("k8s.after(0, function() pod.metadata.name, pod.kind = 'other', 'Node' end)\n"
                 "k8s.update(pod)");
    writes_advance(1);
    writes_discover();
    assert_non_null(bench.call);
    assert_string_equal(buf_text(&bench.sent),
                        "PUT pods shop/web?fieldManager=kubelua application/json: "
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
                        "\"namespace\":\"shop\",\"resourceVersion\":\"7\"}}");
    writes_answer(NULL);
}

/* What is noted of a write is kept: in the trail, as labels of its counter. */
static void test_the_texts_of_a_write_have_limits(void **state)
{
    writes_discover();
    assert_sends("k8s.patch({ kind = 'pods', namespace = ('n'):rep(2), name = 'b' }, {},\n"
                 "  { manager = ('m'):rep(8) .. 'é' })",
                 "PATCH pods nn/b?fieldManager=mmmmmmmm%C3%A9 application/merge-patch+json: {}");
    writes_start("local function said(fn, ...) tell(select(2, pcall(fn, ...)):match ': (.*)') end\n"
                 "local function at(n, m) return { kind = 'pods', namespace = ('n'):rep(n), name = "
                 "('m'):rep(m) } end\n"
                 "said(k8s.patch, at(254, 1), {})\n"
                 "said(k8s.delete, at(1, 1025))\n"
                 "said(k8s.patch, pod, {}, { manager = ('m'):rep(129) })\n"
                 "said(k8s.create, pod, { subresource = ('s'):rep(64), of = pod })\n"
                 "k8s.delete(at(253, 1024))");
    assert_told("k8s.patch: namespace is longer than the limit of 253 bytes "
                "k8s.delete: name is longer than the limit of 1024 bytes "
                "k8s.patch: manager is longer than the limit of 128 bytes "
                "k8s.create: subresource is longer than the limit of 63 bytes");
    assert_non_null(bench.call);
    writes_answer(NULL);
}

/* A CRD may have come a moment ago: discovery is asked once more before the kind is called unknown. */
static void test_an_unknown_kind_that_may_be_declared_starts_discovery(void **state)
{
    writes_discover();
    writes_advance(60000);
    bench.script = cluster_load(
        &bench.cluster, "trees",
        "local k8s = require 'k8s'\n"
        "k8s.writes { 'trees.wood.example:create' }\n"
        "local text\nfunction told() return text end\n"
        "local tree = { apiVersion = 'wood.example/v1', kind = 'Tree', metadata = { name = 'a' } }\n"
        "k8s.main(function() text = select(2, k8s.create(tree)).reason end)\n");
    writes_run_main(bench.script);
    assert_int_equal(bench.asked, 1);
    writes_discover();
    assert_told("NotFound");
}

/* --- declarations */

static void test_the_declared_writes_are_part_of_the_plan(void **state)
{
    writes_start("");
    const struct declarations *declared = script_declared_writes(bench.script);
    assert_int_equal(declared->count, 4);
    assert_string_equal(declared->items[1].text, "pods/status:patch");
}

static bool allows(const char *declared, enum write_verb verb, const char *plural, const char *subresource)
{
    struct declarations writes = {0};
    struct resource resource;
    struct err err;
    assert_true(declare(&writes, &declares_writes, str_of(declared), &err));
    assert_true(kinds_resolve(bench.cluster.parts.kinds, str_of(plural), &resource, &err));
    bool allowed = declared_allow(&writes, &declares_writes, verb, str_of("x/y/z"), str_of(subresource),
                                  &resource, bench.cluster.parts.kinds);
    resource_clear(&resource);
    declarations_clear(&writes);
    return allowed;
}

static void test_declarations_are_read_as_those_of_rbac(void **state)
{
    writes_discover();
    assert_true(allows("Pod:patch", WRITE_PATCH, "pods", ""));
    assert_false(allows("pods:patch", WRITE_UPDATE, "pods", ""));
    assert_true(allows("pods:patch", WRITE_APPLY, "pods", ""));
    assert_true(allows("pods:apply", WRITE_APPLY, "pods", ""));
    assert_true(allows("pods:*", WRITE_APPLY, "pods", ""));
    assert_false(allows("pods:apply", WRITE_PATCH, "pods", ""));
    assert_false(allows("pods:apply", WRITE_CREATE, "pods", ""));
    assert_false(allows("pods:*", WRITE_PATCH, "pods", "status"));
    assert_true(allows("pods/status:*", WRITE_PATCH, "pods", "status"));
    assert_false(allows("pods/status:*", WRITE_PATCH, "pods", ""));
    assert_true(allows("apps/v1/Deployment:delete", WRITE_DELETE, "deployments.apps", ""));
    assert_true(allows("apps/v1/Deployment/scale:update", WRITE_UPDATE, "deployments.apps", "scale"));
    assert_false(allows("deployments.apps:*", WRITE_DELETE, "pods", ""));
    assert_true(allows("*:create", WRITE_CREATE, "pods", "eviction"));
    assert_false(allows("*:create", WRITE_DELETE, "pods", ""));
    assert_true(allows("*/status:patch", WRITE_PATCH, "deployments.apps", "status"));
    assert_false(allows("*/status:patch", WRITE_PATCH, "deployments.apps", ""));
    assert_true(allows("*.apps:patch", WRITE_PATCH, "deployments.apps", "status"));
    assert_false(allows("*.apps:patch", WRITE_PATCH, "pods", ""));
    assert_false(allows("*.pps:patch", WRITE_PATCH, "deployments.apps", ""));
    assert_true(allows("*.apps/status:patch", WRITE_PATCH, "deployments.apps", "status"));
    assert_false(allows("*.apps/status:patch", WRITE_PATCH, "deployments.apps", ""));
}

/* Asked while a script loads, when no server is known yet. */
static void test_leases_are_declared_by_any_of_their_names(void **state)
{
    static const char *const enough[][2] = {
        {"leases.coordination.k8s.io:create", "leases.coordination.k8s.io:update"},
        {"leases:*", "pods:*"},
        {"coordination.k8s.io/v1/Lease:create", "Lease:*"},
        {"*:create", "lease:update"},
        {"*:*", "pods/status:patch"},
        {"*.coordination.k8s.io:create", "*.k8s.io:update"},
    };
    static const char *const too_little[][2] = {
        {"leases:create", "leases:patch"},      {"leases:update", "*:delete"},
        {"leases/status:*", "leases:apply"},    {"leases.example.com:*", "pods:*"},
        {"*/status:create", "*/status:update"}, {"*.coordination.k8s.io/status:*", "*.apps:*"},
    };
    for (size_t i = 0; i < ARRAY_LEN(enough) + ARRAY_LEN(too_little); i++) {
        bool is_enough = i < ARRAY_LEN(enough);
        const char *const *declared = is_enough ? enough[i] : too_little[i - ARRAY_LEN(enough)];
        struct declarations writes = {0};
        struct err err;
        for (size_t k = 0; k < 2; k++)
            assert_true(declare(&writes, &declares_writes, str_of(declared[k]), &err));
        assert_int_equal(declared_allow_leases(&writes), is_enough);
        declarations_clear(&writes);
    }
}

static void test_a_malformed_declaration_is_reported(void **state)
{
    static const char *const bad[] = {
        "",       "pods",        ":patch",        "pods:",   "pods:applied",
        "pods:x", "pods/:patch", "/status:patch", "po ds:*", "pods:create,update",
        "/:*",    "pods:PATCH",  "*.*:patch",     "*.:*",    "*pods:*"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct declarations writes = {0};
        struct err err;
        assert_false(declare(&writes, &declares_writes, str_of(bad[i]), &err));
        assert_int_equal(err.code, ERR_INVALID);
        declarations_clear(&writes);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, writes_setup, writes_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_each_verb_sends_its_method_place_and_type),
        T(test_all_of_a_delete_is_in_its_body),
        T(test_a_lock_sends_the_version),
        T(test_a_list_of_another_object_may_be_a_patch),
        T(test_the_table_of_the_script_is_not_changed),
        T(test_a_write_returns_the_object_or_true_or_an_error),
        T(test_a_timeout_is_for_everything),
        T(test_conflicts_are_tried_again_five_times),
        T(test_other_errors_are_not_tried_again),
        T(test_the_bodies_of_writes_that_wait_have_a_limit),
        T(test_bodies_count_until_the_response),
        T(test_a_script_may_be_freed_while_it_writes),
        T(test_what_is_not_declared_is_not_sent),
        T(test_a_sent_write_is_declared_whatever_was_sent_before),
        T(test_what_a_script_changes_while_a_write_waits_is_not_sent),
        T(test_an_object_is_sent_as_its_place_was_read),
        T(test_the_texts_of_a_write_have_limits),
        T(test_an_unknown_kind_that_may_be_declared_starts_discovery),
        T(test_the_declared_writes_are_part_of_the_plan),
        T(test_declarations_are_read_as_those_of_rbac),
        T(test_leases_are_declared_by_any_of_their_names),
        T(test_a_malformed_declaration_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
