/* A dump of a cluster as a catalogue; see check_against.h. */
#include "app/check/check_against.h"

#include <stdlib.h>
#include <string.h>

#include "audit/input/manifest_objects.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/well_known.h"
#include "tool/tool.h"

enum { FIRST_GROUP = 1000 /* behind Kubernetes' own */ };

/* A kind that an object has. */
struct seen {
    char *group, *version, *kind;
    bool namespaced;
};

struct dump {
    struct tape_parser *lists; /* of what is made of definitions */
    struct catalogue *catalogue;
    lua_State *L; /* with lists of definitions, and of roles and bindings on top */
    bool has_binding;
    struct seen *seen;
    size_t seen_count;
    unsigned groups;
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

static void add_definition(struct dump *dump, const struct tape *tape)
{
    size_t spec = tape_field(tape, tape_root(tape), STR("spec"));
    size_t versions = spec ? tape_field(tape, spec, STR("versions")) : 0;
    unsigned order = 0;
    for (size_t v = versions ? tape_first(tape, versions, NULL) : 0; v;
         v = tape_next(tape, versions, v, NULL))
        if (tape_bool(tape, tape_field(tape, v, STR("served")), false))
            add_version(dump, tape, spec, text_at(tape, v, "name"), order++);
    dump->groups++;
}

/* --- responses of discovery */

static bool add_discovery(struct dump *dump, const struct audit_input_parsed *object)
{
    const struct tape *tape = object->tape;
    struct str group, version;
    if (str_is(object->kind, "APIGroupDiscovery")) {
        catalogue_add_group(dump->catalogue, tape, tape_root(tape), dump->groups++);
    } else if (str_is(object->kind, "APIResourceList")) {
        api_version_cut(text_at(tape, tape_root(tape), "groupVersion"), &group, &version);
        catalogue_add_legacy(dump->catalogue, tape, group, version, dump->groups++, 0);
    } else {
        return false;
    }
    return true;
}

/* --- objects */

/* An item of a list need not say what it is. */
static void add_role(struct dump *dump, const struct audit_input_parsed *object)
{
    bool is_binding = str_is(object->kind, "RoleBinding") || str_is(object->kind, "ClusterRoleBinding");
    if (!is_binding && !str_is(object->kind, "Role") && !str_is(object->kind, "ClusterRole")) return;
    dump->has_binding |= is_binding;
    tool_push_json(dump->L, object->tape, tape_root(object->tape));
    lua_pushlstring(dump->L, object->kind.p, object->kind.n);
    lua_setfield(dump->L, -2, "kind");
    tool_append(dump->L);
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

static bool add_object(void *ctx, const struct audit_input_parsed *object, struct err *err)
{
    struct dump *dump = ctx;
    const struct tape *tape = object->tape;
    if (add_discovery(dump, object)) return true;
    if (str_is(object->kind, "CustomResourceDefinition")) {
        add_definition(dump, tape);
        lua_getfield(dump->L, -1, "definitions");
        tool_push_json(dump->L, tape, tape_root(tape));
        tool_append(dump->L);
        lua_pop(dump->L, 1);
        return true;
    }
    if (!object->kind.n || !object->api_version.n)
        return err_set(err, ERR_INVALID, "object has no kind or apiVersion");
    add_role(dump, object);
    note_kind(dump, object->api_version, object->kind,
              text_at(tape, tape_field(tape, tape_root(tape), STR("metadata")), "namespace").n > 0);
    return true;
}

/* Kinds without a definition, which may come behind them in a file. */
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

struct dump *dump_read(lua_State *L, const char *const *files, size_t count, struct err *err)
{
    struct dump *dump = NEW(struct dump);
    const struct manifest_sink sink = {.object = add_object, .ctx = dump};
    dump->lists = tape_parser_new();
    dump->catalogue = catalogue_well_known();
    dump->L = L;
    dump->groups = FIRST_GROUP;
    lua_newtable(L);
    lua_newtable(L);
    lua_setfield(L, -2, "definitions");
    if (manifest_objects(files, count, &sink, "contains no objects; expected output of kubectl get -o json",
                         err)) {
        add_seen(dump);
        catalogue_finish(dump->catalogue);
        return dump;
    }
    dump_free(dump);
    lua_pop(L, 1);
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
    catalogue_free(dump->catalogue);
    tape_parser_free(dump->lists);
    free(dump);
}

const struct catalogue *dump_catalogue(const struct dump *dump)
{
    return dump->catalogue;
}

bool dump_has_binding(const struct dump *dump)
{
    return dump->has_binding;
}
