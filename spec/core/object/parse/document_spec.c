/* core/object/parse/document.c: documents as people and programs read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "object/parse/document.h"

static void test_documents_are_printed_as_json_and_yaml(void **state)
{
    struct tape_parser *parser = tape_parser_new();
    struct buf text = {0}, out = {0};
    struct tape tape;
    buf_puts(
        &text,
        "{\"a\":{\"b\":-7,\"c\":\"x: y\",\"no\":\"v1\"},\"l\":[1,{\"d\":true,\"e\":[]},[null]],\"m\":{}}");
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    assert_true(tape_parse(parser, text.data, text.len, &tape, NULL));
    document_yaml(&tape, tape_root(&tape), &out);
    assert_string_equal(
        buf_text(&out),
        "a:\n  b: -7\n  c: \"x: y\"\n  \"no\": v1\nl:\n- 1\n- d: true\n  e: []\n- - null\nm: {}\n");
    out.len = 0;
    document_json(&tape, tape_field(&tape, tape_root(&tape), STR("l")), &out);
    assert_string_equal(buf_text(&out), "[\n    1,\n    {\n        \"d\": true,\n        \"e\": []\n    },\n"
                                        "    [\n        null\n    ]\n]\n");
    buf_clear(&out);
    buf_clear(&text);
    tape_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_are_printed_as_json_and_yaml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
