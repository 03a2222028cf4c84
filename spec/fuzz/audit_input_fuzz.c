/* Any bytes as a file of objects: each is read, or refused with a line; where what is read at once ends makes
 * no difference; an object that is alone in its file is what the tape says; and nothing stays behind. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/input.h"
#include "base/buf.h"
#include "base/must.h"
#include "object/json.h"
#include "object/pool.h"
#include "object/tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READ_AT_ONCE = 256 << 10, OBJECT_MAX = 2048 };

struct run {
    struct buf said; /* line and object, or what kind of error, one per line */
    size_t objects, refused, lines_before;
    struct root *first;
};

/* By the same it is packed into the same; whole it is refused where what was not read is malformed. */
static void pack_again(const struct audit_input_object *object)
{
    struct root *same = object->again(object->text, object->kept);
    must(same == object->root);
    root_unref(same);
    if (object->kept) root_unref(object->again(object->text, NULL));
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
    return true;
}

static void on_refused(void *ctx, const struct err *err)
{
    struct run *run = ctx;
    must(err->code != ERR_NONE &&
         (strstr(err->text, ": line ") || strstr(err->text, " more that could not")));
    buf_printf(&run->said, "! %s\n", err_code_name(err->code));
    run->refused++;
}

static const struct projection *projection_of(void *ctx, struct str api_version, struct str kind)
{
    static const char *const fields[] = {"spec.a[*].b", "spec.c", "metadata.labels"};
    static struct projection *p;
    if (!p) p = projection_new((struct projection_paths){fields, 3}, (struct projection_paths){0}, NULL);
    return p;
}

/* `before` bytes of blanks and a line end stand before the text. */
static struct run read_text(struct packer *packer, struct str text, size_t before, bool project)
{
    struct run run = {.lines_before = before > 0};
    const struct audit_input_sink sink = {on_object, on_refused, &run};
    const struct audit_input_options options = {.packer = packer,
                                                .sink = &sink,
                                                .projection_of = project ? projection_of : NULL,
                                                .max_object_size = OBJECT_MAX};
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct packer *packer;
    static struct pool *pool;
    if (!packer) packer = packer_new(pool = pool_new(NULL));
    struct str text = {(const char *)data, size};
    struct run plain = read_text(packer, text, 0, false), projected = read_text(packer, text, 0, true);
    check_single(packer, text, &plain);
    size_t place = size > 0 ? data[size - 1] * 131u + data[size / 2] : 0;
    if (is_plain(text) && place % 4 == 0) { /* it takes ten times as long */
        struct run shifted = read_text(packer, text, READ_AT_ONCE - place % (size + 1), false);
        must(str_eq(buf_slice(&plain.said), buf_slice(&shifted.said)));
        end_run(&shifted);
    }
    must(projected.objects >= plain.objects); /* of what is dropped only the brackets are looked at */
    end_run(&plain);
    end_run(&projected);
    must(pool_stats(pool).used_bytes == 0);
    return 0;
}
