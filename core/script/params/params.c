/* Values that an operator gives; see params.h. */
#include "script/params/params.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"

struct param_file {
    char *path;
    bool is_folder;
};

struct params {
    struct param_given *items; /* their texts are owned */
    size_t count;
    struct param_file *files;
    size_t file_count;
};

struct params *params_new(void)
{
    return NEW(struct params);
}

void params_free(struct params *params)
{
    if (!params) return;
    for (size_t i = 0; i < params->count; i++) {
        const struct param_given *given = &params->items[i];
        char *texts[] = {(char *)given->script, (char *)given->rule, (char *)given->name,
                         (char *)given->source};
        for (size_t j = 0; j < ARRAY_LEN(texts); j++) free(texts[j]);
        wipe((char *)given->value);
    }
    for (size_t i = 0; i < params->file_count; i++) free(params->files[i].path);
    free(params->items);
    free(params->files);
    free(params);
}

size_t params_count(const struct params *params)
{
    return params ? params->count : 0;
}

struct param_given params_at(const struct params *params, size_t i)
{
    return params->items[i];
}

void params_put(struct params *params, const struct param_given *given)
{
    struct param_given own = *given;
    own.script = xstrdup(given->script);
    own.rule = xstrdup(given->rule);
    own.name = xstrdup(given->name);
    own.value = xstrdup(given->value);
    own.source = xstrdup(given->source);
    *array_add(params->items, params->count) = own;
}

void params_copy(struct params *to, const struct params *from)
{
    for (size_t i = 0; i < params_count(from); i++) {
        int file = from->items[i].order - PARAM_FROM_FILES;
        if (file < 0 || (size_t)file >= from->file_count) params_put(to, &from->items[i]);
    }
}

/* --- names */

/* Ids of rules may have dots, names of scripts colons and dots; names of parameters have neither. */
bool params_split(struct str key, char **script, char **rule, char **name, struct err *err)
{
    const char *colon = key.n ? memrchr(key.p, ':', key.n) : NULL;
    struct str rest = key, last;
    if (colon) rest = (struct str){colon + 1, (size_t)(key.p + key.n - colon) - 1};
    const char *dot = rest.n ? memrchr(rest.p, '.', rest.n) : NULL;
    last = rest;
    if (dot) last = (struct str){dot + 1, (size_t)(rest.p + rest.n - dot) - 1};
    if (last.n == 0 || dot == rest.p || colon == key.p || str_has_nul(key))
        return err_set(err, ERR_INVALID, "\"%.*s\" must have the form [SCRIPT:][RULE.]NAME", STR_ARG(key));
    *script = colon ? xstrndup(key.p, (size_t)(colon - key.p)) : NULL;
    *rule = dot ? xstrndup(rest.p, (size_t)(dot - rest.p)) : NULL;
    *name = xstrndup(last.p, last.n);
    return true;
}

/* Puts a value under a key, which is split. */
static bool put_keyed(struct params *params, struct str key, struct param_given given, struct err *err)
{
    char *script = NULL, *rule = NULL, *name = NULL;
    if (!params_split(key, &script, &rule, &name, err)) return false;
    given.script = script;
    given.rule = rule;
    given.name = name;
    params_put(params, &given);
    free(script);
    free(rule);
    free(name);
    return true;
}

bool params_add(struct params *params, const char *assignment, struct err *err)
{
    struct str rest = str_of(assignment), key;
    str_cut(&rest, '=', &key);
    if (!rest.p)
        return err_set(err, ERR_INVALID, "--param %.80s: expected [SCRIPT:][RULE.]NAME=VALUE", assignment);
    char *source = xasprintf("--param %.*s", STR_ARG(key));
    const struct param_given given = {.value = rest.p, .order = PARAM_FROM_FLAGS, .source = source};
    bool ok = put_keyed(params, key, given, err);
    free(source);
    return ok || err_wrap(err, "--param %.80s", assignment);
}

void params_add_environment(struct params *params, char *const *environment)
{
    static const char prefix[] = "KUBELUA_PARAM_";
    for (; *environment; environment++) {
        struct str rest = str_of(*environment), key;
        if (!str_starts(rest, str_of(prefix))) continue;
        str_cut(&rest, '=', &key);
        if (!rest.p || key.n == sizeof prefix - 1) continue;
        char *source = xstrndup(key.p, key.n);
        const struct param_given given = {.name = source + sizeof prefix - 1,
                                          .value = rest.p,
                                          .order = PARAM_FROM_ENVIRONMENT,
                                          .source = source};
        params_put(params, &given);
        free(source);
    }
}

/* --- files */

size_t params_file_count(const struct params *params)
{
    return params ? params->file_count : 0;
}

const char *params_file(const struct params *params, size_t i)
{
    return params->files[i].path;
}

bool params_file_is_folder(const struct params *params, size_t i)
{
    return params->files[i].is_folder;
}

/* Files of a mounted folder mostly end with a newline that nobody means. */
struct str params_text(struct str text)
{
    if (text.n && text.p[text.n - 1] == '\n') text.n--;
    if (text.n && text.p[text.n - 1] == '\r') text.n--;
    return text;
}

/* A file of another name or content, or a larger one, is for others: a script that declares it reads it
 * again, and says what is wrong with it. */
static bool read_value(struct params *params, const char *path, const char *name, int order, struct err *err)
{
    struct buf text = {0};
    struct err ignored;
    bool ok = file_read(path, PARAM_BYTES_MAX, &text, err);
    if (ok && !str_has_nul(buf_slice(&text))) {
        text.len = params_text(buf_slice(&text)).n;
        const struct param_given given = {
            .value = buf_text(&text), .is_loose = true, .order = order, .source = path};
        put_keyed(params, str_of(name), given, &ignored);
    }
    buf_wipe(&text);
    return ok || err->code == ERR_LIMIT;
}

/* A mounted ConfigMap has its files twice: behind links, and in folders that begin with "..". */
static bool read_folder(struct params *params, const char *path, int order, struct err *err)
{
    DIR *folder = opendir(path);
    if (!folder) return err_set(err, ERR_IO, "cannot open %s", path);
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        struct stat st;
        char *file = xasprintf("%s/%s", path, entry->d_name);
        bool is_value = entry->d_name[0] != '.' && stat(file, &st) == 0 && S_ISREG(st.st_mode);
        ok = !is_value || read_value(params, file, entry->d_name, order, err);
        free(file);
    }
    closedir(folder);
    return ok;
}

static bool read_file(struct params *params, const char *path, int order, struct err *err)
{
    enum { FILE_MAX = 16 << 20 };
    struct buf text = {0};
    bool ok =
        file_read(path, FILE_MAX, &text, err) && params_parse(params, path, buf_slice(&text), order, err);
    buf_wipe(&text);
    return ok;
}

bool params_read(struct params *params, const char *path, struct err *err)
{
    struct stat st;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int order = PARAM_FROM_FILES + (int)params->file_count;
    bool ok = is_folder ? read_folder(params, path, order, err) : read_file(params, path, order, err);
    if (ok) *array_add(params->files, params->file_count) = (struct param_file){xstrdup(path), is_folder};
    return ok;
}

struct params *params_read_again(const struct params *params, struct err *err)
{
    struct params *again = params_new();
    bool ok = true;
    params_copy(again, params);
    for (size_t i = 0; ok && i < params_file_count(params); i++)
        ok = params_read(again, params->files[i].path, err);
    if (ok) return again;
    params_free(again);
    return NULL;
}
