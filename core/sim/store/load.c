/* Loading files; see load.h. */
#include "sim/store/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/widen.h"
#include "sim/store/effects.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"

enum { CHUNK = 1 << 20 };

bool sim_file_read(const char *path, struct buf *out, struct err *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    size_t n;
    while ((n = fread(buf_reserve(out, CHUNK), 1, CHUNK, file)) > 0) out->len += n;
    bool ok = !ferror(file);
    if (!ok) err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (file != stdin) fclose(file);
    return ok;
}

static struct sim_served *find(struct sim_api *api, const json_t *object, struct err *err)
{
    const char *kind = sim_text_at(object, "kind"), *version = sim_text_at(object, "apiVersion");
    if (!json_is_object(object)) return err_set(err, ERR_INVALID, "not a JSON object"), NULL;
    if (!*kind || !*version) return err_set(err, ERR_INVALID, "kind or apiVersion is missing"), NULL;
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_of_kind(api->store, version, kind);
    sim_store_unlock(api->store);
    if (!served)
        err_set(err, ERR_INVALID,
                "kind %s of %s is unknown; a CustomResourceDefinition must come before its objects", kind,
                version);
    return served;
}

static void make_namespace(struct sim_api *api, const char *name)
{
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_find(api->store, "", "v1", "namespaces");
    bool there = omap_get(served->resource->map, name) != NULL;
    sim_store_unlock(api->store);
    if (there) return;
    struct sim_written written;
    json_t *body =
        json_pack("{ss ss s{ss}}", "kind", "Namespace", "apiVersion", "v1", "metadata", "name", name);
    sim_write_create(api, served, NULL, body, false, &written);
    sim_written_clear(api, &written);
    json_decref(body);
}

/* Stores an object as it was in its cluster: with uid, times and status. Only the version is new. */
static void put(struct sim_api *api, const struct sim_served *served, json_t *object)
{
    struct sim_object *stored = sim_object_from_json(object);
    sim_store_lock(api->store);
    sim_store_put(api->store, served->resource, stored);
    sim_store_unlock(api->store);
    sim_effects_stored(api, served, object);
}

static bool load_object(struct sim_api *api, json_t *object, struct err *err);

static bool load_list(struct sim_api *api, const json_t *list, struct err *err)
{
    size_t i;
    json_t *item;
    const char *kind = sim_text_at(list, "kind"), *version = sim_text_at(list, "apiVersion");
    json_array_foreach (json_object_get(list, "items"), i, item) {
        /* Items of a PodList have no kind of their own. */
        if (strcmp(kind, "List") != 0 && json_is_object(item)) {
            sim_default(item, "kind", json_stringn(kind, strlen(kind) - strlen("List")));
            sim_default(item, "apiVersion", json_string(version));
        }
        if (!load_object(api, item, err)) return err_wrap(err, "item %zu", i + 1);
    }
    return true;
}

static bool load_object(struct sim_api *api, json_t *object, struct err *err)
{
    struct str kind = str_of(sim_text_at(object, "kind"));
    if (str_ends(kind, STR("List")) && json_is_array(json_object_get(object, "items")))
        return load_list(api, object, err);
    struct sim_served *served = find(api, object, err);
    if (!served) return false;
    if (!*sim_text_at(object, "metadata.name") && !*sim_text_at(object, "metadata.generateName"))
        return err_set(err, ERR_INVALID, "metadata.name is missing");
    if (served->kind->namespaced) {
        sim_default(json_object_get(object, "metadata"), "namespace", json_string("default"));
        make_namespace(api, sim_text_at(object, "metadata.namespace"));
    }
    if (*sim_text_at(object, "metadata.uid")) {
        put(api, served, object);
        return true;
    }
    struct sim_written written;
    const char *namespace_ = served->kind->namespaced ? sim_text_at(object, "metadata.namespace") : NULL;
    sim_write_whole(api, served, namespace_, object, &written); /* it is new */
    return sim_write_accepted(api, &written, false, err);
}

/* Manifests are YAML most often, which jansson has no word for. */
static bool begins_as_json(struct str text, struct err *err)
{
    if (*text.p == '{' || *text.p == '[') return true;
    return err_set(err, ERR_PARSE,
                   "expected JSON; convert YAML with kubectl create --dry-run=client -o json -f FILE");
}

/* Reads one value after the other, so that a file may have one, or one a line. `wide` is the rest of the text
 * from the first integer beyond 64 bits on. */
static bool load_values(struct sim_api *api, struct str text, struct buf *wide, struct err *err)
{
    size_t at = 0, line = 1;
    while (at < text.n && strchr(" \t\r\n", text.p[at])) line += text.p[at++] == '\n';
    while (at < text.n) {
        json_error_t error;
        if (!begins_as_json((struct str){text.p + at, text.n - at}, err))
            return err_wrap(err, "line %zu", line);
        json_t *object = json_loadb(text.p + at, text.n - at, JSON_DISABLE_EOF_CHECK, &error);
        struct str rest = {text.p + at, text.n - at};
        if (!object && !wide->len && json_error_code(&error) == json_error_numeric_overflow &&
            widen_integers(rest, false, wide)) {
            text = buf_slice(wide);
            at = 0;
            continue;
        }
        if (!object)
            return err_set(err, ERR_PARSE, "line %zu: %s",
                           line + (size_t)(error.line > 0 ? error.line : 1) - 1, error.text);
        bool ok = load_object(api, object, err);
        json_decref(object);
        if (!ok) return err_wrap(err, "line %zu", line);
        for (size_t end = at + (size_t)error.position;
             at < end || (at < text.n && strchr(" \t\r\n", text.p[at])); at++)
            line += text.p[at] == '\n';
    }
    return true;
}

bool sim_load_text(struct sim_api *api, struct str text, struct err *err)
{
    struct buf wide = {0};
    bool ok = load_values(api, text, &wide, err);
    buf_clear(&wide);
    return ok;
}

bool sim_load_file(struct sim_api *api, const char *path, struct err *err)
{
    struct buf text = {0};
    bool ok = sim_file_read(path, &text, err);
    if (ok && !sim_load_text(api, buf_slice(&text), err)) ok = err_wrap(err, "%s", path);
    buf_clear(&text);
    return ok;
}
