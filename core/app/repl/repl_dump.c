/* Dumps for a prompt: files of `kubectl get -o json|yaml` and manifests, in a cluster in memory; see
 * repl_backend.h. */
#include <stdio.h>
#include <stdlib.h>

#include "app/repl/repl_backend.h"
#include "base/mem.h"
#include "kube/config/yaml_documents.h"
#include "kube/kinds/catalogue.h"
#include "object/parse/document.h"
#include "sim/api/inside.h"

struct load {
    struct repl_engine *engine;
    struct tape_parser *parser;
    const char *path;
    size_t documents, objects;
    bool new_kinds, failed;
    struct err err;
};

static struct sim_inside *inside(const struct load *load)
{
    return spec_cluster_inside(load->engine->dump);
}

/* A kind that the cluster in memory does not have is added to it. */
static void know_kind(struct load *load, struct str api_version, struct str kind, bool namespaced)
{
    struct resource resource;
    struct err err;
    char *name = xasprintf("%.*s/%.*s", STR_ARG(api_version), STR_ARG(kind));
    bool known = kinds_resolve(load->engine->engine->cluster->kinds, str_of(name), &resource, &err);
    free(name);
    if (known) {
        resource_clear(&resource);
        return;
    }
    struct str rest = api_version, group;
    str_cut(&rest, '/', &group);
    if (!rest.p) rest = group, group = STR("");
    char *g = xstrndup(group.p, group.n), *v = xstrndup(rest.p, rest.n), *k = xstrndup(kind.p, kind.n),
         *plural = plural_guess(kind);
    sim_inside_add_kind(inside(load), g, v, plural, k, namespaced);
    load->new_kinds = true;
    free(g);
    free(v);
    free(k);
    free(plural);
}

static void refuse(struct load *load, const struct err *err)
{
    if (!load->failed) load->err = *err;
    load->failed = true;
}

static void put_field(struct buf *out, struct str name, struct str json)
{
    if (out->len > 1) buf_putc(out, ',');
    buf_json_string(out, name);
    buf_putc(out, ':');
    buf_str(out, str_trim(json));
}

static void put_text(struct buf *out, const char *name, struct str text)
{
    struct buf json = {0};
    buf_json_string(&json, text);
    put_field(out, str_of(name), buf_slice(&json));
    buf_clear(&json);
}

/* The fields of the map at `at`, but for what `without` names. */
static void put_fields(struct buf *out, const struct tape *tape, size_t at, const char *without)
{
    struct str key;
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        struct buf json = {0};
        if (str_is(key, without)) continue;
        document_json(tape, v, &json);
        put_field(out, key, buf_slice(&json));
        buf_clear(&json);
    }
}

/* As the file has it: what has a uid is stored without a default of the server's. Items of lists carry
 * neither kind nor apiVersion: they are the list's. */
static void write_object(const struct load *load, const struct tape *tape, size_t at, struct str api_version,
                         struct str kind, struct buf *out)
{
    struct buf metadata = {0};
    size_t given = tape_field(tape, at, STR("metadata"));
    buf_putc(&metadata, '{');
    put_fields(&metadata, tape, given, "");
    if (!tape_field(tape, given, STR("uid"))) {
        char uid[40];
        snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zu", load->objects);
        put_text(&metadata, "uid", str_of(uid));
    }
    buf_putc(&metadata, '}');
    buf_putc(out, '{');
    if (!tape_field(tape, at, STR("apiVersion"))) put_text(out, "apiVersion", api_version);
    if (!tape_field(tape, at, STR("kind"))) put_text(out, "kind", kind);
    put_field(out, STR("metadata"), buf_slice(&metadata));
    put_fields(out, tape, at, "metadata");
    buf_putc(out, '}');
    buf_clear(&metadata);
}

static void put_object(struct load *load, const struct tape *tape, size_t at, struct str api_version,
                       struct str kind)
{
    struct err err;
    struct buf text = {0};
    struct str own_version = tape_str(tape, tape_field(tape, at, STR("apiVersion")));
    struct str own_kind = tape_str(tape, tape_field(tape, at, STR("kind")));
    size_t metadata = tape_field(tape, at, STR("metadata"));
    struct str name = tape_str(tape, tape_field(tape, metadata, STR("name")));
    load->objects++;
    if (own_kind.n) kind = own_kind;
    if (own_version.n) api_version = own_version;
    if (!kind.n || !api_version.n || !name.n) {
        err_set(&err, ERR_INVALID, "%s: object %zu has no kind, apiVersion or name", load->path,
                load->objects);
        refuse(load, &err);
        return;
    }
    know_kind(load, api_version, kind, tape_field(tape, metadata, STR("namespace")) != 0);
    write_object(load, tape, at, api_version, kind, &text);
    if (!sim_inside_put(inside(load), buf_slice(&text), &err)) {
        err_wrap(&err, "%s: %.*s %.*s", load->path, STR_ARG(kind), STR_ARG(name));
        refuse(load, &err);
    }
    buf_clear(&text);
}

static void put_items(struct load *load, const struct tape *tape, size_t root, size_t items)
{
    struct str kind = tape_str(tape, tape_field(tape, root, STR("kind")));
    struct str api_version = tape_str(tape, tape_field(tape, root, STR("apiVersion")));
    if (str_ends(kind, STR("List"))) kind.n -= 4;
    for (size_t item = tape_first(tape, items, NULL); item; item = tape_next(tape, items, item, NULL))
        put_object(load, tape, item, api_version, kind);
}

static void on_document(void *ctx, struct str json)
{
    struct load *load = ctx;
    struct err err;
    struct tape tape;
    struct buf padded = {0};
    buf_str(&padded, json);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    load->documents++;
    if (!tape_parse(load->parser, padded.data, padded.len, &tape, &err)) {
        err_wrap(&err, "%s: document %zu", load->path, load->documents);
        refuse(load, &err);
    } else {
        size_t root = tape_root(&tape);
        bool is_array = tape_type(&tape, root) == '[';
        size_t items = is_array ? root : tape_field(&tape, root, STR("items"));
        if (tape_type(&tape, items) == '[')
            put_items(load, &tape, root, items);
        else
            put_object(load, &tape, root, (struct str){0}, (struct str){0});
    }
    buf_clear(&padded);
}

bool repl_dump_load(struct repl_engine *engine, const char *const *files, size_t count, struct err *err)
{
    struct load load = {.engine = engine, .parser = tape_parser_new()};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        load.path = files[i];
        load.documents = 0;
        ok = yaml_documents(files[i], on_document, &load, err);
        if (ok && load.failed) {
            *err = load.err;
            ok = false;
        }
    }
    tape_parser_free(load.parser);
    return ok && (!load.new_kinds || repl_engine_refresh_kinds(engine, err));
}
