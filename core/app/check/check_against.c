/* A dump of a cluster as a catalogue; see check_against.h. */
#include "app/check/check_against.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/config/yaml_documents.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/well_known.h"

enum { FIRST_GROUP = 1000 /* behind Kubernetes' own */ };

/* A kind that an object has. */
struct seen {
    char *group, *version, *kind;
    bool namespaced;
};

struct dump {
    struct tape_parser *documents, *lists; /* of the files, and of what is made of them */
    struct catalogue *catalogue;
    struct dump_rights *rights;
    struct seen *seen;
    size_t seen_count;
    size_t read, objects; /* documents of the file that is being read; what is in them */
    unsigned groups;
    const char *path; /* that is being read */
    bool failed;
    struct err err; /* the first one */
};

/* --- definitions */

static struct str text_at(const struct tape *tape, size_t at, const char *key)
{
    return tape_str(tape, at ? tape_field(tape, at, str_of(key)) : 0);
}

static void put_resource(const struct tape *tape, size_t spec, struct buf *out)
{
    size_t names = tape_field(tape, spec, STR("names"));
    size_t shorts = names ? tape_field(tape, names, STR("shortNames")) : 0;
    json_open(out, NULL, '{');
    json_str(out, "name", text_at(tape, names, "plural"));
    json_str(out, "singularName", text_at(tape, names, "singular"));
    json_bool(out, "namespaced", str_is(text_at(tape, spec, "scope"), "Namespaced"));
    json_str(out, "kind", text_at(tape, names, "kind"));
    json_open(out, "verbs", '[');
    for (const char *const *verb =
             (const char *const[]){"get", "list", "watch", "create", "update", "patch", "delete", NULL};
         *verb; verb++)
        json_text(out, NULL, *verb);
    json_close(out, ']');
    json_open(out, "shortNames", '[');
    for (size_t v = shorts ? tape_first(tape, shorts, NULL) : 0; v; v = tape_next(tape, shorts, v, NULL))
        json_str(out, NULL, tape_str(tape, v));
    json_close(out, ']');
    json_close(out, '}');
}

/* As discovery would have it. */
static void add_version(struct dump *dump, const struct tape *tape, size_t spec, struct str version,
                        unsigned order)
{
    struct buf text = {0};
    struct tape list;
    struct err err;
    json_open(&text, NULL, '{');
    json_text(&text, "kind", "APIResourceList");
    json_open(&text, "resources", '[');
    put_resource(tape, spec, &text);
    json_close(&text, ']');
    json_close(&text, '}');
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (tape_parse(dump->lists, text.data, text.len, &list, &err))
        catalogue_add_legacy(dump->catalogue, &list, text_at(tape, spec, "group"), version, dump->groups,
                             order);
    buf_clear(&text);
}

static void add_definition(struct dump *dump, const struct tape *tape, size_t at)
{
    size_t spec = tape_field(tape, at, STR("spec"));
    size_t versions = spec ? tape_field(tape, spec, STR("versions")) : 0;
    unsigned order = 0;
    for (size_t v = versions ? tape_first(tape, versions, NULL) : 0; v;
         v = tape_next(tape, versions, v, NULL))
        if (tape_bool(tape, tape_field(tape, v, STR("served")), false))
            add_version(dump, tape, spec, text_at(tape, v, "name"), order++);
    dump->groups++;
}

/* --- answers of discovery */

static bool add_discovery(struct dump *dump, const struct tape *tape, struct str kind)
{
    struct str group, version;
    if (str_is(kind, "APIGroupDiscoveryList")) {
        catalogue_add_aggregated(dump->catalogue, tape, dump->groups);
        dump->groups += 1000;
    } else if (str_is(kind, "APIResourceList")) {
        api_version_cut(text_at(tape, tape_root(tape), "groupVersion"), &group, &version);
        catalogue_add_legacy(dump->catalogue, tape, group, version, dump->groups++, 0);
    } else {
        return false;
    }
    return true;
}

/* --- objects */

static void refuse(struct dump *dump, const struct err *err)
{
    if (!dump->failed) dump->err = *err;
    dump->failed = true;
}

static void note_kind(struct dump *dump, struct str api_version, struct str kind, bool namespaced)
{
    struct str group, version;
    api_version_cut(api_version, &group, &version);
    for (size_t i = 0; i < dump->seen_count; i++) {
        struct seen *seen = &dump->seen[i];
        if (!str_is(kind, seen->kind) || !str_is(group, seen->group) || !str_is(version, seen->version))
            continue;
        seen->namespaced |= namespaced;
        return;
    }
    *array_add(dump->seen, dump->seen_count) = (struct seen){
        xstrndup(group.p, group.n), xstrndup(version.p, version.n), xstrndup(kind.p, kind.n), namespaced};
}

/* Items of lists carry neither kind nor apiVersion: they are the list's. */
static void add_object(struct dump *dump, const struct tape *tape, size_t at, struct str api_version,
                       struct str kind)
{
    struct err err;
    struct str own_kind = text_at(tape, at, "kind"), own_version = text_at(tape, at, "apiVersion");
    if (own_kind.n) kind = own_kind;
    if (own_version.n) api_version = own_version;
    dump->objects++;
    if (str_is(kind, "CustomResourceDefinition")) {
        add_definition(dump, tape, at);
    } else if (!kind.n || !api_version.n) {
        err_set(&err, ERR_INVALID, "%s: object %zu has no kind or apiVersion", dump->path, dump->objects);
        refuse(dump, &err);
    } else {
        dump_rights_add(dump->rights, tape, at, kind);
        note_kind(dump, api_version, kind,
                  text_at(tape, tape_field(tape, at, STR("metadata")), "namespace").n > 0);
    }
}

static void add_document(struct dump *dump, const struct tape *tape)
{
    size_t root = tape_root(tape);
    size_t items = tape_type(tape, root) == '{' ? tape_field(tape, root, STR("items")) : root;
    struct str kind = tape_type(tape, root) == '{' ? text_at(tape, root, "kind") : (struct str){0};
    if (add_discovery(dump, tape, kind)) return;
    if (tape_type(tape, items) != '[') {
        add_object(dump, tape, root, (struct str){0}, (struct str){0});
        return;
    }
    struct str api_version = text_at(tape, root, "apiVersion");
    if (str_ends(kind, STR("List"))) kind.n -= 4;
    for (size_t v = tape_first(tape, items, NULL); v; v = tape_next(tape, items, v, NULL))
        add_object(dump, tape, v, api_version, kind);
}

static void on_document(void *ctx, struct str json)
{
    struct dump *dump = ctx;
    struct tape tape;
    struct err err;
    struct buf padded = {0};
    buf_str(&padded, json);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    if (!tape_parse(dump->documents, padded.data, padded.len, &tape, &err)) {
        err_wrap(&err, "%s: document %zu", dump->path, dump->read + 1);
        refuse(dump, &err);
    } else {
        dump->read++;
        add_document(dump, &tape);
    }
    buf_clear(&padded);
}

/* Those that no definition has, which may come behind them in a file. */
static void add_seen(struct dump *dump)
{
    for (size_t i = 0; i < dump->seen_count; i++) {
        const struct seen *seen = &dump->seen[i];
        char *version = xasprintf("%s%s%s", seen->group, *seen->group ? "/" : "", seen->version);
        catalogue_add_guess(dump->catalogue, str_of(version), str_of(seen->kind), seen->namespaced);
        free(version);
    }
}

/* --- the whole */

static bool read_file(struct dump *dump, const char *path, struct err *err)
{
    dump->path = path;
    dump->read = dump->objects = 0;
    if (!yaml_documents(path, on_document, dump, err)) return false;
    if (dump->failed) {
        *err = dump->err;
        return false;
    }
    return dump->read > 0 ||
           err_set(err, ERR_INVALID, "%s: contains no objects; expected output of kubectl get -o json", path);
}

struct dump *dump_read(const char *const *files, size_t count, struct err *err)
{
    struct dump *dump = NEW(struct dump);
    bool ok = true;
    dump->documents = tape_parser_new();
    dump->lists = tape_parser_new();
    dump->catalogue = catalogue_well_known();
    dump->rights = dump_rights_new();
    dump->groups = FIRST_GROUP;
    for (size_t i = 0; ok && i < count; i++) ok = read_file(dump, files[i], err);
    if (ok) {
        add_seen(dump);
        catalogue_finish(dump->catalogue);
        return dump;
    }
    dump_free(dump);
    return NULL;
}

void dump_free(struct dump *dump)
{
    if (!dump) return;
    for (size_t i = 0; i < dump->seen_count; i++) {
        free(dump->seen[i].group);
        free(dump->seen[i].version);
        free(dump->seen[i].kind);
    }
    free(dump->seen);
    dump_rights_free(dump->rights);
    catalogue_free(dump->catalogue);
    tape_parser_free(dump->documents);
    tape_parser_free(dump->lists);
    free(dump);
}

const struct catalogue *dump_catalogue(const struct dump *dump)
{
    return dump->catalogue;
}

const struct dump_rights *dump_rights(const struct dump *dump)
{
    return dump->rights;
}
