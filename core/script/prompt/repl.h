/* A prompt's Lua state: lines of Lua are run in it as tasks, and what they give is made text for people. It
 * reads caches and the server, and changes nothing. Owner: its creator; on the engine thread, and not
 * from inside a call of it. Texts handed out are borrowed for the call. */
#pragma once
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "script/generation/script.h"

struct piece_meter;
struct repl;

enum repl_end {
    REPL_DONE,
    REPL_INCOMPLETE, /* more lines are needed: nothing was run */
    REPL_FAILED,     /* the text says why, in one line */
};

enum repl_caches {
    REPL_OWN_CACHES,    /* a requested kind gets a cache */
    REPL_SHARED_CACHES, /* those that scripts of the host have, and no others */
};

struct repl_ops {
    /* A claim was made: it wants its informer. NULL: they all have one. */
    void (*claimed)(void *claimed_ctx);
    void *claimed_ctx;
    /* A line of print. */
    void (*printed)(void *ctx, struct str line);
    /* The evaluation is over; from inside repl_eval or later. May begin another one. */
    void (*ended)(void *ctx, enum repl_end end, struct str text);
    void *ctx;
};

struct repl_style {
    size_t width; /* of the terminal; 0: whatever it takes */
    bool colours;
    bool hides_secrets; /* the kind is refused */
};

/* `host` is copied; whom it trusts has nothing to do with prompts. NULL with an error. */
struct repl *repl_new(const struct script_host *host, enum repl_caches caches, const struct repl_ops *ops,
                      struct err *err);
void repl_free(struct repl *repl);
/* Ends it in brief steps before it is freed: a line may have left a hundred thousand views behind. Returns
 * whether nothing is left that takes long. After the first step nothing but this and repl_free is called, and
 * `ended` is not. */
bool repl_end_step(struct repl *repl);
/* From now on evaluations are done in brief pieces, between which others have their turn; `meter` measures
 * them, and outlives the repl. */
void repl_be_brief(struct repl *repl, struct piece_meter *meter);
/* One at a time. */
void repl_eval(struct repl *repl, struct str text, const struct repl_style *style);
bool repl_is_busy(const struct repl *repl);
/* Ends the evaluation under way if it waits: `ended` is called. */
void repl_cancel(struct repl *repl);
/* Ends it, or the completion under way, if it computes. From a signal handler on the same thread. */
void repl_interrupt(struct repl *repl);
/* ^C came since the evaluation began. */
bool repl_was_interrupted(const struct repl *repl);
/* Appends what the text may go on with, each ended by a NUL byte; `*start`: where the word begins that they
 * stand for. Nothing when that takes more CPU than a handler has. */
void repl_complete(struct repl *repl, struct str text, size_t *start, struct buf *out);
/* To be notified whenever a claim has changed. */
void repl_claims_changed(struct repl *repl);
/* Bytes of its Lua state. */
size_t repl_memory(const struct repl *repl);
