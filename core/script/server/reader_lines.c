/* Lines of a text that grows, such as a log; see reader.h. */
#include <string.h>

#include "script/server/reader.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

/* Bytes of one line; a longer one comes in parts. */
enum { LINE_BYTES_MAX = 64 << 10 };

/* Pushes the next line that is complete, and returns true. */
static bool push_line(lua_State *L, struct reader *reader)
{
    const struct buf *text = &reader->text;
    size_t rest = text->len - reader->next, room = rest < LINE_BYTES_MAX ? rest : LINE_BYTES_MAX;
    const char *begin = rest ? text->data + reader->next : "";
    const char *end = rest ? memchr(begin, '\n', room) : NULL;
    if (!end && rest < LINE_BYTES_MAX) return false;
    size_t n = end ? (size_t)(end - begin) : room;
    lua_pushlstring(L, begin, n);
    reader->next += n + (end ? 1 : 0);
    return true;
}

/* Keeps what is left of the last text before the new one. */
static void take_text(struct reader *reader)
{
    struct buf *text = &reader->text;
    if (reader->next > 0) memmove(text->data, text->data + reader->next, text->len - reader->next);
    text->len -= reader->next;
    reader->next = 0;
    buf_str(text, buf_slice(&reader->response.text));
    live_response_clear(&reader->response);
    reader->is_requested = reader->responded = reader->last;
}

/* The text has ended: its last line may have no end of its own. */
static int push_end(lua_State *L, struct reader *reader)
{
    size_t rest = reader->text.len - reader->next;
    if (rest > 0) {
        lua_pushlstring(L, reader->text.data + reader->next, rest);
        reader->next = reader->text.len;
        return 1;
    }
    int count = reader->err.code == ERR_NONE ? 0 : push_err(L, &reader->err);
    reader_end(reader);
    return count;
}

static int push_response(lua_State *L, struct task_wait *base)
{
    struct reader *reader = reader_of_wait(base);
    if (!reader || !reader->responded) return 0;
    take_text(reader);
    if (push_line(L, reader)) return 1;
    if (reader->last) return push_end(L, reader);
    lua_pushboolean(L, false);
    return 1;
}

/* line(reader): the next line; false: ask again, there was only a part of it. Nothing at the end; nil, err
 * when it failed. Waits. */
int reader_line(lua_State *L)
{
    static const struct task_wait_ops ops = {push_response, reader_drop_wait, .finishes = false};
    struct reader *reader = class_self(L, CLASS_LINES, "line");
    if (push_line(L, reader)) return 1;
    if (reader->responded && reader->last) return push_end(L, reader);
    if (!reader->read) return 0;
    if (!reader->responded) return reader_wait(L, reader, &ops);
    take_text(reader);
    lua_pushboolean(L, false);
    return 1;
}
