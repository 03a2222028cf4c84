/* Any text: refused, or packed to what written out and read again is the same object, the same on both ways;
 * and nothing stays behind. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "object/pack/pack.h"
#include "object/pack/projection.h"
#include "object/parse/tape.h"
#include "object/parse/token.h"
#include "object/value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pack_type type = {.api_version = {"v1", 2}, .kind = {"Thing", 5}};

static struct root *pack(struct packer *packer, struct str text, struct err *err)
{
    char *padded = calloc(1, text.n + TAPE_PADDING);
    struct root *root;
    must(padded);
    if (text.n > 0) memcpy(padded, text.p, text.n);
    bool done = pack_text(packer, padded, text.n, &type, &root, err);
    must(done == (root != NULL));
    free(padded);
    return root;
}

/* Whatever is taken the straight way is what the tape, read by simdjson's own grammar, gives. */
static void check_straight(struct packer *packer, struct str text)
{
    static struct tape_parser *parser;
    if (!parser) parser = tape_parser_new();
    char *padded = calloc(1, text.n + TAPE_PADDING);
    struct root *root, *oracle = NULL;
    struct tape tape;
    struct err err;
    must(padded);
    if (text.n > 0) memcpy(padded, text.p, text.n);
    for (int again = 0; again < 2; again++) { /* unknown, then known */
        struct pack_mark mark = pack_mark((struct str){padded, text.n}, &type);
        if (!pack_tokens(packer, (struct str){padded, text.n}, &type, &mark, NULL, &root)) continue;
        pack_remember(packer, root, &mark);
        if (!oracle)
            must(tape_parse(parser, padded, text.n, &tape, &err) &&
                 pack_tape(packer, &tape, tape_root(&tape), &type, &oracle, &err));
        must(root == oracle);
        root_unref(root);
    }
    root_unref(oracle);
    free(padded);
}

static const struct projection *some_projection(size_t i)
{
    static const char *const fields[][2] = {
        {"it", "metadata.labels"}, {"it[*].a", "it.b"}, {"it[?a=='x'].b", "status"}, {NULL, NULL}};
    static const char *const prune[] = {"it.a", "it.b[*].c"};
    static struct projection *made[4];
    struct projection_paths none = {0}, some = {fields[i], 2}, dropped = {prune, 2};
    if (!made[i])
        made[i] = fields[i][0] ? projection_new(some, none, NULL) : projection_new(none, dropped, NULL);
    return made[i];
}

/* The same of what a projection keeps, from tokens whose brackets are matched. Of what it drops these see
 * less than the tape. */
static void check_matched(struct packer *packer, struct str text)
{
    static struct tape_parser *parser;
    static struct token_parser *finder;
    if (!parser) parser = tape_parser_new(), finder = token_parser_new();
    struct pack_type known = type;
    char *padded = calloc(1, text.n + TAPE_PADDING);
    struct root *root, *oracle;
    struct tokens tokens;
    struct tape tape;
    struct err err;
    must(padded);
    if (text.n > 0) memcpy(padded, text.p, text.n);
    known.always = true;
    for (size_t i = 0; i <= 4 && tokens_find(finder, padded, text.n, &tokens); i++) {
        uint32_t *close = calloc(tokens.count, sizeof *close);
        must(close);
        token_match(&tokens, 0, close);
        known.projection = i < 4 ? some_projection(i) : NULL; /* and everything */
        if (pack_matched(packer, &tokens, close, 0, &known, &root) && close[0] + 1 == tokens.count &&
            tape_parse(parser, padded, text.n, &tape, &err)) {
            must(pack_tape(packer, &tape, tape_root(&tape), &known, &oracle, &err) && root == oracle);
            root_unref(oracle);
        }
        root_unref(root);
        free(close);
    }
    free(padded);
}

static struct root *straight_as(struct packer *packer, struct buf *text, const struct pack_type *as)
{
    struct root *root;
    buf_reserve(text, TAPE_PADDING);
    struct pack_mark mark = pack_mark(buf_slice(text), as);
    if (pack_tokens(packer, buf_slice(text), as, &mark, NULL, &root)) pack_remember(packer, root, &mark);
    return root;
}

static struct root *straight_padded(struct packer *packer, struct buf *text)
{
    return straight_as(packer, text, &type);
}

/* Without matched brackets the straight way sees all that the tape sees, also of what a projection drops. */
static void check_kept(struct packer *packer, struct str text)
{
    static struct tape_parser *parser;
    struct pack_type as = type;
    struct buf copy = {0};
    struct tape tape;
    if (!parser) parser = tape_parser_new();
    buf_str(&copy, text);
    for (size_t i = 0; i < 4; i++) {
        as.projection = some_projection(i);
        struct root *root = straight_as(packer, &copy, &as), *oracle = NULL;
        if (root)
            must(tape_parse(parser, copy.data, copy.len, &tape, NULL) &&
                 pack_tape(packer, &tape, tape_root(&tape), &as, &oracle, NULL) && root == oracle);
        root_unref(root);
        root_unref(oracle);
    }
    buf_clear(&copy);
}

/* Two states of an object that has the text twice, long enough for its parts to be known again; in the second
 * one byte is another. Of some a part is kept. */
static void check_states(struct packer *packer, struct str text)
{
    struct buf first = {0}, second = {0};
    struct tape_parser *parser = tape_parser_new();
    struct pack_type as = type;
    struct tape tape;
    if (text.n % 5 > 0) as.projection = some_projection(text.n % 5 - 1);
    buf_puts(&first, "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"1\",\"a\":[");
    while (first.len < 600) buf_puts(&first, "\"a text\",");
    buf_printf(&first, "%.*s],\"b\":0},\"it\":[", STR_ARG(text));
    for (size_t n = first.len; first.len < n + 600;) buf_puts(&first, "\"a text\",");
    buf_printf(&first, "%.*s]}", STR_ARG(text));
    struct root *before = straight_as(packer, &first, &as), *expected = NULL;
    buf_append(&second, first.data, first.len);
    size_t at = text.n;
    for (size_t i = 0; i < text.n; i++) at = at * 31 + (uint8_t)text.p[i];
    second.data[at % second.len] ^= (char)(1 + text.n % 7);
    struct root *root = straight_as(packer, &second, &as);
    if (root) {
        must(tape_parse(parser, second.data, second.len, &tape, NULL));
        must(pack_tape(packer, &tape, tape_root(&tape), &as, &expected, NULL) && root == expected);
    }
    root_unref(before);
    root_unref(root);
    root_unref(expected);
    tape_parser_free(parser);
    buf_clear(&first);
    buf_clear(&second);
}

/* {"metadata":..,"<key>":<value>} */
static void write_object(struct buf *out, const char *name, char version, const char *key, struct str value)
{
    buf_printf(out, "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%c\"},\"%s\":%.*s}", name, version,
               key, STR_ARG(value));
}

/* A text that is a section, and a list that holds it. */
static void write_enclosed(struct str text, struct buf *part, struct buf *list)
{
    buf_puts(part, "{\"a\":[");
    while (part->len < 3000) buf_puts(part, "\"a text\",");
    buf_printf(part, "%.*s],\"b\":[\"one\",\"two\",%.*s]}", STR_ARG(text), STR_ARG(text));
    buf_printf(list, "[{\"spec\":%s},\"more to make it a node of its own\",1,2,3,4,5,6,7,8,9,10,11,12]",
               buf_text(part));
}

/* A section of an object stands with its key in a list of its next state, and that list is known
 * from another object by its text: it has many more tokens there than this text has room for. The packer has
 * seen no larger text around sections, so that each token beyond the last is one beyond its memory. */
static void check_enclosed(struct str text)
{
    static struct packer *packer;
    static struct tape_parser *parser;
    static struct pool *pool;
    if (!packer) packer = packer_new(pool = pool_new(NULL)), parser = tape_parser_new();
    struct buf part = {0}, list = {0}, other = {0}, first = {0}, second = {0};
    struct tape tape;
    struct root *expected = NULL;
    write_enclosed(text, &part, &list);
    write_object(&other, "y", '1', "spe", buf_slice(&list));
    write_object(&first, "x", '1', "spec", buf_slice(&part));
    write_object(&second, "x", '2', "spe", buf_slice(&list));
    struct root *enclosing = straight_padded(packer, &other), *before = straight_padded(packer, &first),
                *root = straight_padded(packer, &second);
    if (root) {
        must(tape_parse(parser, second.data, second.len, &tape, NULL));
        must(pack_tape(packer, &tape, tape_root(&tape), &type, &expected, NULL) && root == expected);
    }
    root_unref(enclosing);
    root_unref(before);
    root_unref(root);
    root_unref(expected);
    must(pool_stats(pool).used_bytes == 0);
    buf_clear(&part);
    buf_clear(&list);
    buf_clear(&other);
    buf_clear(&first);
    buf_clear(&second);
}

static void check_round_trip(struct packer *packer, struct packer *other, struct root *root)
{
    struct buf first = {0}, second = {0};
    struct err err;
    json_write(&first, root_value(root));
    struct root *again = pack(packer, buf_slice(&first), &err);
    must(again == root);
    struct root *elsewhere = pack(other, buf_slice(&first), &err);
    must(elsewhere && value_equal(root_value(root), root_value(elsewhere)));
    must(root_key_equal(root, elsewhere));
    json_write(&second, root_value(elsewhere));
    must(str_eq(buf_slice(&first), buf_slice(&second)));
    root_unref(again);
    root_unref(elsewhere);
    buf_clear(&first);
    buf_clear(&second);
}

static void check_text(struct packer *const packers[2], struct pool *const pools[2], struct str text)
{
    struct err err = {0};
    check_straight(packers[0], text);
    check_matched(packers[0], text);
    check_kept(packers[0], text);
    check_states(packers[0], text);
    check_enclosed(text);
    struct root *root = pack(packers[0], text, &err);
    must(root || (err.code != ERR_NONE && err.text[0]));
    if (root) check_round_trip(packers[0], packers[1], root);
    root_unref(root);
    for (int i = 0; i < 2; i++) must(pool_stats(pools[i]).used_bytes == 0);
}

/* As it is, and as a field of an object, so that fragments get as far. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct packer *packers[2];
    static struct pool *pools[2];
    for (int i = 0; i < 2 && !packers[i]; i++) packers[i] = packer_new(pools[i] = pool_new(NULL));
    struct str text = {(const char *)data, size};
    check_text(packers, pools, text);
    struct buf wrapped = {0};
    buf_puts(&wrapped, "{\"metadata\":{\"name\":\"x\"},\"it\":");
    buf_str(&wrapped, text);
    buf_putc(&wrapped, '}');
    check_text(packers, pools, buf_slice(&wrapped));
    buf_clear(&wrapped);
    return 0;
}
