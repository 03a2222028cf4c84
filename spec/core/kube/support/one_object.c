/* One parser for all tests of a group; see one_object.h. */
#include "core/kube/support/one_object.h"

#include "object/parse/tape.h"

static struct tape_parser *parser;

int one_object_open(void **state)
{
    parser = tape_parser_new();
    return 0;
}

int one_object_close(void **state)
{
    tape_parser_free(parser);
    return 0;
}

bool is_one_object(void *ctx, const char *text, size_t len)
{
    struct tape tape;
    return tape_parse(parser, text, len, &tape, NULL);
}
