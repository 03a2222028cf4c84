/* Checks of `kubelua check`, which does not run the scripts. Owner: the command, on the main thread. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "informer/leader/leadership.h"
#include "kube/kinds/resource.h"
#include "script/generation/script.h"

struct finding {
    size_t script;
    char *file;
    int line; /* 0: not known */
    bool is_warning;
    char *text;
};

struct findings {
    struct finding *items;
    size_t count, errors, warnings;
    size_t script; /* that those to come are of, by number */
};

/* Takes the text "scripts/x.lua:12: ..." apart; another text is of the whole file. */
void diagnostics_add_error(struct findings *findings, const char *file, const char *text);
/* `line` 0: not known. */
void diagnostics_add(struct findings *findings, const char *file, int line, bool is_warning,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Script by script, by their lines; what was said twice once. */
void diagnostics_sort(struct findings *findings);
void findings_clear(struct findings *findings);
/* As compilers print them, or as JSON. */
void diagnostics_print(const struct findings *findings, bool as_json, struct buf *out);

/* Place in a file where a script registered something. */
struct place {
    const char *file;
    int line; /* 0: not known */
};
/* `entry` (NULL: not known) is what the plan says; the line is the one of that call on which `text`
 * stands first, comments apart, when there is one. Without an entry the text is looked for in all of `file`.
 * `text` NULL: the entry's line. Texts are borrowed from both. */
struct place find_place(const struct inventory_entry *entry, const char *file, const char *text);

/* Reports unknown kinds that a loaded script names. `is_whole`: the catalogue is a server's or a dump's, else
 * a kind that it lacks may be a custom resource. */
void check_kinds(const struct script *script, const char *file, const struct catalogue *catalogue,
                 bool is_whole, struct findings *findings);
/* Reports fields that handlers and indexes read and their informers do not keep. */
void check_dropped(const struct script *script, const char *file, struct findings *findings);
/* Reports what can never happen: selectors and namespaces that match nothing, queues that nobody serves or
 * fills. */
void check_dead(const struct script *script, const char *file, const struct catalogue *catalogue,
                struct findings *findings);
/* The same of its rules. */
void check_rules(const struct script *script, const char *file, const struct catalogue *catalogue,
                 struct findings *findings);
/* Live reads and writes that it calls, as its text says, and declares for no kind. */
void check_declared(const struct script *script, struct findings *findings);

/* --- Calls of a function of k8s in the source of a script, found by its tokens. On any thread; nothing is
 * kept. */

struct call_found {
    int line;     /* 0: nowhere */
    bool is_call; /* it is called there; else it is only named, as in pcall(k8s.get, ...) */
};

/* Finds `k8s.NAME` in code, not in a comment or a string: the first call, else the first occurrence. */
struct call_found find_call(struct str source, const char *name);
