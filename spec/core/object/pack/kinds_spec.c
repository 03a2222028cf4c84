/* bench/kinds: each kind's texts are objects of that kind in three states, and the objects that a watch makes
 * of them, with what their last states had, are those of simdjson's parser. */
#include "core/object/support/objects.h"

#include "run.h"
#include "texts.h"

enum { OBJECTS = 3 };

/* Returns the object of the next event, whose type it checks. */
static struct str next_object(struct str *rest, const char *type)
{
    struct str line;
    struct buf head = {0};
    buf_printf(&head, "{\"type\":\"%s\",\"object\":", type);
    assert_true(str_cut(rest, '\n', &line));
    assert_true(str_starts(line, buf_slice(&head)) && str_ends(line, STR("}}")));
    struct str object = {line.p + head.len, line.n - head.len - 1};
    buf_clear(&head);
    return object;
}

static void check_object(struct fixture *f, const struct kind_source *source, struct str text,
                         struct root **held)
{
    struct text kind, version, before;
    struct root *root = straight(f->packer, text);
    assert_non_null(root); /* no kind is left to the tape */
    assert_true(str_eq(value_str(value_field(root_value(root), STR("kind")), &kind), source->kind));
    if (*held)
        assert_false(str_eq(root_resource_version(root, &version), root_resource_version(*held, &before)));
    struct root *other = by_tape(f->packer, text);
    assert_ptr_equal(root, other);
    root_unref(other);
    root_unref(*held);
    *held = root;
}

static void check_kind(struct fixture *f, const struct kind_source *source)
{
    struct kind_texts texts;
    struct root *held[OBJECTS] = {NULL};
    kind_texts_init(&texts, source, OBJECTS);
    for (size_t state = 0; state < KIND_STATES; state++) {
        struct str rest = buf_slice(&texts.states[state]);
        for (size_t i = 0; i < OBJECTS; i++)
            check_object(f, source, next_object(&rest, state > 0 ? "MODIFIED" : "ADDED"), &held[i]);
        assert_int_equal(rest.n, 0);
    }
    for (size_t i = 0; i < OBJECTS; i++) root_unref(held[i]);
    kind_texts_clear(&texts);
}

static void test_objects(void **state)
{
    const struct kind_source *source;
    for (size_t i = 0; (source = kind_source(i)) != NULL; i++) {
        struct fixture *f = *state;
        check_kind(f, source);
    }
}

/* As the benchmark packs them: in pieces, with projections. */
static void test_runs(void **state)
{
    const struct kind_source *source;
    for (size_t i = 0; (source = kind_source(i)) != NULL; i++) {
        struct kind_texts texts;
        kind_texts_init(&texts, source, OBJECTS);
        struct kind_run *run = kind_run_new(&texts);
        assert_int_equal(kind_run_reference(run), OBJECTS);
        assert_int_equal(kind_run_state(run), OBJECTS);
        assert_int_equal(kind_run_listed(run).roots, OBJECTS);
        assert_int_equal(kind_run_state(run), OBJECTS);
        assert_int_equal(kind_run_state(run), OBJECTS);
        assert_int_equal(kind_run_listed(run).roots, OBJECTS);
        kind_run_free(run);
        kind_texts_clear(&texts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_objects, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
