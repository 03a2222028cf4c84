/* Reading files of objects; see load.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text/widen.h"
#include "base/yaml/yaml_documents.h"
#include "sim/store/load.h"

enum { CHUNK = 1 << 20, YAML_MAX = 64 << 20, LARGE = 64 << 10 };

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

/* Parses a value of JSON; the text is replaced by one with wider numbers if an integer has more than 64 bits.
 */
static json_t *parse(struct str *text, struct buf *wide, json_error_t *error)
{
    json_t *value = json_loadb(text->p, text->n, JSON_DISABLE_EOF_CHECK, error);
    if (value || wide->len || json_error_code(error) != json_error_numeric_overflow ||
        !widen_integers(*text, false, wide))
        return value;
    *text = buf_slice(wide);
    return json_loadb(text->p, text->n, JSON_DISABLE_EOF_CHECK, error);
}

static size_t blanks(struct str text, size_t *lines)
{
    size_t n = 0;
    for (; n < text.n && strchr(" \t\r\n", text.p[n]); n++) *lines += text.p[n] == '\n';
    return n;
}

/* Reads one value after the other, so that a file may have one, or one a line. `wide` is the rest of the text
 * from the first integer beyond 64 bits on. */
static bool load_values(struct sim_api *api, struct str text, struct buf *wide, struct err *err)
{
    size_t line = 1, at = blanks(text, &line);
    for (text = (struct str){text.p + at, text.n - at}; text.n;) {
        json_error_t error;
        json_t *object = parse(&text, wide, &error);
        if (!object)
            return err_set(err, ERR_PARSE, "line %zu: %s",
                           line + (size_t)(error.line > 0 ? error.line : 1) - 1, error.text);
        bool ok = sim_load_object(api, object, err);
        json_decref(object);
        if (!ok) return err_wrap(err, "line %zu", line);
        for (size_t i = 0; i < (size_t)error.position; i++) line += text.p[i] == '\n';
        text = (struct str){text.p + error.position, text.n - (size_t)error.position};
        at = blanks(text, &line);
        text = (struct str){text.p + at, text.n - at};
    }
    return true;
}

/* --- YAML */

/* A large file came from a cluster, most of the time. */
static bool load_large(struct sim_api *api, struct str text)
{
    return api->list_parts && text.n >= LARGE && sim_load_list(api, text);
}

static bool load_documents(struct sim_api *api, struct str json, struct buf *wide, struct err *err)
{
    json_error_t error;
    json_t *documents = parse(&json, wide, &error), *document;
    bool ok = documents || err_set(err, ERR_PARSE, "%s", error.text);
    size_t i;
    json_array_foreach (documents, i, document)
        if (ok && !sim_load_object(api, document, err)) ok = err_wrap(err, "document %zu", i + 1);
    json_decref(documents);
    return ok;
}

static bool load_yaml(struct sim_api *api, struct str text, struct buf *wide, struct err *err)
{
    struct buf json = {0};
    const struct yaml_source source = {.text = text, .max = YAML_MAX, .max_name = "64Mi of a file"};
    bool ok = yaml_read_source(&source, &json, err);
    struct str all = buf_slice(&json), one = {all.p + 1, all.n - 2}; /* of a list with one document */
    ok = ok && ((all.n > 2 && load_large(api, one)) || load_documents(api, all, wide, err));
    buf_clear(&json);
    return ok;
}

/* A bracket is the start of JSON, as kubectl has it: of one value or of several. */
bool sim_load_text(struct sim_api *api, struct str text, struct err *err)
{
    struct buf wide = {0};
    size_t lines = 0, at = blanks(text, &lines);
    if (at == text.n) return true;
    bool is_json = text.p[at] == '{' || text.p[at] == '[', ok;
    ok = is_json ? load_values(api, text, &wide, err) : load_yaml(api, text, &wide, err);
    buf_clear(&wide);
    return ok;
}

/* --- Files and directories */

static bool load_one(struct sim_api *api, const char *path, struct err *err)
{
    struct buf text = {0};
    bool ok = sim_file_read(path, &text, err);
    if (ok && str_starts(buf_slice(&text), STR("\x28\xb5\x2f\xfd")))
        ok = err_set(err, ERR_INVALID,
                     "%s: compressed by zstd, as a recording is: only YAML and JSON are loaded", path);
    else if (ok && !load_large(api, buf_slice(&text)) && !sim_load_text(api, buf_slice(&text), err))
        ok = err_in_file(err, path);
    buf_clear(&text);
    return ok;
}

static int is_manifest(const struct dirent *entry)
{
    static const char *const ends[] = {".json", ".yaml", ".yml"};
    struct str name = str_of(entry->d_name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (name.p[0] != '.' && str_ends(name, str_of(ends[i]))) return 1;
    return 0;
}

static bool load_directory(struct sim_api *api, const char *path, struct err *err)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_manifest, alphasort);
    if (count < 0) return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    bool ok = count > 0 || err_set(err, ERR_INVALID, "%s: no .json, .yaml or .yml file is in it", path);
    for (int i = 0; i < count; i++) {
        char *file = xasprintf("%s/%s", path, entries[i]->d_name);
        ok = ok && load_one(api, file, err);
        free(file);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool sim_load_file(struct sim_api *api, const char *path, struct err *err)
{
    struct stat found;
    bool is_directory = strcmp(path, "-") != 0 && stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    return is_directory ? load_directory(api, path, err) : load_one(api, path, err);
}
