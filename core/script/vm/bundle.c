/* Texts of scripts and their modules; see bundle.h. */
#include "script/vm/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"

enum { SOURCE_MAX = 16 << 20, BLOCK = 64 << 10 };
/* So many paths without a file are remembered: a script may ask for any number of them. */
enum { MISSING_MAX = 500 };

struct source_file {
    char *path;
    struct buf text;
    bool found;
    bool is_data; /* no source */
};

struct bundle {
    int refs;
    struct source_file **files; /* texts stay in place */
    size_t count;
    size_t missing; /* of the files */
};

struct bundle *bundle_new(void)
{
    struct bundle *bundle = NEW(struct bundle);
    bundle->refs = 1;
    return bundle;
}

struct bundle *bundle_ref(struct bundle *bundle)
{
    bundle->refs++;
    return bundle;
}

static void free_file(struct source_file *file)
{
    buf_clear(&file->text);
    free(file->path);
    free(file);
}

void bundle_unref(struct bundle *bundle)
{
    if (!bundle || --bundle->refs > 0) return;
    for (size_t i = 0; i < bundle->count; i++) free_file(bundle->files[i]);
    free(bundle->files);
    free(bundle);
}

static struct given_texts {
    struct source_file *items;
    size_t count;
} given;

static const struct source_file *find_given(const char *path)
{
    for (size_t i = 0; i < given.count; i++)
        if (strcmp(given.items[i].path, path) == 0) return &given.items[i];
    return NULL;
}

void bundle_give_text(const char *path, struct str text)
{
    must(!find_given(path));
    struct source_file *file = array_add(given.items, given.count);
    *file = (struct source_file){.path = xstrdup(path), .found = true};
    buf_str(&file->text, text);
}

bool bundle_is_given(const char *path)
{
    return find_given(path) != NULL;
}

const char *bundle_given_path(const char *path)
{
    const struct source_file *file = find_given(path);
    return file ? file->path : NULL;
}

/* Whole. */
static bool read_file(const char *path, struct buf *out, struct err *err)
{
    const struct source_file *known = find_given(path);
    if (known) {
        buf_str(out, buf_slice(&known->text));
        return true;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold the engine up */
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open %s: %s", path,
                       strerror(errno));
    struct stat st;
    ssize_t n = 1;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok) err_set(err, ERR_IO, "%s is not a regular file", path);
    while (ok && n > 0) {
        n = read(fd, buf_reserve(out, BLOCK), BLOCK);
        if (n > 0) out->len += (size_t)n;
        if (n < 0) ok = err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
        if (out->len > SOURCE_MAX) ok = err_set(err, ERR_LIMIT, "%s exceeds 16 MiB", path);
    }
    close(fd);
    return ok;
}

static struct source_file *find_source(const struct bundle *bundle, const char *path)
{
    for (size_t i = 0; i < bundle->count; i++)
        if (strcmp(bundle->files[i]->path, path) == 0) return bundle->files[i];
    return NULL;
}

/* Keeps no more room than it needs: most are small, and there may be many. */
static void set_text(struct source_file *file, struct str text)
{
    file->text.len = 0;
    buf_str(&file->text, text);
    buf_text(&file->text);
}

/* Not found so far. */
static struct source_file *add(struct bundle *bundle, const char *path)
{
    struct source_file *file = NEW(struct source_file);
    file->path = xstrdup(path);
    *array_add(bundle->files, bundle->count) = file;
    bundle->missing++;
    return file;
}

static void set_found(struct bundle *bundle, struct source_file *file, bool found)
{
    bundle->missing += (size_t)file->found - (size_t)found;
    file->found = found;
}

bool bundle_text(struct bundle *bundle, const char *path, struct str *text, struct err *err)
{
    struct source_file *file = find_source(bundle, path);
    if (!file || !file->found) { /* what was not there may be there now */
        struct buf content = {0};
        bool found = read_file(path, &content, err);
        if (!file && (found || bundle->missing < MISSING_MAX)) file = add(bundle, path);
        if (file) set_found(bundle, file, found);
        if (found) set_text(file, buf_slice(&content));
        buf_clear(&content);
        if (!found) return false;
    }
    *text = buf_slice(&file->text);
    return true;
}

bool bundle_data(struct bundle *bundle, const char *path, struct str *text, struct err *err)
{
    bool found = bundle_text(bundle, path, text, err);
    struct source_file *file = find_source(bundle, path);
    if (file) file->is_data = true;
    return found;
}

void bundle_set_text(struct bundle *bundle, const char *path, struct str text)
{
    struct source_file *file = find_source(bundle, path);
    if (!file) file = add(bundle, path);
    file->found = true;
    set_text(file, text);
}

static bool is_current(const struct source_file *file)
{
    struct buf content = {0};
    struct err err;
    bool found = read_file(file->path, &content, &err);
    bool same = found == file->found && (!found || str_eq(buf_slice(&content), buf_slice(&file->text)));
    buf_clear(&content);
    return same;
}

bool bundle_is_current(const struct bundle *bundle, const char **changed)
{
    for (size_t i = 0; i < bundle->count; i++) {
        if (is_current(bundle->files[i])) continue;
        if (changed) *changed = bundle->files[i]->path;
        return false;
    }
    return true;
}

size_t bundle_count(const struct bundle *bundle)
{
    return bundle->count;
}

const char *bundle_path(const struct bundle *bundle, size_t i)
{
    must(i < bundle->count);
    return bundle->files[i]->path;
}

void bundle_text_hash(struct str text, char out[BUNDLE_HASH_LEN + 1])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    must(EVP_Digest(text.n ? text.p : "", text.n, digest, NULL, EVP_sha256(), NULL));
    for (size_t i = 0; i < BUNDLE_HASH_LEN / 2; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void bundle_hash(const struct bundle *bundle, char out[BUNDLE_HASH_LEN + 1])
{
    bundle_text_hash(bundle->count ? buf_slice(&bundle->files[0]->text) : (struct str){0}, out);
}

/* Files that were looked for and not found depend on where the script is. */
void bundle_sources_hash(const struct bundle *bundle, char out[BUNDLE_HASH_LEN + 1])
{
    struct buf all = {0};
    for (size_t i = 0; i < bundle->count; i++) {
        if (!bundle->files[i]->found || bundle->files[i]->is_data) continue;
        bundle_text_hash(buf_slice(&bundle->files[i]->text), out);
        buf_puts(&all, out);
    }
    bundle_text_hash(buf_slice(&all), out);
    buf_clear(&all);
}
