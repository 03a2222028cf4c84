/* Settings that change while the engine runs; see config_reload.h. What was read at the start stays, as flags
 * borrow their texts from it. */
#include "app/options/config_reload.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/config_file.h"
#include "base/log.h"
#include "base/mem.h"

struct config_reload {
    struct options *options;
    struct config_file known; /* what was read last */
};

static bool is_live(const char *name)
{
    return strcmp(name, "v") == 0 || strcmp(name, "log-format") == 0;
}

/* Of a flag that the command line or the environment set, the file says nothing. */
static bool is_overridden(const struct config_reload *reload, const char *name)
{
    const struct flags_given *given = reload->options->given;
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->items[i].flag->name, name) == 0 && !given->items[i].in_file) return true;
    return false;
}

/* All values of the name, in their order. */
static void values_of(const struct config_file *file, const char *name, struct buf *out)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->settings[i].name, name) == 0) buf_printf(out, "%s\n", file->settings[i].value);
}

static bool is_same(const struct config_file *a, const struct config_file *b, const char *name)
{
    struct buf left = {0}, right = {0};
    values_of(a, name, &left);
    values_of(b, name, &right);
    bool same = str_eq(buf_slice(&left), buf_slice(&right));
    buf_clear(&left);
    buf_clear(&right);
    return same;
}

/* Warns once for each name of `from` that changed and is at its first place. `other`: what it is compared
 * with. */
static void warn_of_changes(const struct config_reload *reload, const struct config_file *from,
                            const struct config_file *other, bool gone_only)
{
    for (size_t i = 0; i < from->count; i++) {
        const char *name = from->settings[i].name;
        struct buf there = {0};
        bool first = i == 0 || strcmp(from->settings[i - 1].name, name) != 0;
        values_of(other, name, &there);
        bool counts = first && (!gone_only || there.len == 0);
        buf_clear(&there);
        if (!counts || is_live(name) || is_overridden(reload, name) || is_same(from, other, name)) continue;
        log_warn("Setting changed, it takes effect when the engine starts again", F("setting", name),
                 F("file", reload->options->config));
    }
}

/* Checks the names of all settings, and sets those that may change, on a copy. */
static bool check(const struct config_reload *reload, const struct config_file *file, struct options *copy,
                  struct err *err)
{
    const struct flag live[] = {flag_log_format(copy), flag_verbosity(copy), {.name = NULL}};
    const struct flag *const tables[] = {live, NULL};
    struct flags_given given = {0};
    bool ok = true;
    /* A setting that is gone has its default again. */
    if (!is_overridden(reload, "v")) copy->verbosity = 0;
    if (is_overridden(reload, "log-format")) copy->log_format = reload->options->log_format;
    for (size_t i = 0; ok && i < file->count; i++) {
        const struct flag_setting *setting = &file->settings[i];
        if (is_live(setting->name) && !is_overridden(reload, setting->name))
            ok = flags_apply(tables, setting, 1, &given, err);
        else
            ok = flags_know(reload->options->flags, setting, err);
    }
    flags_given_clear(&given);
    return ok;
}

static void apply(struct options *options, const struct options *copy)
{
    if (copy->verbosity == options->verbosity && strcmp(copy->log_format, options->log_format) == 0) return;
    bool json = strcmp(copy->log_format, "json") == 0;
    options->verbosity = copy->verbosity;
    options->log_format = json ? "json" : "text"; /* the file's text goes with the file */
    log_setup(json ? LOG_JSON : LOG_TEXT, options->verbosity);
    log_info("Settings changed", F("log-format", options->log_format), FI("v", options->verbosity));
}

void config_reload(struct config_reload *reload)
{
    struct config_file file;
    struct options copy = *reload->options;
    struct err err;
    if (!config_file_read(reload->options->config, &file, &err)) {
        log_warn("Settings are unchanged, the file cannot be read", F("err", err.text));
        return;
    }
    if (!check(reload, &file, &copy, &err)) {
        log_warn("Settings are unchanged, the file has an error", F("err", err.text));
        config_file_clear(&file);
        return;
    }
    apply(reload->options, &copy);
    warn_of_changes(reload, &file, &reload->known, false);
    warn_of_changes(reload, &reload->known, &file, true);
    config_file_clear(&reload->known);
    reload->known = file;
}

struct config_reload *config_reload_new(struct options *options)
{
    struct err err;
    if (!options->config || !*options->config) return NULL;
    struct config_reload *reload = xcalloc(1, sizeof *reload);
    reload->options = options;
    if (!config_file_read(options->config, &reload->known, &err)) reload->known = (struct config_file){0};
    return reload;
}

void config_reload_free(struct config_reload *reload)
{
    if (!reload) return;
    config_file_clear(&reload->known);
    free(reload);
}
