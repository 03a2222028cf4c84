/* core/audit/rules/suppression.c: annotations that accept a finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "audit/rules/suppression.h"
#include "base/civil.h"
#include "base/mem.h"
#include "object/pack/pack.h"

static struct pool *pool;
static struct packer *packer;

static int setup(void **state)
{
    pool = pool_new(NULL);
    packer = packer_new(pool);
    return 0;
}

static int teardown(void **state)
{
    packer_free(packer);
    pool_free(pool);
    return 0;
}

static struct root *pod(const char *annotations)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"%s%s}}",
               *annotations ? ",\"annotations\":" : "", annotations);
    buf_reserve(&json, TAPE_PADDING);
    if (!pack_text(packer, json.data, json.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&json);
    return root;
}

static void test_the_text_of_an_annotation_is_parsed(void **state)
{
    static const struct {
        const char *annotations;
        enum suppression is;
        const char *until, *reason;
    } cases[] = {
        {"", SUPPRESSION_NONE, "", ""},
        {"{\"kubelua/ignore.b\":\"x\"}", SUPPRESSION_NONE, "", ""},
        {"{\"kubelua/ignore.a\":\"ours\"}", SUPPRESSION_VALID, "", "ours"},
        {"{\"kubelua/ignore.a\":\"\"}", SUPPRESSION_NO_REASON, "", ""},
        {"{\"kubelua/ignore.a\":\" \"}", SUPPRESSION_NO_REASON, "", ""},
        {"{\"kubelua/ignore.a\":\"until=2027-01-31 a long reason \"}", SUPPRESSION_VALID, "2027-01-31",
         "a long reason"},
        {"{\"kubelua/ignore.a\":\"until=2026-11-22 x\"}", SUPPRESSION_VALID, "2026-11-22", "x"},
        {"{\"kubelua/ignore.a\":\"until=2026-11-22\"}", SUPPRESSION_NO_REASON, "2026-11-22", ""},
        {"{\"kubelua/ignore.a\":\"until=2026-11-21 x\"}", SUPPRESSION_EXPIRED, "2026-11-21", "x"},
        {"{\"kubelua/ignore.a\":\"until=2026-02-29 x\"}", SUPPRESSION_BAD_DATE, "until=2026-02-29", "x"},
        {"{\"kubelua/ignore.a\":\"until=soon x\"}", SUPPRESSION_BAD_DATE, "until=soon", "x"},
        {"{\"kubelua/ignore.a\":\"until= x\"}", SUPPRESSION_BAD_DATE, "until=", "x"},
        {"{\"kubelua/ignore.a\":\"until=2028-02-29 leap\"}", SUPPRESSION_VALID, "2028-02-29", "leap"},
        {"{\"kubelua/ignore.a\":\"the vendor is told until=2026-11-21\"}", SUPPRESSION_EXPIRED, "2026-11-21",
         "the vendor is told"},
        {"{\"kubelua/ignore.a\":\"told, until=2027-01-31 at most\"}", SUPPRESSION_VALID, "2027-01-31",
         "told, until=2027-01-31 at most"},
        {"{\"kubelua/ignore.a\":\"Until=2020-01-01 x\"}", SUPPRESSION_BAD_DATE, "Until=2020-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"x until 2027-01-01\"}", SUPPRESSION_BAD_DATE, "until 2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"until: 2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "until: 2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"until:2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "until:2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"until = 2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "until = 2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"until =2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "until =2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"until =\"}", SUPPRESSION_BAD_DATE, "until =", ""},
        {"{\"kubelua/ignore.a\":\"until= 2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "until= 2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"untill=2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "untill=2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"x Unitl=soon\"}", SUPPRESSION_BAD_DATE, "Unitl=soon", "x"},
        {"{\"kubelua/ignore.a\":\"expires=2027-01-01 x\"}", SUPPRESSION_BAD_DATE, "expires=2027-01-01", "x"},
        {"{\"kubelua/ignore.a\":\"ticket=4711 the unit waits\"}", SUPPRESSION_VALID, "",
         "ticket=4711 the unit waits"},
        {"{\"kubelua/ignore.a\":\"untiled\"}", SUPPRESSION_VALID, "", "untiled"},
        {"{\"kubelua/ignore.a\":\"UNTIL\"}", SUPPRESSION_VALID, "", "UNTIL"},
        {"{\"kubelua/ignore.a\":\"until the vendor answers\"}", SUPPRESSION_VALID, "",
         "until the vendor answers"},
        {"{\"kubelua/ignore.a\":5}", SUPPRESSION_NONE, "", ""},
    };
    const int64_t noon = civil_days(2026, 11, 22) * DAY_S + DAY_S / 2;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suppressed said = {STR(""), STR(""), 0};
        struct text text;
        struct root *object = pod(cases[i].annotations);
        enum suppression is = suppression_of(object, STR("a"), noon, &text, &said);
        if (is != cases[i].is || !str_is(said.until, cases[i].until) || !str_is(said.reason, cases[i].reason))
            fail_msg("%s: %d, until \"%.*s\", reason \"%.*s\"", cases[i].annotations, is, STR_ARG(said.until),
                     STR_ARG(said.reason));
        root_unref(object);
    }
}

static bool is_rule(void *ctx, struct str id)
{
    return str_is(id, "image-tag") || str_is(id, "image-tags");
}

static void test_an_annotation_that_is_nearly_for_a_rule_is_found(void **state)
{
    static const struct {
        const char *annotations, *misspelt;
    } cases[] = {
        {"", ""},
        {"{\"kubelua/ignore.image-tag\":\"\"}", ""},
        {"{\"kubelua/ignore.image-tag\":5}", ""},
        {"{\"kubelua/ignore.image-tags\":\"of the other one\"}", ""},
        {"{\"kubelua/ignore.probes\":\"x\"}", ""},
        {"{\"kubelua/ignore.\":\"x\"}", ""},
        {"{\"ignore.image-tagg\":\"x\"}", ""},
        {"{\"kubelua/ignore.image-tagg\":\"x\"}", "image-tagg"},
        {"{\"kubelua/ignore.Image-Tag\":\"x\"}", "Image-Tag"},
        {"{\"a\":\"b\",\"kubelua/ignore.probes\":\"x\",\"kubelua/ignore.image_tag\":\"x\"}", "image_tag"},
        {"\"kubelua/ignore.image_tag\"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text text;
        struct root *object = pod(cases[i].annotations);
        struct str misspelt = suppression_misspelt(object, "image-tag", is_rule, NULL, &text);
        if (!str_is(misspelt, cases[i].misspelt))
            fail_msg("%s: %.*s", cases[i].annotations, STR_ARG(misspelt));
        root_unref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_text_of_an_annotation_is_parsed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_annotation_that_is_nearly_for_a_rule_is_found, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
