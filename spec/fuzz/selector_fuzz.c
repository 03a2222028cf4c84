/* Any selector: refused with an error, or one whose canonical text is itself and selects the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "object/pack/pack.h"
#include "object/value/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OBJECTS = 5 };

static struct root *object(struct packer *packer, const char *labels)
{
    char text[256 + TAPE_PADDING] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"x\",\"labels\":";
    strcat(strcat(text, labels), "}}");
    struct root *root;
    struct err err;
    must(pack_text(packer, text, strlen(text), NULL, &root, &err));
    return root;
}

static struct selector *parse(struct str text, struct err *err)
{
    struct selector *selector = selector_parse(text, err);
    must(selector || (err->code != ERR_NONE && err->text[0]));
    return selector;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[OBJECTS] = {"{}", "{\"x\":\"a\"}", "{\"x\":\"\",\"y\":\"5\"}",
                                                "{\"in\":\"notin\"}", "{\"a.b/c\":\"d\",\"x\":7}"};
    static struct packer *packer;
    static struct root *root[OBJECTS];
    if (!packer) {
        packer = packer_new(pool_new(NULL));
        for (size_t i = 0; i < OBJECTS; i++) root[i] = object(packer, labels[i]);
    }
    struct err err = {0};
    struct selector *selector = parse((struct str){(const char *)data, size}, &err);
    if (!selector) return 0;
    struct selector *again = parse(selector_text(selector), &err);
    must(again && str_eq(selector_text(selector), selector_text(again)));
    must(selector_is_everything(selector) == (selector_text(selector).n == 0));
    for (size_t i = 0; i < OBJECTS; i++) {
        must(selector_matches(selector, root_labels(root[i])) ==
             selector_matches(again, root_labels(root[i])));
    }
    selector_free(selector);
    selector_free(again);
    return 0;
}
