/* core/audit/fix/fixer.c: the fixes of several rules, joined into what is to be done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "audit/fix/fixer.h"
#include "audit/rules/auditor.h"
#include "core/script/support/cluster.h"

/* rule(id, field, wanted) has the field of the spec be that, and sets it. */
#define HEAD                                                                                                 \
    "local k8s = require 'k8s'\n"                                                                            \
    "function rule(id, field, wanted, fix)\n"                                                                \
    "  k8s.rule { id = id, kinds = { 'pods' },\n"                                                            \
    "    check = function(o, r) if o.spec[field] ~= wanted then r:fail(field) end end,\n"                    \
    "    fix = fix or function() asked = (asked or '') .. id return { spec = { [field] = wanted } } end }\n" \
    "end\n"

/* Asks the rules of a script about objects, and keeps what is to be done. */
struct world {
    struct cluster *c;
    struct audit_table *table;
    struct audit_fixes fixes;
    struct fixer *fixer;
    struct auditor *auditor;
};

static void world_begin(struct world *w, struct cluster *c, const char *lua)
{
    struct err err;
    *w = (struct world){.c = c, .table = audit_table_new(false)};
    c->script = cluster_load(c, "rules", lua);
    cluster_resolve(w->c);
    w->fixer = fixer_new(&(const struct fixer_options){
        .pool = w->c->pool, .catalogue = w->c->catalogue, .table = w->table, .fixes = &w->fixes});
    w->auditor = auditor_new(&(const struct auditor_options){.scripts = &w->c->script,
                                                             .script_count = 1,
                                                             .catalogue = w->c->catalogue,
                                                             .table = w->table,
                                                             .fixer = w->fixer},
                             &err);
    assert_non_null(w->auditor);
}

static void world_free(struct world *w)
{
    auditor_free(w->auditor);
    fixer_free(w->fixer);
    audit_fixes_clear(&w->fixes);
    audit_table_free(w->table);
}

static void look_at(struct world *w, const char *name, const char *spec)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\","
               "\"resourceVersion\":\"17\"},\"spec\":%s}",
               name, spec);
    buf_reserve(&json, TAPE_PADDING);
    assert_true(pack_text(w->c->packer, json.data, json.len, &(const struct pack_type){0}, &root, &err));
    assert_int_equal(auditor_audit(w->auditor, &(const struct audit_subject){.object = root}),
                     AUDITOR_EVALUATED);
    root_unref(root);
    buf_clear(&json);
}

static void test_one_patch_is_what_all_fixes_come_to(void **state)
{
    struct world w;
    world_begin(&w, *state, HEAD "rule('a', 'x', 1) rule('b', 'y', 2) rule('c', 'x', 1)\n");
    look_at(&w, "web", "{\"x\":0,\"z\":[1]}");
    look_at(&w, "well", "{\"x\":1,\"y\":2}");
    assert_int_equal(w.fixes.count, 1);
    const struct audit_fix *fix = &w.fixes.items[0];
    assert_string_equal(fix->json, "{\"spec\":{\"x\":1,\"y\":2}}");
    assert_string_equal(fix->rules, "a, b, c");
    assert_string_equal(fix->version, "17");
    assert_string_equal(fix->type, "pods");
    assert_string_equal(buf_text(&w.fixes.items[0].reasons),
                        "# shop/web Pod: a: x\n# shop/web Pod: b: y\n# shop/web Pod: c: x\n");
    assert_false(fix->is_manifest || fix->is_strategic);
    assert_int_equal(w.fixes.with, 3);
    assert_int_equal(w.fixes.objects, 1);
    assert_ask(w.c, w.c->script, "return asked", "ab"); /* what is mended by then is not asked for */
    world_free(&w);
}

static void test_fixes_that_undo_each_other_are_reported(void **state)
{
    struct world w;
    world_begin(&w, *state, HEAD "rule('one', 'x', 1) rule('two', 'x', 2)\n");
    look_at(&w, "web", "{\"x\":0}");
    assert_int_equal(w.fixes.count, 1);
    assert_string_equal(w.fixes.items[0].json, "{\"spec\":{\"x\":2}}");
    assert_non_null(strstr(buf_text(&w.fixes.items[0].reasons), "# shop/web Pod: still fails: one: x\n"));
    assert_int_equal(w.fixes.still, 1);
    world_free(&w);
}

static void test_what_comes_to_nothing_is_no_fix(void **state)
{
    struct world w;
    world_begin(&w, *state,
                HEAD "rule('one', 'x', 1, function() return { spec = {} } end)\n"
                     "rule('two', 'y', 1, function() end)\n");
    look_at(&w, "web", "{}");
    assert_int_equal(w.fixes.count, 0);
    assert_int_equal(w.fixes.without, 2);
    assert_int_equal(w.fixes.objects, 0);
    world_free(&w);
}

#define MANIFEST                                                                                           \
    "local function map(a) return { apiVersion = 'v1', kind = 'Node', metadata = { name = 'n' }, a = a } " \
    "end\n"

static void test_a_manifest_is_kept_once_and_another_is_refused(void **state)
{
    struct world w;
    world_begin(&w, *state,
                HEAD MANIFEST "rule('one', 'x', 1, function() return map(1) end)\n"
                              "rule('same', 'x', 1, function() return map(1) end)\n"
                              "rule('other', 'y', 1, function() return map(2) end)\n");
    look_at(&w, "web", "{\"y\":1}");
    look_at(&w, "db", "{\"y\":1}");
    assert_int_equal(w.fixes.count, 1);
    assert_string_equal(w.fixes.items[0].rules, "one, same");
    assert_int_equal(w.fixes.with, 4);
    look_at(&w, "third", "{\"x\":1}");
    assert_int_equal(w.fixes.count, 1);
    const struct audit_row *row = audit_table_row(w.table, audit_table_count_rows(w.table) - 1);
    assert_int_equal(row->verdict, VERDICT_ERROR);
    assert_true(str_is(row->message, "the fix of other: Node n conflicts with the fix of one, same"));
    world_free(&w);
}

static void test_a_fix_that_fails_leaves_those_of_others(void **state)
{
    struct world w;
    world_begin(&w, *state,
                HEAD "rule('a', 'x', 1, function() error 'no' end) rule('b', 'y', 2)\n"
                     "rule('c', 'z', 1, function() return { metadata = { name = 'other' } } end)\n");
    look_at(&w, "web", "{}");
    assert_int_equal(w.fixes.count, 1);
    assert_string_equal(w.fixes.items[0].json, "{\"spec\":{\"y\":2}}");
    assert_string_equal(w.fixes.items[0].rules, "b");
    size_t errors = 0;
    for (size_t i = 0; i < audit_table_count_rows(w.table); i++)
        errors += audit_table_row(w.table, i)->verdict == VERDICT_ERROR;
    assert_int_equal(errors, 2);
    world_free(&w);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        T(test_one_patch_is_what_all_fixes_come_to),
        T(test_fixes_that_undo_each_other_are_reported),
        T(test_what_comes_to_nothing_is_no_fix),
        T(test_a_manifest_is_kept_once_and_another_is_refused),
        T(test_a_fix_that_fails_leaves_those_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
