/* Stores length and line, then the text, item by item; see input_late.h. */
#include "audit/input/input_late.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "object/parse/tape.h"

struct late_head {
    size_t length, line;
};

static bool failed(struct err *err)
{
    return err_set(err, ERR_IO, "cannot buffer items without a kind: %s", strerror(errno));
}

static FILE *open_memory(void)
{
    int fd = memfd_create("items", MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!file && fd >= 0) close(fd);
    return file;
}

/* Creates the file; where the file system has no files without a name, it is unlinked at once. */
static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0) return fd;
    char *name = xasprintf("%s/kubelua-XXXXXX", folder);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    free(name);
    return fd;
}

static FILE *open_on_disk(void)
{
    const char *folder = nonempty(getenv("TMPDIR"));
    int fd = open_nameless(folder ? folder : "/tmp");
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!file && fd >= 0) close(fd);
    return file;
}

static bool copy_all(FILE *from, FILE *to)
{
    char some[64 << 10];
    size_t n;
    if (fflush(from) != 0 || fseek(from, 0, SEEK_SET) != 0) return false;
    while ((n = fread(some, 1, sizeof some, from)) > 0)
        if (fwrite(some, 1, n, to) != n) return false;
    return !ferror(from);
}

static bool move_to_disk(struct input_late *late)
{
    FILE *file = open_on_disk();
    if (!file) return false;
    bool ok = copy_all(late->file, file);
    fclose(late->file);
    late->file = file;
    late->on_disk = true;
    return ok;
}

static bool put(struct input_late *late, const void *data, size_t n)
{
    late->bytes += n;
    return fwrite(data, 1, n, late->file) == n;
}

bool input_late_keep(struct input_late *late, struct str text, size_t line, struct err *err)
{
    struct late_head head = {text.n, line};
    if (!late->file && !(late->file = open_memory())) return failed(err);
    bool is_much = !late->on_disk && late->bytes + sizeof head + text.n > INPUT_LATE_MEMORY;
    if (is_much && !move_to_disk(late)) return failed(err);
    if (late->count++ == 0) late->line = line;
    return (put(late, &head, sizeof head) && put(late, text.p, text.n)) || failed(err);
}

bool input_late_begin(struct input_late *late, struct err *err)
{
    return (fflush(late->file) == 0 && fseek(late->file, 0, SEEK_SET) == 0) || failed(err);
}

bool input_late_next(struct input_late *late, struct buf *text, size_t *line, struct err *err)
{
    struct late_head head;
    err_clear(err);
    if (late->count == 0) return false;
    late->count--;
    text->len = 0;
    if (fread(&head, sizeof head, 1, late->file) != 1) return failed(err);
    char *to = buf_reserve(text, head.length + TAPE_PADDING);
    if (fread(to, 1, head.length, late->file) != head.length) return failed(err);
    memset(to + head.length, 0, TAPE_PADDING);
    text->len = head.length;
    *line = head.line;
    return true;
}

void input_late_clear(struct input_late *late)
{
    if (late->file) fclose(late->file);
    *late = (struct input_late){0};
}
