/* Shared by the specs of core/object; see objects.h. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "object/value/path.h"

void fixture_open(struct fixture *f)
{
    f->pool = pool_new(NULL);
    f->packer = packer_new(f->pool);
}

void fixture_close(struct fixture *f)
{
    packer_free(f->packer);
    pool_drain(f->pool);
    struct pool_stats stats = pool_stats(f->pool);
    assert_int_equal(stats.roots, 0);
    assert_int_equal(stats.nodes, 0);
    assert_int_equal(stats.used_bytes, 0);
    pool_free(f->pool);
}

int fixture_setup(void **state)
{
    struct fixture *f = NEW(struct fixture);
    fixture_open(f);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    fixture_close(*state);
    free(*state);
    return 0;
}

const struct pack_type thing_type = {.api_version = {"v1", 2}, .kind = {"Thing", 5}};

char *padded(struct str text)
{
    char *p = xcalloc(1, text.n + TAPE_PADDING);
    memcpy(p, text.p, text.n);
    return p;
}

struct root *straight(struct packer *packer, struct str text)
{
    char *p = padded(text);
    struct root *root;
    struct pack_mark mark = pack_mark((struct str){p, text.n}, &thing_type);
    bool done = pack_tokens(packer, (struct str){p, text.n}, &thing_type, &mark, NULL, &root);
    assert_int_equal(done, root != NULL);
    if (root) pack_remember(packer, root, &mark);
    free(p);
    return root;
}

struct root *by_tape(struct packer *packer, struct str text)
{
    struct tape_parser *parser = tape_parser_new();
    char *p = padded(text);
    struct root *root = NULL;
    struct tape tape;
    if (tape_parse(parser, p, text.n, &tape, NULL))
        pack_tape(packer, &tape, tape_root(&tape), &thing_type, &root, NULL);
    free(p);
    tape_parser_free(parser);
    return root;
}

static bool pack(struct packer *packer, const char *json, struct root **out, struct err *err)
{
    char *p = padded(str_of(json));
    bool done = pack_text(packer, p, strlen(json), &thing_type, out, err);
    free(p);
    return done;
}

struct root *pack_ok(struct packer *packer, const char *json)
{
    struct root *root;
    struct err err;
    if (!pack(packer, json, &root, &err)) fail_msg("%s in %.300s", err.text, json);
    return root;
}

struct root *pack_it(struct packer *packer, const char *json, struct value *it)
{
    char *text = xasprintf("{\"metadata\":{\"name\":\"x\"},\"it\":%s}", json);
    struct root *root = pack_ok(packer, text);
    free(text);
    *it = value_field(root_value(root), STR("it"));
    return root;
}

struct err pack_fails(struct packer *packer, const char *json)
{
    struct root *root;
    struct err err;
    if (pack(packer, json, &root, &err)) fail_msg("accepted: %.300s", json);
    assert_null(root);
    return err;
}

const char *json_of(struct value v)
{
    static struct buf ring[3];
    static int turn;
    struct buf *out = &ring[turn++ % 3];
    out->len = 0;
    json_write(out, v);
    return buf_text(out);
}

struct value at_path(struct value v, const char *text)
{
    struct err err;
    struct path *path = path_compile(str_of(text), &err);
    if (!path) fail_msg("%s", err.text);
    struct value found = path_get(path, v);
    path_free(path);
    return found;
}

struct random random_start(const char *name)
{
    const char *given = getenv("SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed =
        given ? strtoull(given, NULL, 10) : (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec;
    print_message("%s: SEED=%llu\n", name, (unsigned long long)seed);
    return (struct random){seed};
}

/* splitmix64 */
uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t random_below(struct random *r, uint32_t bound)
{
    return (uint32_t)(random_next(r) % bound);
}

static void blank(struct random *r, struct buf *text)
{
    static const char *const blanks[] = {"", "", "", "", " ", "\n", "\t ", "  "};
    buf_puts(text, blanks[random_below(r, 8)]);
}

/* The escapes that are written; the text may use any other. */
static void expect_char(struct buf *expected, unsigned c)
{
    switch (c) {
    case '"': buf_puts(expected, "\\\""); break;
    case '\\': buf_puts(expected, "\\\\"); break;
    case '\n': buf_puts(expected, "\\n"); break;
    case '\r': buf_puts(expected, "\\r"); break;
    case '\t': buf_puts(expected, "\\t"); break;
    default:
        if (c < 0x20) {
            buf_printf(expected, "\\u%04x", c);
        } else {
            buf_putc(expected, (char)c);
        }
    }
}

/* Writes a character as a server may that escapes it: beyond 16 bits as two. */
static void write_escaped(uint32_t c, struct buf *text)
{
    if (c < 0x10000)
        buf_printf(text, "\\u%04X", c);
    else
        buf_printf(text, "\\u%04x\\u%04X", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

static void write_string(struct random *r, struct str s, struct buf *text, struct buf *expected)
{
    buf_putc(text, '"');
    buf_putc(expected, '"');
    while (s.n > 0) {
        size_t n;
        uint32_t c = str_code_point(s, &n);
        if (c < 0x80)
            expect_char(expected, c);
        else
            buf_append(expected, s.p, n);
        if (random_below(r, 40) == 0)
            write_escaped(c, text);
        else if (c < 0x80)
            expect_char(text, c);
        else
            buf_append(text, s.p, n);
        s.p += n;
        s.n -= n;
    }
    buf_putc(text, '"');
    buf_putc(expected, '"');
}

static void pick_chars(struct random *r, const char *set, uint32_t count, struct buf *out)
{
    while (count-- > 0) buf_putc(out, set[random_below(r, (uint32_t)strlen(set))]);
}

/* Texts around everything that has a form of its own, spoilt now and then. */
static void random_string(struct random *r, struct buf *s)
{
    static const char *const constants[] = {"Running", "True", "FieldsV1", "ClusterFirst", "v1",
                                            "",        "a",    "héllo",    "日本語",       "🚀"};
    switch (random_below(r, 10)) {
    case 0: buf_puts(s, constants[random_below(r, 10)]); break;
    case 1: pick_chars(r, "0123456789", 1 + random_below(r, 21), s); break;
    case 2:
        buf_printf(s, "%04u-%02u-%02uT%02u:%02u:%02uZ", 1969 + random_below(r, 140), random_below(r, 14),
                   random_below(r, 33), random_below(r, 25), random_below(r, 61), random_below(r, 61));
        break;
    case 3:
        buf_printf(s, "2026-11-01T10:00:00.%0*uZ", (int)(5 + random_below(r, 3)), random_below(r, 100000));
        break;
    case 4:
        for (int i = 0; i < 5; i++) {
            static const uint8_t parts[] = {8, 4, 4, 4, 12};
            if (i > 0) buf_putc(s, '-');
            pick_chars(r, "0123456789abcdef", parts[i], s);
        }
        break;
    case 5:
        buf_puts(s, random_below(r, 2) ? "sha256:" : "");
        pick_chars(r, "0123456789abcdef", 63 + random_below(r, 3), s);
        break;
    case 6:
        buf_printf(s, "%u.%u.%u.%u", random_below(r, 300), random_below(r, 256), random_below(r, 256),
                   random_below(r, 256));
        break;
    case 7: pick_chars(r, "abcdefghij klm\"\\\n\t/", random_below(r, 200), s); break;
    case 8: pick_chars(r, "abc", random_below(r, 5), s); break;
    default: pick_chars(r, "abcdefghijklmnopqrstuvwxyz-./", random_below(r, 40), s); break;
    }
    if (s->len > 0 && (unsigned char)s->data[0] < 0x80 && random_below(r, 8) == 0) {
        size_t at = random_below(r, (uint32_t)s->len);
        if ((unsigned char)s->data[at] < 0x80) s->data[at] = "0gA-:Z"[random_below(r, 6)];
    }
}

static void random_number(struct random *r, struct buf *text, struct buf *expected)
{
    struct buf n = {0};
    uint64_t wide = random_next(r);
    switch (random_below(r, 6)) {
    case 0: buf_printf(&n, "%d", (int)random_below(r, 2000) - 1000); break;
    case 1: buf_printf(&n, "%lld", (long long)wide); break;
    case 2: buf_printf(&n, "%llu", (unsigned long long)wide); break;
    case 3: buf_printf(&n, "%lld", (1ll << 28) - 2 + random_below(r, 4)); break;
    case 4: buf_printf(&n, "%lld", -(1ll << 28) - 2 + random_below(r, 4)); break;
    default:
        buf_printf(&n, "%s%u.%s", random_below(r, 2) ? "-" : "", 1 + random_below(r, 100000),
                   random_below(r, 2) ? "5" : "125");
    }
    buf_str(text, buf_slice(&n));
    buf_str(expected, buf_slice(&n));
    buf_clear(&n);
}

static void random_key(struct random *r, struct buf *key)
{
    static const char *const often[] = {"name", "metadata", ".",      "f:spec", "k:{\"name\":\"a\"}",
                                        "v:x",  "",         "labels", "type",   "time"};
    if (random_below(r, 3) == 0) {
        buf_puts(key, often[random_below(r, 10)]);
    } else if (random_below(r, 60) == 0) {
        pick_chars(r, "xyz", 100 + random_below(r, 100), key);
    } else {
        buf_printf(key, "key%u", random_below(r, 30));
    }
}

static void random_map(struct random *r, int depth, struct buf *text, struct buf *expected)
{
    enum { ENTRIES = 12 };
    struct buf keys[ENTRIES] = {{0}};
    uint32_t count = random_below(r, ENTRIES + 1);
    for (uint32_t i = 0; i < count; i++) random_key(r, &keys[i]);
    bool first = true;
    buf_putc(text, '{');
    buf_putc(expected, '{');
    for (uint32_t i = 0; i < count; i++) {
        struct buf dropped = {0};
        bool again = false; /* the last of equal keys stays */
        for (uint32_t j = i + 1; j < count; j++) again |= str_eq(buf_slice(&keys[i]), buf_slice(&keys[j]));
        struct buf *to = again ? &dropped : expected;
        if (i > 0) buf_putc(text, ',');
        if (!again && !first) buf_putc(expected, ',');
        first &= again;
        blank(r, text);
        write_string(r, buf_slice(&keys[i]), text, to);
        blank(r, text);
        buf_putc(text, ':');
        buf_putc(to, ':');
        blank(r, text);
        random_value(r, depth - 1, text, to);
        blank(r, text);
        buf_clear(&dropped);
    }
    buf_putc(text, '}');
    buf_putc(expected, '}');
    for (uint32_t i = 0; i < count; i++) buf_clear(&keys[i]);
}

static void random_array(struct random *r, int depth, struct buf *text, struct buf *expected)
{
    uint32_t count = random_below(r, 8);
    buf_putc(text, '[');
    buf_putc(expected, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            buf_putc(text, ',');
            buf_putc(expected, ',');
        }
        blank(r, text);
        random_value(r, depth - 1, text, expected);
    }
    buf_putc(text, ']');
    buf_putc(expected, ']');
}

void random_value(struct random *r, int depth, struct buf *text, struct buf *expected)
{
    static const char *const atoms[] = {"null", "true", "false"};
    struct buf s = {0};
    const char *atom;
    switch (random_below(r, depth > 0 ? 9 : 5)) {
    case 0:
        atom = atoms[random_below(r, 3)];
        buf_puts(text, atom);
        buf_puts(expected, atom);
        break;
    case 1: random_number(r, text, expected); break;
    case 2:
    case 3:
    case 4:
        random_string(r, &s);
        write_string(r, buf_slice(&s), text, expected);
        buf_clear(&s);
        break;
    case 5:
    case 6:
    case 7: random_map(r, depth, text, expected); break;
    default: random_array(r, depth, text, expected);
    }
}
