/* `kubelua types`: classes for editors of the kinds' objects. They are written in Lua (lua/tool/types/). */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "app/check/check_against.h"
#include "app/check/check_target.h"
#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "base/log.h"
#include "kube/kinds/well_known.h"
#include "tool/tool.h"

enum { DISCOVERY_MS = 20000 };

static struct options options;
static const char *from;

static const struct flag flags[] = {
    {"from", 0, FLAG_STRING, &from, "cluster|FILE|DIR", "cluster",
     "Source of the kinds: cluster, the OpenAPI v3 documents of a server; or files with "
     "CustomResourceDefinitions or such a document (default: the kinds of Kubernetes 1.36)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[2];
    all[0] = (struct flag_group){"Connection (with --from cluster):", connection_flags(&options)};
    return all;
}

struct types_source {
    struct check_target target;
    struct cluster_config cluster;
    struct dump *dump;
    struct catalogue *catalogue;
};

static bool is_cluster(void)
{
    return from && strcmp(from, "cluster") == 0;
}

static bool open_server(struct types_source *source, struct err *err)
{
    const struct command_client_options client = {&source->cluster, options.request_timeout_ms, DISCOVERY_MS};
    if (!cluster_config_load(&options.cluster, &source->cluster, err)) return false;
    source->target.client = command_client_new(&client, err);
    source->catalogue = source->target.client ? command_client_kinds(source->target.client, err) : NULL;
    return source->catalogue || err_wrap(err, "%s", source->cluster.server);
}

/* dump_files() of the Lua: the definitions of --from. */
static int l_definitions(lua_State *L)
{
    struct types_source *source = lua_touserdata(L, lua_upvalueindex(1));
    struct err err;
    source->dump = dump_read(L, &from, 1, &err);
    if (!source->dump) {
        lua_pushnil(L);
        lua_pushstring(L, err.text);
        return 2;
    }
    lua_getfield(L, -1, "definitions");
    return 1;
}

static void set_facts(lua_State *L, const struct command_line *line, struct types_source *source)
{
    struct stat is;
    lua_newtable(L);
    tool_push_list(L, &line->arguments);
    lua_setfield(L, -2, "kinds");
    tool_set_text(L, "from", from);
    tool_set_bool(L, "is_cluster", is_cluster());
    tool_set_bool(L, "is_folder", from && stat(from, &is) == 0 && S_ISDIR(is.st_mode));
    lua_pushlightuserdata(L, source);
    lua_pushcclosure(L, l_definitions, 1);
    lua_setfield(L, -2, "definitions");
}

static int run(struct command_line *line)
{
    struct types_source source = {0};
    struct err err;
    lua_State *L = tool_open();
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    bool ok = !is_cluster() || open_server(&source, &err);
    if (!source.catalogue) source.catalogue = catalogue_well_known();
    source.target.catalogue = source.catalogue;
    source.target.is_whole = is_cluster();
    if (ok) {
        check_target_push(L, &source.target);
        set_facts(L, line, &source);
        ok = tool_call(L, "tool.types", &err);
    }
    int code = ok ? (int)lua_tointeger(L, -1) : command_fail(line, err.text);
    lua_close(L);
    command_client_free(source.target.client);
    dump_free(source.dump);
    catalogue_free(source.catalogue);
    cluster_config_clear(&source.cluster);
    options_clear(&options);
    return code;
}

const struct command cmd_types = {
    .name = "types",
    .summary = "Print classes of kinds for editors",
    .flags = flags,
    .groups = groups,
    .run = run,
};
