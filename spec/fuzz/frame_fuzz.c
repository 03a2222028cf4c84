/* core/kube/frame: however a stream is cut into stretches, the same frames come out, or the same error does.
 * The first byte chooses the form, the second the lengths of the stretches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "kube/api/frame.h"
#include "object/parse/tape.h"

enum { MAX_FRAME = 200 };

/* What came out, as one text. */
struct output {
    struct buf text;
};

static bool on_frame(void *ctx, const char *text, size_t len)
{
    struct output *out = ctx;
    must(len <= MAX_FRAME);
    buf_printf(&out->text, "frame %zu ", len);
    buf_append(&out->text, text, len);
    volatile char sum = 0; /* the promised bytes behind it can be read */
    for (size_t i = 0; i < 64; i++) sum = (char)(sum + text[len + i]);
    return true;
}

static struct tape_parser *parser;

static bool is_one(void *ctx, const char *text, size_t len)
{
    struct tape tape;
    return tape_parse(parser, text, len, &tape, NULL);
}

static bool on_oversize(void *ctx, const char *head, size_t head_len, size_t seen)
{
    struct output *out = ctx;
    must(head_len <= seen);
    buf_printf(&out->text, "oversize %zu ", seen);
    buf_append(&out->text, head, head_len);
    return true;
}

static bool on_envelope(void *ctx, const char *text, size_t len)
{
    struct output *out = ctx;
    buf_puts(&out->text, "envelope ");
    buf_append(&out->text, text, len);
    return true;
}

static bool on_list_type(void *ctx, struct str kind, struct str api_version)
{
    struct output *out = ctx;
    buf_printf(&out->text, "type %.*s %.*s ", STR_ARG(kind), STR_ARG(api_version));
    return true;
}

static void run(enum frame_form form, const char *data, size_t len, size_t stretch, struct output *out)
{
    const struct frame_sink sink = {out, is_one, on_frame, on_oversize, on_envelope, on_list_type};
    struct framer *framer = framer_new(form, MAX_FRAME, &sink);
    struct err err;
    bool ok = true;
    for (size_t at = 0; at < len && ok; at += stretch) {
        size_t n = len - at < stretch ? len - at : stretch;
        char *copy = malloc(n); /* so that reading beyond the stretch is seen */
        must(copy);
        memcpy(copy, data + at, n);
        ok = framer_feed(framer, copy, n, &err);
        free(copy);
    }
    if (ok) ok = framer_end(framer, &err);
    buf_printf(&out->text, " %s", ok ? "ok" : err_code_name(err.code));
    framer_free(framer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    if (!parser) parser = tape_parser_new();
    enum frame_form form = data[0] % 2 ? FRAME_LIST : FRAME_WATCH;
    const char *text = (const char *)data + 2;
    struct output whole = {0}, cut = {0};
    run(form, text, size - 2, size, &whole);
    run(form, text, size - 2, (size_t)data[1] % 31 + 1, &cut);
    must(str_eq(buf_slice(&whole.text), buf_slice(&cut.text)));
    buf_clear(&whole.text);
    buf_clear(&cut.text);
    return 0;
}
