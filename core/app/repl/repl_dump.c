/* Dumps for a prompt: files of `kubectl get -o json|yaml` and manifests, in a cluster in memory; see
 * repl_backend.h. */
#include <stdio.h>
#include <stdlib.h>

#include "app/repl/repl_backend.h"
#include "audit/input/manifest_objects.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/kinds/catalogue.h"
#include "object/parse/document.h"
#include "sim/api/inside.h"

struct load {
    struct repl_engine *engine;
    size_t objects; /* of all files */
    bool new_kinds;
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
    bool known =
        kinds_resolve(engine_cluster(load->engine->engine)->parts.kinds, str_of(name), &resource, &err);
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

/* The fields of the map at `at`, but for what `without` names. */
static void put_fields(struct buf *out, const struct tape *tape, size_t at, const char *without)
{
    struct str key;
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        struct buf json = {0};
        if (str_is(key, without)) continue;
        document_json(tape, v, &json);
        json_key(out, key);
        buf_str(out, str_trim(buf_slice(&json)));
        buf_clear(&json);
    }
}

/* As the file has it: what has a uid is stored without a default of the server's. Items of lists carry
 * neither kind nor apiVersion: they are the list's. */
static void write_object(const struct load *load, const struct audit_input_parsed *object, struct buf *out)
{
    const struct tape *tape = object->tape;
    size_t at = tape_root(tape), metadata = tape_field(tape, at, STR("metadata"));
    json_open(out, NULL, '{');
    if (!tape_field(tape, at, STR("apiVersion"))) json_str(out, "apiVersion", object->api_version);
    if (!tape_field(tape, at, STR("kind"))) json_str(out, "kind", object->kind);
    json_open(out, "metadata", '{');
    put_fields(out, tape, metadata, "");
    if (!tape_field(tape, metadata, STR("uid"))) {
        char uid[40];
        snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zu", load->objects);
        json_text(out, "uid", uid);
    }
    json_close(out, '}');
    put_fields(out, tape, at, "metadata");
    json_close(out, '}');
}

static bool put_object(void *ctx, const struct audit_input_parsed *object, struct err *err)
{
    struct load *load = ctx;
    struct buf text = {0};
    load->objects++;
    size_t metadata = tape_field(object->tape, tape_root(object->tape), STR("metadata"));
    struct str name = tape_str(object->tape, tape_field(object->tape, metadata, STR("name")));
    if (!object->kind.n || !object->api_version.n || !name.n)
        return err_set(err, ERR_INVALID, "object has no kind, apiVersion or name");
    know_kind(load, object->api_version, object->kind,
              tape_field(object->tape, metadata, STR("namespace")) != 0);
    write_object(load, object, &text);
    bool ok = sim_inside_put(inside(load), buf_slice(&text), err) ||
              err_wrap(err, "%.*s %.*s", STR_ARG(object->kind), STR_ARG(name));
    buf_clear(&text);
    return ok;
}

bool repl_dump_load(struct repl_engine *engine, const char *const *files, size_t count, struct err *err)
{
    struct load load = {.engine = engine};
    const struct manifest_sink sink = {.object = put_object, .ctx = &load};
    return manifest_objects(files, count, &sink, NULL, err) &&
           (!load.new_kinds || repl_engine_refresh_kinds(engine, err));
}
