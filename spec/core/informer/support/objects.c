/* Small objects for specs; see objects.h. */
#include "core/informer/support/objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "object/pack/pack.h"
#include "object/value/value.h"

const char *objects_api_version = "v1";
static struct pool *pool;
static struct packer *packer;

void objects_open(void)
{
    pool = pool_new(NULL);
    packer = packer_new(pool);
}

void objects_adopt(void)
{
    pool_adopt(pool);
}

void objects_drain(void)
{
    pool_drain(pool);
}

void objects_close(void)
{
    pool_drain(pool);
    assert_int_equal(pool_stats(pool).roots, 0);
    packer_free(packer);
    pool_free(pool);
}

static void write_json(struct buf *json, struct str ns, struct str name, struct str version, struct str uid,
                       const char *labels)
{
    buf_printf(json, "{\"apiVersion\":\"%s\",\"kind\":\"Pod\",\"metadata\":{", objects_api_version);
    if (ns.n) buf_printf(json, "\"namespace\":\"%.*s\",", STR_ARG(ns));
    buf_printf(json, "\"name\":\"%.*s\",\"uid\":\"%.*s\",", STR_ARG(name), STR_ARG(uid));
    if (version.n) buf_printf(json, "\"resourceVersion\":\"%.*s\",", STR_ARG(version));
    buf_printf(json, "\"labels\":%s}}", labels);
}

static struct root *pack(struct buf *json)
{
    struct root *root;
    struct err err;
    buf_reserve(json, TAPE_PADDING);
    if (!pack_text(packer, json->data, json->len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(json);
    return root;
}

struct root *object_from_json(const char *text)
{
    struct buf json = {0};
    buf_puts(&json, text);
    return pack(&json);
}

struct root *object_with_labels(const char *text, const char *labels_json)
{
    struct str rest = str_of(text), key, version, ns = {0}, name, part;
    struct buf json = {0};
    str_cut(&rest, '@', &key);
    struct str uid = key;
    if (!rest.p || !str_cut(&rest, '#', &version)) version = (struct str){0};
    if (rest.p) uid = rest;
    name = key;
    if (str_cut(&name, '/', &part) && name.p)
        ns = part;
    else
        name = part;
    write_json(&json, ns, name, version, uid, labels_json);
    return pack(&json);
}

struct root *object(const char *text)
{
    return object_with_labels(text, "{}");
}

struct root **object_list(const char *texts, size_t *count)
{
    struct str rest = str_of(texts), part;
    struct root **list = xcalloc(1, sizeof *list);
    *count = 0;
    while (rest.p && str_cut(&rest, ' ', &part)) {
        if (!part.n) continue;
        char *text = xstrndup(part.p, part.n);
        list = xrealloc(list, (*count + 1) * sizeof(struct root *));
        list[(*count)++] = object(text);
        free(text);
    }
    return list;
}

void object_describe(const struct root *root, struct buf *out)
{
    struct text text;
    root_key(root, out);
    buf_putc(out, '@');
    buf_str(out, root_resource_version(root, &text));
}
