/* Reads files one after another, each with the reader for its format; see input.h. */
#include "audit/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "audit/input/input_files.h"
#include "audit/input/input_reader.h"
#include "base/hash.h"
#include "base/number_map.h"

enum { IDLE_MAX = 64 << 20 }; /* bytes of a file without an object */

void input_progress(struct input_reader *r)
{
    const struct audit_input_options *o = r->options;
    if (!o->progress) return;
    uint64_t done = r->before + input_source_taken(r->source);
    if (done == r->reported) return;
    r->reported = done;
    o->progress(o->ctx, done, r->total);
}

/* Skips a byte order mark of UTF-8, and returns whether there is one of UTF-16: libyaml reads that, and JSON
 * is YAML. */
static bool is_utf16(struct input_window *w)
{
    int first = input_window_byte(w, 0), second = input_window_byte(w, 1);
    if (first == 0xef && second == 0xbb && input_window_byte(w, 2) == 0xbf) input_window_use(w, 3);
    return (first == 0xff && second == 0xfe) || (first == 0xfe && second == 0xff);
}

/* Recordings of kubelua record have objects of many moments. */
static bool is_recording(struct input_window *w)
{
    static const char head[] = "{\"kubelua_recording\":";
    size_t i = 0;
    while (head[i] && input_window_byte(w, i) == head[i]) i++;
    return !head[i];
}

static void read_source(struct input_reader *r)
{
    struct input_window *w = &r->window;
    input_window_init(w, r->source, r->options->window);
    w->idle_max = r->max > IDLE_MAX / 2 ? 2 * r->max : IDLE_MAX;
    w->total = r->options->total;
    r->share_next = r->shared = r->head_length = 0;
    input_cut_init(&r->cut, w, r->max);
    bool utf16 = is_utf16(w);
    if (is_recording(w))
        input_refuse_text(r, 1, ERR_INVALID,
                          "a recording of watch streams: play it by kubelua replay, or in a spec");
    else if (utf16 || !input_read_json(r))
        input_read_yaml(r, utf16);
    input_progress(r);
    if (w->failed && !r->stopped) input_refuse(r, w->line, &w->err);
    input_refuse_rest(r);
    r->stopped = r->stopped || (w->total && w->total->bytes > w->total->max);
    input_late_clear(&r->late);
    input_cut_clear(&r->cut);
    input_window_clear(w);
}

static bool open_file(const char *path, int *fd, struct err *err)
{
    *fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ||
           err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));
}

/* Returns whether the file was read before. Anything else than a regular file, such as a pipe, has no name of
 * its own and never counts as read. */
static bool was_read(const struct input_reader *r, const char *path, int fd)
{
    struct number_set *seen = r->options->seen;
    struct stat is;
    if (!seen || strcmp(path, "-") == 0 || fstat(fd, &is) != 0 || !S_ISREG(is.st_mode)) return false;
    const uint64_t name[] = {is.st_dev, is.st_ino};
    return !number_set_add(seen, hash_key((struct str){(const char *)name, sizeof name}));
}

static bool read_file(struct input_reader *r, const char *path, struct err *err)
{
    int fd;
    if (!open_file(path, &fd, err)) return false;
    if (was_read(r, path, fd)) {
        close(fd);
        return true;
    }
    r->file = strcmp(path, "-") == 0 ? "stdin" : path;
    r->counts->files++;
    r->source = input_source_new(fd);
    read_source(r);
    r->before += input_source_taken(r->source);
    input_source_free(r->source);
    return true;
}

/* Reads the files of `path`, a file or a directory. */
static bool read_files(struct input_reader *r, const struct input_files *files, const char *path,
                       struct err *err)
{
    const struct audit_input_sink *sink = r->options->sink;
    for (size_t i = 0; i < files->count; i++) r->total += files->file[i].size;
    for (size_t i = 0; i < files->count && !r->stopped; i++) {
        r->is_found = strcmp(files->file[i].path, path) != 0;
        if (read_file(r, files->file[i].path, err)) continue;
        if (files->count == 1) return false;
        sink->refused(sink->ctx, err);
    }
    return true;
}

bool audit_input_read(const struct audit_input_options *options, const char *path,
                      struct audit_input_counts *counts, struct err *err)
{
    const struct audit_input_sink *sink = options->sink;
    struct input_reader r = {.options = options,
                             .counts = counts,
                             .max =
                                 options->max_object_size ? options->max_object_size : AUDIT_INPUT_OBJECT_MAX,
                             .max_name = options->max_name ? options->max_name : "--max-object-size",
                             .parser = tape_parser_new()};
    struct input_files files = {0};
    bool ok = strcmp(path, "-") == 0 ? read_file(&r, path, err)
                                     : input_files_find(&files, path, options->recursive, options->exclude,
                                                        sink->refused, sink->ctx, err) &&
                                           read_files(&r, &files, path, err);
    root_unref(r.last);
    input_files_clear(&files);
    tape_parser_free(r.parser);
    input_namespace_clear(&r.namespace_);
    buf_clear(&r.last_type);
    return ok;
}
