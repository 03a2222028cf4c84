/* Any bytes as a file of objects: each is read, or refused with a line; where what is read at once ends makes
 * no difference; an object that is alone in its file is what the tape says; one that is packed by names has
 * the fields of these names and no others; and nothing stays behind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/input/input.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "object/pack/pool.h"
#include "object/parse/tape.h"
#include "object/value/json.h"
#include "object/value/name_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READ_AT_ONCE = 256 << 10, OBJECT_MAX = 2048 };

struct run {
    struct buf said; /* line and object, or what kind of error, one per line */
    size_t objects, refused, lines_before;
    struct root *first;
};

/* How a text is read. */
struct way {
    size_t before;                 /* bytes of blanks and a line end that stand before it */
    size_t window;                 /* 0: as always */
    const struct projection *kept; /* NULL: objects are whole */
};

/* By the same it is packed into the same; whole it is refused where what was not read is malformed. */
static void pack_again(const struct audit_input_object *object)
{
    struct root *same = object->again(object->text, object->projection);
    must(same == object->root);
    root_unref(same);
    if (object->projection) root_unref(object->again(object->text, NULL));
}

/* `part` is what is left of `whole` by names; `level` and `in_metadata` as of projection.c. */
static void check_part(struct value whole, struct value part, const struct name_set *names, int level,
                       bool in_metadata)
{
    must(value_type(whole) == value_type(part));
    if (value_type(whole) != VALUE_MAP && value_type(whole) != VALUE_ARRAY) {
        must(value_equal(whole, part));
        return;
    }
    must(value_type(whole) == VALUE_MAP || value_count(whole) == value_count(part));
    for (size_t i = 0; i < value_count(whole); i++) {
        struct str key = {NULL, 0};
        struct text text;
        if (value_type(whole) == VALUE_ARRAY) {
            check_part(value_item(whole, i), value_item(part, i), names, level + 1, false);
            continue;
        }
        struct value below = value_entry(whole, i, &key, &text), found = value_field(part, key);
        enum name_kept kept = name_set_find(names, key);
        bool is_metadata = level == 0 && str_is(key, "metadata");
        bool identifies = is_metadata || (level == 0 && (str_is(key, "kind") || str_is(key, "apiVersion"))) ||
                          (in_metadata && (str_is(key, "name") || str_is(key, "namespace") ||
                                           str_is(key, "uid") || str_is(key, "resourceVersion")));
        if (kept == NAME_KEPT_WHOLE)
            must(value_equal(below, found));
        else if (kept == NAME_KEPT || identifies)
            check_part(below, found, names, level + 1, is_metadata);
        else
            must(value_type(found) == VALUE_ABSENT);
    }
}

/* By all its own names with what is in them it is whole. */
static void check_names(const struct audit_input_object *object)
{
    struct root *whole = object->again(object->text, NULL);
    if (!whole) return; /* what was not read is malformed */
    struct value value = root_value(whole);
    struct name_set *all = name_set_new();
    check_part(value, root_value(object->root), projection_names(object->projection), 0, false);
    for (size_t i = 0; i < value_count(value); i++) {
        struct str key;
        struct text text;
        value_entry(value, i, &key, &text);
        name_set_add(all, key, true);
    }
    struct projection *by_all = projection_of_names(all);
    struct root *again = object->again(object->text, by_all);
    must(again && value_equal(root_value(again), value));
    root_unref(again);
    root_unref(whole);
    projection_unref(by_all);
}

static bool on_object(void *ctx, const struct audit_input_object *object)
{
    struct run *run = ctx;
    must(object->line > run->lines_before && object->file.n > 0);
    buf_printf(&run->said, "%zu ", object->line - run->lines_before);
    json_write(&run->said, root_value(object->root));
    buf_putc(&run->said, '\n');
    if (run->objects++ == 0) run->first = root_ref(object->root);
    pack_again(object);
    if (object->projection && projection_names(object->projection)) check_names(object);
    return true;
}

static void on_refused(void *ctx, const struct err *err)
{
    struct run *run = ctx;
    size_t line = 0;
    sscanf(err->text, "/proc/self/fd/%*d:%zu: ", &line);
    must(err->code != ERR_NONE && (line > 0 || strstr(err->text, " more objects could not")));
    buf_printf(&run->said, "! %s\n", err_code_name(err->code));
    run->refused++;
}

static const struct projection *projection_of(void *ctx, struct str api_version, struct str kind)
{
    return ((const struct way *)ctx)->kept;
}

static const struct projection *by_paths(void)
{
    static const char *const fields[] = {"spec.a[*].b", "spec.c", "metadata.labels"};
    static struct projection *p;
    if (!p) p = projection_new((struct projection_paths){fields, 3}, (struct projection_paths){0}, NULL);
    return p;
}

/* Each bit is a name, each of the upper ones says that it is whole. */
static struct projection *by_names(size_t bits)
{
    static const char *const names[] = {"spec", "a", "b", "metadata", "labels", "c", "x", "items"};
    struct name_set *set = name_set_new();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bits >> i & 1) name_set_add(set, str_of(names[i]), bits >> (i + 8) & 1);
    return projection_of_names(set);
}

static struct run read_text(struct packer *packer, struct str text, const struct way *way)
{
    size_t before = way->before;
    struct run run = {.lines_before = before > 0};
    const struct audit_input_sink sink = {.object = on_object, .refused = on_refused, .ctx = &run};
    const struct audit_input_options options = {.packer = packer,
                                                .sink = &sink,
                                                .projection_of = way->kept ? projection_of : NULL,
                                                .max_object_size = OBJECT_MAX,
                                                .window = way->window,
                                                .ctx = (void *)way};
    struct audit_input_counts counts = {0};
    struct err err;
    char path[64], blanks[4096];
    int fd = memfd_create("text", MFD_CLOEXEC);
    memset(blanks, ' ', sizeof blanks);
    for (size_t left = before; left > 0;) {
        size_t n = left > sizeof blanks ? sizeof blanks : left;
        if (n == left) blanks[n - 1] = '\n';
        must(write(fd, blanks, n) == (ssize_t)n);
        left -= n;
    }
    must(write(fd, text.p, text.n) == (ssize_t)text.n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    must(audit_input_read(&options, path, &counts, &err));
    must(counts.objects == run.objects && counts.files == 1);
    close(fd);
    return run;
}

static void end_run(struct run *run)
{
    root_unref(run->first);
    buf_clear(&run->said);
}

/* libyaml looks ahead for bytes that may not be there at all, and JSON for such that are no UTF-8: what is
 * read before they are found depends on how much is read at once. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c != '\n' && c != '\r' && c != '\t' && (c < ' ' || c > '~')) return false;
    }
    return true;
}

/* A text that is one object by simdjson's own grammar is that object, or refused as that object would be. */
static void check_single(struct packer *packer, struct str text, const struct run *run)
{
    static struct tape_parser *parser;
    struct root *expected = NULL;
    struct tape tape;
    struct err err;
    char *padded = calloc(1, text.n + TAPE_PADDING);
    must(padded);
    if (text.n > 0) memcpy(padded, text.p, text.n);
    if (!parser) parser = tape_parser_new();
    if (text.n <= OBJECT_MAX && tape_parse(parser, padded, text.n, &tape, &err) && is_plain(text) &&
        tape_type(&tape, tape_root(&tape)) == '{' && !memchr(text.p, '\\', text.n) &&
        !tape_field(&tape, tape_root(&tape), STR("items")) &&
        !str_is(tape_str(&tape, tape_field(&tape, tape_root(&tape), STR("kind"))), "List") &&
        pack_tape(packer, &tape, tape_root(&tape), NULL, &expected, &err))
        must(run->objects == 1 && run->refused == 0 && run->first == expected);
    root_unref(expected);
    free(padded);
}

/* The same lines, in whatever order: items whose list says behind them what they are come last when they have
 * to wait for that. */
static uint64_t hash_lines(struct str text)
{
    uint64_t sum = 0;
    for (const char *end; text.n > 0 && (end = memchr(text.p, '\n', text.n));) {
        size_t n = (size_t)(end - text.p);
        sum += hash_str((struct str){text.p, n});
        text = (struct str){end + 1, text.n - n - 1};
    }
    return sum + hash_str(text);
}

/* What is read at once ends somewhere in the text; or in many places, and it is read in many stretches: where
 * something is damaged, how much is told of it depends on how much of it was there to be looked at. */
static void check_stretches(struct packer *packer, struct str text, const struct run *plain, size_t place)
{
    const struct way ways[] = {{.before = READ_AT_ONCE - place % (text.n + 1)},
                               {.window = 16 + place % 500},
                               {.window = 16 + place / 500 % 5000}};
    for (size_t i = place % 4 == 0 ? 0 : 1; i < 3; i++) { /* the first takes ten times as long */
        struct run run = read_text(packer, text, &ways[i]);
        must(!plain->refused == !run.refused);
        if (!plain->refused || !ways[i].window)
            must(hash_lines(buf_slice(&plain->said)) == hash_lines(buf_slice(&run.said)));
        end_run(&run);
    }
}

static void check_projected(struct packer *packer, struct str text, const struct run *plain,
                            const struct projection *kept)
{
    struct run run = read_text(packer, text, &(const struct way){.kept = kept});
    must(run.objects >= plain->objects); /* of what is dropped only the brackets are looked at */
    end_run(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct packer *packer;
    static struct pool *pool;
    if (!packer) packer = packer_new(pool = pool_new(NULL));
    struct str text = {(const char *)data, size};
    struct run plain = read_text(packer, text, &(const struct way){0});
    check_single(packer, text, &plain);
    size_t place = size > 0 ? data[size - 1] * 131u + data[size / 2] : 0;
    struct projection *names = by_names(place * 2654435761u >> 3);
    if (is_plain(text)) check_stretches(packer, text, &plain, place);
    check_projected(packer, text, &plain, by_paths());
    check_projected(packer, text, &plain, names);
    projection_unref(names);
    end_run(&plain);
    must(pool_stats(pool).used_bytes == 0);
    return 0;
}
