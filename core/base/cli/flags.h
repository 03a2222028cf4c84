/* Command line flags from a table: parsing, KUBELUA_<FLAG> from the environment, and the help text, all from
 * one place. Owner: the table points at the caller's variables; texts point into argv or the environment.
 * Before any loop runs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum flag_kind {
    FLAG_STRING,      /* const char ** */
    FLAG_BOOL,        /* bool *; --name or --name=true|false */
    FLAG_INT,         /* int *, not negative */
    FLAG_COUNT,       /* int *, at least 1 */
    FLAG_NUMBER,      /* double *, not negative */
    FLAG_DURATION_MS, /* int64_t *; 90s, 500ms, 1h30m, or seconds */
    FLAG_SIZE,        /* size_t *; 64Mi, 1G, or bytes */
    FLAG_CHOICE,      /* const char **; one of `values` */
    FLAG_MODE,        /* const char **; --name, which sets "", or --name= one of `values` (NULL: any text) */
    FLAG_LIST,        /* struct flag_list *, repeatable */
};

struct flag {
    const char *name; /* NULL ends a table */
    char letter;      /* 0 without */
    enum flag_kind kind;
    void *into;
    const char *arg;    /* placeholder in the help; NULL for booleans */
    const char *values; /* of FLAG_CHOICE and FLAG_MODE: "text|json"; of others what completion offers */
    const char *help;
};

/* -f, of all commands that take scripts; `list` is a struct flag_list *. */
#define FLAG_SCRIPT_FILES(list)                                                                            \
    {                                                                                                      \
        "filename", 'f', FLAG_LIST, (list), "FILE|DIR", NULL,                                              \
            "Lua script, directory of scripts, builtin:[NAME] for rules that ship, - for standard input, " \
            "or https://...#sha256=HEX (repeatable)"                                                       \
    }

/* -R, of the same commands; `set` is a bool *. */
#define FLAG_RECURSIVE(set)                                                            \
    {                                                                                  \
        "recursive", 'R', FLAG_BOOL, (set), NULL, NULL,                                \
            "Take the scripts of the directories below a directory that -f names, too" \
    }

/* --admin-socket, of all commands that call a running engine; `path` is a const char **. */
#define FLAG_ADMIN_SOCKET(path)                                                                            \
    {                                                                                                      \
        "admin-socket", 0, FLAG_STRING, (path), "PATH", NULL,                                              \
            "Unix socket of the running engine (default $XDG_RUNTIME_DIR/kubelua.sock; /run/kubelua.sock " \
            "for root)"                                                                                    \
    }

struct flag_list {
    const char **items;
    size_t count;
};

/* A flag that was set: the last value, or each one of a list, as it was given, and where: "--v", "KUBELUA_V",
 * "config.yaml:3". */
struct flag_given {
    const struct flag *flag;
    const char *value;
    char *where;
    bool in_file;
};

struct flags_given {
    struct flag_given *items;
    size_t count;
};

/* One of a file of settings. The texts are borrowed. */
struct flag_setting {
    const char *name, *value, *where;
};

/* Copies the flags into a table with `room` for them and its end, which is zero from the start: a static one.
 * Returns the table. */
const struct flag *flags_fill(struct flag *table, size_t room, const struct flag *flags, size_t count);
/* Several tables one after the other count as one; `tables` ends with NULL. Fills `rest` with the arguments
 * that are no flags, and `given` with the flags that were set, unless it is NULL. Environment first, then
 * argv[1..]. ERR_INVALID names the first wrong flag, its value and what it takes, or the most it may be; an
 * unknown flag names a known one that is near. Those after it are set all the same, so that the error can be
 * told as they say. */
bool flags_parse(const struct flag *const *tables, int argc, char **argv, struct flag_list *rest,
                 struct flags_given *given, struct err *err);
/* Sets flags by the settings of a file, but none that was given on the command line or by the environment:
 * all values of a list are from one of the three. ERR_INVALID names the place, and what flags_parse would. */
bool flags_apply(const struct flag *const *tables, const struct flag_setting *settings, size_t count,
                 struct flags_given *given, struct err *err);
/* Returns whether a table has the flag; else sets ERR_INVALID with its place and the nearest name. */
bool flags_know(const struct flag *const *tables, const struct flag_setting *setting, struct err *err);
void flags_given_clear(struct flags_given *given);
/* Appends the value of a flag as one would give it; nothing for a text that is not set. */
void flag_text(const struct flag *flag, struct buf *out);
/* Clears the lists of flags. */
void flags_clear(const struct flag *const *tables);
void flags_print(const struct flag *table);
/* "a.json, b.json", for messages; the caller frees it. */
char *flag_list_text(const struct flag_list *list);
void flag_list_clear(struct flag_list *list);
