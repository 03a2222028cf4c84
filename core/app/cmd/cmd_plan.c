/* `kubelua plan`: what a reload would change in a running engine. The files are loaded here, by the engine's
 * settings; the engine is asked what runs and does nothing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_client.h"
#include "app/cmd/cmd.h"
#include "app/plan/plan_match.h"
#include "app/plan/plan_refusal.h"
#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/load_host.h"
#include "engine/reload/script_files.h"
#include "script/vm/bundle.h"
#include "script/vm/limits.h"

static struct {
    struct flag_list files, lua_path;
    const char *output, *socket;
} given = {.output = "text"};

/* A file that was loaded, or not. */
struct loaded {
    struct script *script;
    char *error;
    char sources[BUNDLE_HASH_LEN + 1];
};

struct planning {
    struct script_files files;
    struct admin_client *engine;
    struct load_host dry;
    struct engine_settings settings; /* of it */
    struct limits limits;
    const char **lua_path; /* of the engine */
    struct plan_params params;
    const char **trusted;  /* files that stand for scripts that it trusts */
    struct loaded *loaded; /* one for each file */
    struct plan_script *mine, *theirs;
    struct inventory *plans; /* of `theirs` */
    size_t their_count;
    bool unreadable;
};

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&given.files),
    {"output", 'o', FLAG_CHOICE, &given.output, "text|json", "text|json", "Output format (default text)"},
    {"lua-path", 0, FLAG_LIST, &given.lua_path, "DIR", NULL,
     "Additional directory to search for Lua modules (repeatable; default: those of the engine)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

/* --- what runs */

static const char *text_at(const struct tape *tape, size_t at, const char *field)
{
    struct str text = tape_str(tape, tape_field(tape, at, str_of(field)));
    return text.p ? text.p : "";
}

static bool read_script(struct planning *p, const struct tape *tape, size_t at, struct err *err)
{
    size_t i = p->their_count++;
    p->theirs = xrealloc(p->theirs, p->their_count * sizeof *p->theirs);
    p->plans = xrealloc(p->plans, p->their_count * sizeof *p->plans);
    p->plans[i] = (struct inventory){0};
    p->theirs[i] =
        (struct plan_script){.name = text_at(tape, at, "name"),
                             .path = text_at(tape, at, "path"),
                             .sources = text_at(tape, at, "sources"),
                             .trusted = tape_bool(tape, tape_field(tape, at, STR("trusted")), false),
                             .generation = tape_int(tape, tape_field(tape, at, STR("generation")), 0)};
    return inventory_read_json(tape, tape_field(tape, at, STR("plan")), &p->plans[i], err);
}

static bool fetch_inventories(struct planning *p, struct err *err)
{
    bool ok = true;
    p->engine = admin_client_request(given.socket, "plan", err);
    if (!p->engine) return false;
    const struct tape *tape = admin_client_tape(p->engine);
    size_t scripts = tape_field(tape, admin_client_result(p->engine), STR("scripts"));
    for (size_t v = tape_first(tape, scripts, NULL); v && ok; v = tape_next(tape, scripts, v, NULL))
        ok = read_script(p, tape, v, err);
    for (size_t i = 0; i < p->their_count; i++) p->theirs[i].plan = &p->plans[i];
    return ok;
}

/* --- what the files say */

static void take_lua_path(struct planning *p, const struct tape *tape, size_t list)
{
    struct engine_settings *own = &p->settings;
    own->lua_path = given.lua_path.items;
    own->lua_path_count = given.lua_path.count;
    if (own->lua_path_count || !list) return;
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL)) {
        *array_add(p->lua_path, own->lua_path_count) = tape_str(tape, v).p;
    }
    own->lua_path = p->lua_path;
}

/* Files register here what they would register there. */
static void take_settings(struct planning *p)
{
    const struct tape *tape = admin_client_tape(p->engine);
    size_t settings = tape_field(tape, admin_client_result(p->engine), STR("settings"));
    size_t limits = tape_field(tape, settings, STR("limits"));
    struct engine_settings *own = &p->settings;
    /* The times of elections are in no plan. */
    own->lease = (struct lease_config){.namespace_ = text_at(tape, settings, "leaseNamespace"),
                                       .name = text_at(tape, settings, "leaseName"),
                                       .times = leader_times_default};
    own->elects = tape_bool(tape, tape_field(tape, settings, STR("elects")), false);
    own->default_namespace = text_at(tape, settings, "namespace");
    p->limits = limits_default;
    for (int i = 0; i < LIMIT_COUNT; i++)
        p->limits.values[i] = tape_int(tape, tape_field(tape, limits, str_of(limit_name((enum limit)i))),
                                       limits_default.values[i]);
    own->limits = &p->limits;
    take_lua_path(p, tape, tape_field(tape, settings, STR("luaPath")));
    plan_params_open(&p->params, tape, tape_field(tape, settings, STR("ruleParams")));
    own->params = p->params.given;
}

static void load_one(struct planning *p, size_t i)
{
    const struct script_source source = {
        .path = p->files.paths[i], .name = p->files.names[i], .generation = 1};
    struct loaded *one = &p->loaded[i];
    struct plan_script *file = &p->mine[i];
    struct err err;
    one->script = script_prepare(&p->dry.host, &source, &err);
    if (!one->script) {
        file->error = one->error = xstrdup(err.text);
        p->unreadable |= err.code == ERR_IO;
        return;
    }
    bundle_sources_hash(script_bundle(one->script), one->sources);
    file->sources = one->sources;
    file->plan = script_inventory(one->script);
}

/* Marks the files that were found in a directory. */
static void note_folders(struct planning *p)
{
    const struct flag_list *arguments = &given.files;
    for (size_t i = 0; i < arguments->count; i++) {
        struct flag_list one = {&arguments->items[i], 1};
        struct script_files found;
        struct err err;
        if (!script_files_is_folder(arguments->items[i]) || !script_files_find(&one, &found, &err)) continue;
        for (size_t j = 0; j < p->files.count; j++)
            for (size_t k = 0; k < found.count; k++)
                p->mine[j].in_folder |= strcmp(p->files.paths[j], found.paths[k]) == 0;
        script_files_clear(&found);
    }
}

/* Trusts each file that stands for a trusted script. */
static void take_trust(struct planning *p)
{
    struct engine_settings *own = &p->settings;
    p->trusted = xcalloc(p->files.count, sizeof *p->trusted);
    for (size_t i = 0; i < p->files.count; i++)
        if (p->mine[i].other && p->mine[i].other->trusted) p->trusted[own->trusted_count++] = p->mine[i].path;
    own->trusted = p->trusted;
}

static void load_all(struct planning *p)
{
    p->loaded = xcalloc(p->files.count, sizeof *p->loaded);
    p->mine = xcalloc(p->files.count, sizeof *p->mine);
    for (size_t i = 0; i < p->files.count; i++)
        p->mine[i] = (struct plan_script){.name = p->files.names[i], .path = p->files.paths[i]};
    plan_pair(p->theirs, p->their_count, p->mine, p->files.count);
    p->settings.notes_functions = true;
    take_settings(p);
    take_trust(p);
    load_host_open(&p->dry, &p->settings);
    for (size_t i = 0; i < p->files.count; i++) load_one(p, i);
    note_folders(p);
}

/* One that says what runs is not loaded by a reload. */
static bool would_load(const struct plan_script *file)
{
    return !file->error && (!file->other || strcmp(file->other->sources, file->sources) != 0);
}

static void refuse(struct planning *p, size_t i, const struct err *err)
{
    p->mine[i].error = p->loaded[i].error = xstrdup(err->text);
}

static void refuse_params(struct planning *p)
{
    struct script **scripts = xcalloc(p->files.count + 1, sizeof(struct script *));
    struct err err;
    for (size_t i = 0; i < p->files.count; i++) scripts[i] = p->loaded[i].script;
    for (size_t i = 0; i < p->files.count; i++)
        if (would_load(&p->mine[i]) &&
            !plan_params_stay(&p->params, p->mine, scripts, p->files.count, i, &err))
            refuse(p, i, &err);
    free(scripts);
}

/* Refuses files for their states before metrics are compared: a refused file makes no metrics. */
static void refuse_all(struct planning *p)
{
    struct err err;
    for (size_t i = 0; i < p->files.count; i++)
        if (would_load(&p->mine[i]) && !plan_keeps_states(&p->mine[i], &err)) refuse(p, i, &err);
    for (size_t i = 0; i < p->files.count; i++)
        if (would_load(&p->mine[i]) && !plan_metrics_fit(p->theirs, p->their_count, p->mine, i, &err))
            refuse(p, i, &err);
    refuse_params(p);
}

static void clear(struct planning *p)
{
    for (size_t i = 0; p->loaded && i < p->files.count; i++) {
        if (p->loaded[i].script) script_free(p->loaded[i].script);
        free(p->loaded[i].error);
    }
    if (p->loaded) load_host_close(&p->dry);
    for (size_t i = 0; i < p->their_count; i++) inventory_clear(&p->plans[i]);
    free(p->plans);
    free(p->theirs);
    free(p->mine);
    free(p->loaded);
    free(p->lua_path);
    free(p->trusted);
    plan_params_clear(&p->params);
    admin_client_free(p->engine);
    script_files_clear(&p->files);
}

/* --- the command */

static int print(const struct planning *p, const struct plan_rows *rows)
{
    struct buf out = {0};
    if (strcmp(given.output, "json") == 0)
        plan_rows_print_json(rows, &out);
    else
        plan_rows_print(rows, &out);
    fwrite(out.data, 1, out.len, stdout);
    buf_clear(&out);
    if (fflush(stdout) != 0 || ferror(stdout)) return EXIT_USAGE;
    if (p->unreadable) return EXIT_USAGE;
    if (plan_rows_of(rows, PLAN_REFUSED)) return EXIT_INCOMPLETE;
    return plan_rows_of(rows, PLAN_UNCHANGED) == rows->count ? EXIT_OK : EXIT_FINDINGS;
}

static int plan(struct planning *p, struct err *err)
{
    struct plan_rows rows = {0};
    if (!script_files_find(&given.files, &p->files, err) || !fetch_inventories(p, err)) return -1;
    load_all(p);
    refuse_all(p);
    plan_match(p->theirs, p->their_count, p->mine, p->files.count, &rows);
    int code = print(p, &rows);
    plan_rows_clear(&rows);
    return code;
}

static int run(struct command_line *line)
{
    struct planning planning = {0};
    struct err err;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (!given.files.count) return command_fail(line, "no script given; use -f FILE or -f DIR");
    int code = plan(&planning, &err);
    if (code < 0) code = command_fail(line, err.text);
    clear(&planning);
    flag_list_clear(&given.files);
    flag_list_clear(&given.lua_path);
    return code;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "Preview what a reload would change",
    .help =
        "Preview a reload: compare what the files would register with what is running, script by script.\n\n"
        "The files are loaded locally with the engine's settings; nothing runs, and the engine does not "
        "change.\n"
        "Files are matched to scripts by name or by its last part, so a copy of the script directory works.\n"
        "Reloads that would be refused, such as a new k8s.state version without migrate or a conflicting\n"
        "metric, are reported. Unknown kinds are not detected: use kubelua check. -o json includes function "
        "hashes.\n\n"
        "Usage:\n"
        "  kubelua plan -f FILE|DIR ... [flags]\n\n"
        "Exit codes: 0 no differences; 1 differences; 2 the engine or a file could not be read; 3 a reload\n"
        "would be refused.\n\n"
        "Examples:\n"
        "  kubelua plan -f scripts/\n"
        "  kubelua plan -f scripts/images.lua -o json\n\n"
        "Flags:",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .run = run,
};
