/* Custom resource definitions as a catalogue; see check_against.h. */
#include "app/check_against.h"

#include <string.h>

#include "app/json_out.h"
#include "base/file.h"
#include "kube/catalogue.h"
#include "kube/well_known.h"

enum { DUMP_MAX = 256 << 20, FIRST_GROUP = 1000 /* behind Kubernetes' own */ };

struct dump {
    struct tape_parser *parser; /* of the lists that are made */
    struct catalogue *catalogue;
    unsigned groups;
};

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
    if (tape_parse(dump->parser, text.data, text.len, &list, &err))
        catalogue_add_legacy(dump->catalogue, &list, text_at(tape, spec, "group"), version,
                             FIRST_GROUP + dump->groups, order);
    buf_clear(&text);
}

static void add_definition(struct dump *dump, const struct tape *tape, size_t at)
{
    size_t spec = tape_field(tape, at, STR("spec"));
    size_t versions = spec ? tape_field(tape, spec, STR("versions")) : 0;
    unsigned order = 0;
    if (!str_is(text_at(tape, at, "kind"), "CustomResourceDefinition")) return;
    for (size_t v = versions ? tape_first(tape, versions, NULL) : 0; v;
         v = tape_next(tape, versions, v, NULL))
        if (tape_bool(tape, tape_field(tape, v, STR("served")), false))
            add_version(dump, tape, spec, text_at(tape, v, "name"), order++);
    dump->groups++;
}

static bool add_all(struct dump *dump, const struct tape *tape, struct err *err)
{
    size_t root = tape_root(tape);
    size_t items = tape_type(tape, root) == '{' ? tape_field(tape, root, STR("items")) : 0;
    for (size_t v = items ? tape_first(tape, items, NULL) : 0; v; v = tape_next(tape, items, v, NULL))
        add_definition(dump, tape, v);
    if (!items && tape_type(tape, root) == '{') add_definition(dump, tape, root);
    return items || dump->groups ||
           err_set(err, ERR_INVALID,
                   "no list of custom resource definitions, as kubectl get crds -o json gives");
}

struct catalogue *catalogue_of_dump(const char *path, struct err *err)
{
    struct buf text = {0};
    struct tape tape;
    struct tape_parser *parser = tape_parser_new();
    struct dump dump = {.parser = tape_parser_new(), .catalogue = catalogue_well_known()};
    bool ok = file_read(path, DUMP_MAX, &text, err);
    if (ok) {
        memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
        ok = (tape_parse(parser, text.data, text.len, &tape, err) && add_all(&dump, &tape, err)) ||
             err_wrap(err, "%s", path);
    }
    if (ok) catalogue_finish(dump.catalogue);
    buf_clear(&text);
    tape_parser_free(parser);
    tape_parser_free(dump.parser);
    if (ok) return dump.catalogue;
    catalogue_free(dump.catalogue);
    return NULL;
}
