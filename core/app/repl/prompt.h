/* Lines from a person at a terminal, by libedit, or from whatever stdin is.
 * Owner: the command, on its one thread; at most one in a process, as SIGINT is its own while it lives. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct prompt;

struct prompt_ops {
    /* Waits until stdin can be read; may return earlier, when a signal came. False: this is the end. */
    bool (*wait)(void *ctx);
    /* Lists continuations of the line before the cursor: see repl_complete. */
    void (*complete)(void *ctx, struct str text, size_t *start, struct buf *names);
    /* ^C, at any time: in the signal handler. */
    void (*interrupted)(void *ctx);
    void *ctx;
};

struct prompt *prompt_new(const struct prompt_ops *ops);
/* Writes the history. */
void prompt_free(struct prompt *prompt);
/* stdin and stdout are terminals. */
bool prompt_is_terminal(const struct prompt *prompt);

enum prompt_result { PROMPT_LINE, PROMPT_INTERRUPTED, PROMPT_END };
/* Fills `line` without its end. `more`: it goes on with the lines before it. */
enum prompt_result prompt_read(struct prompt *prompt, bool more, struct buf *line);
/* Into the history, also of later processes: $XDG_STATE_HOME/kubelua/history, ~/.local/state without that. */
void prompt_remember(struct prompt *prompt, const char *text);
