/* Objects and projections for the specs of core/object; see projections.h. */
#include "core/object/support/projections.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/tape.h"

struct projection *projection_of(const char *const *fields, size_t count, const char *const *prune,
                                 size_t prune_count)
{
    struct err err;
    struct projection *p = projection_new((struct projection_paths){fields, count},
                                          (struct projection_paths){prune, prune_count}, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

struct root *by_tape_as(struct packer *packer, struct str text, const struct projection *projection,
                        bool always)
{
    struct pack_type type = thing_type;
    struct tape_parser *parser = tape_parser_new();
    char *p = padded(text);
    struct root *root = NULL;
    struct tape tape;
    struct err err;
    type.projection = projection;
    type.always = always;
    if (tape_parse(parser, p, text.n, &tape, &err))
        pack_tape(packer, &tape, tape_root(&tape), &type, &root, &err);
    tape_parser_free(parser);
    free(p);
    return root;
}

struct root *straight_as(struct packer *packer, struct str text, const struct projection *projection)
{
    struct pack_type type = thing_type;
    char *p = padded(text);
    struct root *root;
    type.projection = projection;
    struct pack_mark mark = pack_mark((struct str){p, text.n}, &type);
    bool done = pack_tokens(packer, (struct str){p, text.n}, &type, &mark, NULL, &root);
    assert_int_equal(done, root != NULL);
    if (root) pack_remember(packer, root, &mark);
    free(p);
    return root;
}

static const char *const keys[] = {"a", "b", "c", "d", "\\u0061", "long-key-of-some-length"};
static const char *const scalars[] = {
    "1",          "\"x\"", "\"y\"", "null", "true", "-1.5e3", "\"a text that is long enough\"",
    "\"esc\\n\"", "{}",    "[]"};

static void put_value(struct random *r, int depth, struct buf *out)
{
    uint32_t what = depth > 0 ? random_below(r, 4) : 3, count = random_below(r, 5);
    if (what == 3) {
        buf_puts(out, scalars[random_below(r, ARRAY_LEN(scalars))]);
        return;
    }
    buf_putc(out, what ? '{' : '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) buf_puts(out, random_below(r, 2) ? "," : " ,\n ");
        uint32_t key = random_below(r, random_below(r, 8) ? 4 : ARRAY_LEN(keys));
        if (what) buf_printf(out, "\"%s\":", keys[key]);
        put_value(r, depth - 1, out);
    }
    buf_putc(out, what ? '}' : ']');
}

void projected_object(struct random *r, struct buf *out)
{
    out->len = 0;
    buf_puts(out, "{\"metadata\":{\"name\":\"x\",\"a\":");
    put_value(r, 2, out);
    buf_putc(out, '}');
    for (const char *key = "abc"; *key; key++) {
        buf_printf(out, ",\"%c\":", *key);
        put_value(r, 5, out);
    }
    buf_putc(out, '}');
}

static const char *random_path(struct random *r, struct buf *out)
{
    static const char *const steps[] = {".a", ".b", ".c", "[*]", "[?a=='x']", ".d"};
    static const char *const heads[] = {"a", "b", "c", "metadata.a", "metadata"};
    out->len = 0;
    buf_puts(out, heads[random_below(r, ARRAY_LEN(heads))]);
    for (uint32_t n = random_below(r, 4); n > 0; n--) buf_puts(out, steps[random_below(r, ARRAY_LEN(steps))]);
    return buf_text(out);
}

struct projection *random_projection(struct random *r)
{
    if (random_below(r, 8) == 0) return NULL;
    struct buf texts[3] = {{0}};
    const char *paths[3];
    for (size_t i = 0; i < 3; i++) paths[i] = random_path(r, &texts[i]);
    bool prunes = random_below(r, 3) == 0 && strncmp(paths[2], "metadata", 8) != 0;
    struct projection *p = projection_of(paths, 2, paths + 2, prunes);
    for (size_t i = 0; i < 3; i++) buf_clear(&texts[i]);
    return p;
}
