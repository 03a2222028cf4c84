/* Length and line, then the text, item by item; see input_late.h. */
#include "audit/input_late.h"

#include <errno.h>
#include <string.h>

#include "object/tape.h"

struct head {
    size_t length, line;
};

static bool failed(struct err *err)
{
    return err_set(err, ERR_IO, "items without a kind are kept in a temporary file: %s", strerror(errno));
}

bool input_late_keep(struct input_late *late, struct str text, size_t line, struct err *err)
{
    struct head head = {text.n, line};
    if (!late->file && !(late->file = tmpfile())) return failed(err);
    if (late->count++ == 0) late->line = line;
    return (fwrite(&head, sizeof head, 1, late->file) == 1 &&
            fwrite(text.p, 1, text.n, late->file) == text.n) ||
           failed(err);
}

bool input_late_begin(struct input_late *late, struct err *err)
{
    return (fflush(late->file) == 0 && fseek(late->file, 0, SEEK_SET) == 0) || failed(err);
}

bool input_late_next(struct input_late *late, struct buf *text, size_t *line, struct err *err)
{
    struct head head;
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
