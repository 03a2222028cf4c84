/* core/object/pack/projection.c and pack_projected.c: what is kept of an object while it is packed. */
#include "object/pack/projection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/object/support/objects.h"
#include "object/value/path.h"

enum { PATHS = 4, DEPTH = 12 };

static struct projection *projection_of(const char *const *fields, size_t field_count,
                                        const char *const *prune, size_t prune_count)
{
    struct err err;
    struct projection *p = projection_new((struct projection_paths){fields, field_count},
                                          (struct projection_paths){prune, prune_count}, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static struct projection *prune(const char *path)
{
    return projection_of(NULL, 0, &path, 1);
}

static struct projection *fields(const char *path)
{
    return projection_of(&path, 1, NULL, 0);
}

static struct root *pack_by(struct packer *packer, const char *json, const struct projection *projection)
{
    const struct pack_type type = {.api_version = STR("v1"), .kind = STR("Thing"), .projection = projection};
    size_t len = strlen(json);
    struct root *root;
    struct err err;
    char *padded = xcalloc(1, len + TAPE_PADDING);
    memcpy(padded, json, len);
    if (!pack_text(packer, padded, len, &type, &root, &err)) fail_msg("%s", err.text);
    free(padded);
    return root;
}

/* Takes the projection. */
static void assert_kept(struct fixture *f, const char *json, struct projection *projection,
                        const char *expected)
{
    struct root *root = pack_by(f->packer, json, projection);
    assert_string_equal(json_of(root_value(root)), expected);
    root_unref(root);
    projection_unref(projection);
}

#define POD(spec) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}" spec "}"

static void test_prune_drops_what_a_path_names(void **state)
{
    struct fixture *f = *state;
    assert_kept(f, POD(",\"spec\":{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"), prune("spec.b.c"),
                POD(",\"spec\":{\"a\":1,\"b\":{\"d\":3}}"));
    assert_kept(f, POD(",\"spec\":{\"a\":1}"), prune("spec"), POD(""));
    assert_kept(f, POD(",\"spec\":{\"a\":1}"), prune("spec.a"), POD(",\"spec\":{}"));
    assert_kept(f, POD(",\"spec\":{\"a\":1}"), prune("status.a"), POD(",\"spec\":{\"a\":1}"));
    assert_kept(f, POD(",\"spec\":{\"a.b/c\":1,\"d\":2}"), prune("spec['a.b/c']"),
                POD(",\"spec\":{\"d\":2}"));
}

static void test_prune_reaches_into_every_element(void **state)
{
    struct fixture *f = *state;
    assert_kept(f, POD(",\"spec\":{\"containers\":[{\"name\":\"x\",\"env\":[1]},{\"env\":[2]},3]}"),
                prune("spec.containers[*].env"), POD(",\"spec\":{\"containers\":[{\"name\":\"x\"},{},3]}"));
    assert_kept(f, POD(",\"data\":{\"a\":{\"x\":1,\"y\":2},\"b\":{\"x\":3}}"), prune("data[*].x"),
                POD(",\"data\":{\"a\":{\"y\":2},\"b\":{}}"));
    assert_kept(f, POD(",\"l\":[{\"type\":\"A\",\"v\":1},{\"type\":\"B\",\"v\":2},{\"type\":7},{}]"),
                prune("l[?type=='A']"), POD(",\"l\":[{\"type\":\"B\",\"v\":2},{\"type\":7},{}]"));
    assert_kept(f, POD(",\"l\":[{\"type\":\"A\",\"v\":1},{\"type\":\"B\",\"v\":2}]"),
                prune("l[?type=='A'].v"), POD(",\"l\":[{\"type\":\"A\"},{\"type\":\"B\",\"v\":2}]"));
}

static void test_fields_keep_what_a_path_names_and_who_it_is(void **state)
{
    struct fixture *f = *state;
    const char *json =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
        "\"uid\":\"u\",\"resourceVersion\":\"7\",\"labels\":{\"x\":\"y\"}},"
        "\"spec\":{\"nodeName\":\"k\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"},4]},"
        "\"status\":{\"phase\":\"Running\"}}";
#define KEPT                                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":" \
    "\"u\","                                                                                            \
    "\"resourceVersion\":\"7\"}"
    assert_kept(f, json, fields("status.phase"), KEPT ",\"status\":{\"phase\":\"Running\"}}");
    assert_kept(f, json, fields("spec.containers[*].image"),
                KEPT ",\"spec\":{\"containers\":[{\"image\":\"i\"}]}}");
    assert_kept(f, json, fields("spec.nodeName.deeper"), KEPT ",\"spec\":{}}");
    assert_kept(f, json, fields("nothing"), KEPT "}");
}

static void test_prune_takes_from_what_fields_keep(void **state)
{
    struct fixture *f = *state;
    const char *keep[] = {"spec"}, *drop[] = {"spec.b"};
    assert_kept(f, POD(",\"spec\":{\"a\":1,\"b\":2},\"status\":{\"b\":3}"), projection_of(keep, 1, drop, 1),
                POD(",\"spec\":{\"a\":1}"));
}

static void assert_refused(const char *field, const char *drop, const char *expected)
{
    struct err err;
    const char *const none[] = {NULL};
    struct projection *p = projection_new((struct projection_paths){field ? &field : none, field != NULL},
                                          (struct projection_paths){drop ? &drop : none, drop != NULL}, &err);
    assert_null(p);
    assert_string_equal(err.text, expected);
}

static void test_paths_that_cannot_be_followed_are_refused(void **state)
{
    assert_refused("a..b", NULL, "fields: path \"a..b\": empty name at 3");
    assert_refused(NULL, "[*].a", "prune: path \"[*].a\": must begin with a name");
    assert_refused(NULL, "spec.containers[0]",
                   "prune: path \"spec.containers[0]\": [0] is not supported here, only names, [*] and "
                   "[?name=='text']");
}

static void test_who_it_is_cannot_be_pruned(void **state)
{
    static const char *const paths[] = {"metadata",      "kind",
                                        "apiVersion",    "metadata.uid",
                                        "metadata.name", "metadata.namespace",
                                        "metadata[*]",   "metadata.resourceVersion"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        char *expected = xasprintf("prune: path \"%s\": identifying fields cannot be dropped", paths[i]);
        assert_refused(NULL, paths[i], expected);
        free(expected);
    }
}

static void test_there_is_a_limit_of_paths(void **state)
{
    const char *texts[PROJECTION_PATHS_MAX + 5];
    char store[ARRAY_LEN(texts)][8];
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        snprintf(store[i], sizeof store[i], "a%zu", i);
        texts[i] = store[i];
    }
    struct projection_paths none = {0};
    struct projection *p = projection_new((struct projection_paths){texts, PROJECTION_PATHS_MAX}, none, &err);
    assert_non_null(p);
    projection_unref(p);
    p = projection_new((struct projection_paths){texts, ARRAY_LEN(texts)}, none, &err);
    assert_null(p);
    assert_string_equal(err.text, "fields: more than 60 paths");
}

static void test_the_same_paths_are_the_same_projection(void **state)
{
    const char *a[] = {"spec.x", "metadata.labels", "spec.x"}, *b[] = {"metadata.labels", "spec.x"};
    struct projection *first = projection_of(a, 3, b, 2), *second = projection_of(b, 2, a, 3);
    assert_string_equal(projection_text(first), "fields metadata.labels,spec.x prune metadata.labels,spec.x");
    assert_string_equal(projection_text(first), projection_text(second));
    assert_true(projection_hash(first) == projection_hash(second));
    assert_true(projection_hash(NULL) != projection_hash(first));
    projection_unref(first);
    projection_unref(second);
}

/* The memory of texts knows by which projection an object was made of its text. */
static void test_projections_share_a_pool_without_taking_each_others_objects(void **state)
{
    struct fixture *f = *state;
    const char *json = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"},\"spec\":{\"x\":1,\"y\":2}}";
    struct projection *no_x = prune("spec.x"), *no_z = prune("spec.z");
    struct root *whole = pack_by(f->packer, json, NULL), *part = pack_by(f->packer, json, no_x);
    assert_ptr_not_equal(whole, part);
    for (int i = 0; i < 2; i++) {
        struct root *again = pack_by(f->packer, json, NULL), *part_again = pack_by(f->packer, json, no_x);
        struct root *same = pack_by(f->packer, json, no_z); /* drops nothing: the same object */
        assert_ptr_equal(again, whole);
        assert_ptr_equal(part_again, part);
        assert_ptr_equal(same, whole);
        root_unref(again);
        root_unref(part_again);
        root_unref(same);
    }
    root_unref(whole);
    root_unref(part);
    projection_unref(no_x);
    projection_unref(no_z);
}

static void test_a_type_may_be_forced_on_an_object(void **state)
{
    struct fixture *f = *state;
    const struct pack_type type = {.api_version = STR("v1"), .kind = STR("Pod"), .always = true};
    static const char text[] = "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                               "\"metadata\":{\"name\":\"a\"}}";
    char padded[sizeof text + TAPE_PADDING] = {0};
    memcpy(padded, text, sizeof text);
    struct root *root;
    struct err err;
    assert_true(pack_text(f->packer, padded, sizeof text - 1, &type, &root, &err));
    assert_string_equal(json_of(root_value(root)), POD(""));
    root_unref(root);
}

/* --- against a copy: where each value stands, and every path looked at from the top */

struct place {
    struct str key; /* NULL pointer: an element of an array */
    struct value value;
};

struct oracle {
    struct path *fields[PATHS + 4], *prune[PATHS];
    size_t field_count, prune_count;
    struct place place[64];
    struct buf *out;
};

static bool step_fits(struct path_step step, const struct place *place)
{
    if (step.kind == PATH_ALL) return true;
    if (step.kind == PATH_FIELD) return place->key.p && str_eq(place->key, step.name);
    return step.kind == PATH_MATCH && value_str_is(value_field(place->value, step.name), step.expected);
}

/* How the place of `depth` steps lies to a path: the path ends at it or above it, or goes on from it. */
static bool fits(const struct oracle *o, const struct path *path, size_t depth)
{
    for (size_t i = 0; i < depth && i < path_step_count(path); i++)
        if (!step_fits(path_step_at(path, i), &o->place[i])) return false;
    return true;
}

static bool is_kept(const struct oracle *o, size_t depth)
{
    enum value_type type = value_type(o->place[depth - 1].value);
    bool container = type == VALUE_MAP || type == VALUE_ARRAY, kept = o->field_count == 0;
    if (depth == 1 && (str_is(o->place[0].key, "apiVersion") || str_is(o->place[0].key, "kind"))) return true;
    for (size_t i = 0; i < o->prune_count; i++)
        if (path_step_count(o->prune[i]) == depth && fits(o, o->prune[i], depth)) return false;
    for (size_t i = 0; i < o->field_count; i++)
        kept |= fits(o, o->fields[i], depth) && (container || path_step_count(o->fields[i]) <= depth);
    return kept;
}

static void write_kept(struct oracle *o, struct value v, size_t depth)
{
    bool map = value_type(v) == VALUE_MAP, first = true;
    if (!map && value_type(v) != VALUE_ARRAY) {
        json_write(o->out, v);
        return;
    }
    buf_putc(o->out, map ? '{' : '[');
    for (size_t i = 0; i < value_count(v); i++) {
        struct text text;
        struct place *place = &o->place[depth];
        *place = (struct place){.value = map ? value_entry(v, i, &place->key, &text) : value_item(v, i)};
        if (map) value_entry(v, i, &place->key, &text);
        if (!is_kept(o, depth + 1)) continue;
        if (!first) buf_putc(o->out, ',');
        first = false;
        if (map) buf_json_string(o->out, place->key);
        if (map) buf_putc(o->out, ':');
        write_kept(o, place->value, depth + 1);
    }
    buf_putc(o->out, map ? '}' : ']');
}

/* A path to somewhere in the object, made vaguer here and there; or to nowhere. */
static void random_path(struct random *r, struct value v, struct buf *out)
{
    for (size_t depth = 0; depth < DEPTH && value_count(v) > 0; depth++) {
        struct str key;
        struct text text;
        uint32_t at = random_below(r, (uint32_t)value_count(v));
        bool map = value_type(v) == VALUE_MAP;
        v = map ? value_entry(v, at, &key, &text) : value_item(v, at);
        struct value type = value_field(v, STR("type"));
        struct text type_text;
        if (depth > 0 && value_type(type) == VALUE_STRING && random_below(r, 2) == 0) {
            buf_puts(out, "[?type=='");
            struct str expected = value_str(type, &type_text);
            if (memchr(expected.p, '\'', expected.n) || memchr(expected.p, '\\', expected.n)) expected.n = 0;
            buf_printf(out, "%.*s']", STR_ARG(expected));
        } else if (depth > 0 && (!map || random_below(r, 6) == 0)) {
            buf_puts(out, "[*]");
        } else {
            if (memchr(key.p, '\'', key.n) || memchr(key.p, '\\', key.n)) key = STR("none");
            if (path_name_is_plain(key))
                buf_printf(out, "%s%.*s", depth ? "." : "", STR_ARG(key));
            else
                buf_printf(out, "['%.*s']", STR_ARG(key));
        }
        if (random_below(r, 3) == 0) return;
    }
}

/* Those that are refused are left out on both sides. */
static size_t random_paths(struct random *r, struct value v, bool drop, char **texts, struct path **paths)
{
    size_t count = 0;
    for (uint32_t left = random_below(r, PATHS + 1); left > 0; left--) {
        struct buf text = {0};
        struct err err;
        random_path(r, v, &text);
        const char *path = buf_text(&text);
        struct projection_paths given = {&path, 1}, none = {0};
        struct projection *p = projection_new(drop ? none : given, drop ? given : none, &err);
        if (p) {
            texts[count] = xstrdup(path);
            paths[count++] = path_compile(str_of(path), &err);
        }
        projection_unref(p);
        buf_clear(&text);
    }
    return count;
}

/* Starts from what is packed, where no key comes twice: no server sends such, and which of the two a
 * projection sees last depends on what it keeps. */
static void check_random(struct fixture *f, struct random *r, const char *text)
{
    static const char *const identity[] = {"metadata.name", "metadata.namespace", "metadata.uid",
                                           "metadata.resourceVersion"};
    char *keep[PATHS], *drop[PATHS];
    struct buf expected = {0};
    struct oracle o = {.out = &expected};
    struct root *whole = pack_ok(f->packer, text);
    struct buf json = {0};
    json_write(&json, root_value(whole));
    size_t kept = random_paths(r, root_value(whole), false, keep, o.fields);
    o.prune_count = random_paths(r, root_value(whole), true, drop, o.prune);
    o.field_count = kept;
    for (size_t i = 0; i < 4 && kept; i++)
        o.fields[o.field_count++] = path_compile(str_of(identity[i]), NULL);
    struct projection *p =
        projection_of((const char *const *)keep, kept, (const char *const *)drop, o.prune_count);
    write_kept(&o, root_value(whole), 0);
    struct root *part = pack_by(f->packer, buf_text(&json), p);
    struct root *copied = pack_ok(f->packer, buf_text(&expected));
    if (part != copied) /* one line each: a message of cmocka's is cut */
        fprintf(stderr, "%s\n of   %s\n gives %s\n not   %s\n", projection_text(p),
                json_of(root_value(whole)), json_of(root_value(part)), json_of(root_value(copied)));
    assert_ptr_equal(part, copied);
    root_unref(whole);
    root_unref(part);
    root_unref(copied);
    projection_unref(p);
    for (size_t i = 0; i < o.field_count; i++) path_free(o.fields[i]);
    for (size_t i = 0; i < o.prune_count; i++) path_free(o.prune[i]);
    for (size_t i = 0; i < kept; i++) free(keep[i]);
    for (size_t i = 0; i < o.prune_count; i++) free(drop[i]);
    buf_clear(&expected);
    buf_clear(&json);
}

static void test_random_projections_keep_what_a_copy_without_the_rest_has(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("random projections");
    for (int i = 0; i < 3000; i++) {
        struct buf text = {0}, unused = {0};
        buf_puts(&text, "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\",\"labels\":");
        random_value(&r, 2, &text, &unused);
        buf_puts(&text, "},\"spec\":");
        random_value(&r, 5, &text, &unused);
        buf_puts(&text, ",\"status\":");
        random_value(&r, 3, &text, &unused);
        buf_putc(&text, '}');
        check_random(f, &r, buf_text(&text));
        buf_clear(&text);
        buf_clear(&unused);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_prune_drops_what_a_path_names),
        TEST(test_prune_reaches_into_every_element),
        TEST(test_fields_keep_what_a_path_names_and_who_it_is),
        TEST(test_prune_takes_from_what_fields_keep),
        TEST(test_paths_that_cannot_be_followed_are_refused),
        TEST(test_who_it_is_cannot_be_pruned),
        TEST(test_there_is_a_limit_of_paths),
        TEST(test_the_same_paths_are_the_same_projection),
        TEST(test_projections_share_a_pool_without_taking_each_others_objects),
        TEST(test_a_type_may_be_forced_on_an_object),
        TEST(test_random_projections_keep_what_a_copy_without_the_rest_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
