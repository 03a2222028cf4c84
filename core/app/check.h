/* What `kubelua check` finds in scripts, without running them. Owner: the command, on the main thread. */
#pragma once
#include "base/buf.h"
#include "informer/leadership.h"
#include "kube/resource.h"
#include "script/script.h"

struct finding {
    char *file;
    int line; /* 0: not known */
    bool is_warning;
    char *text;
};

struct findings {
    struct finding *items;
    size_t count, errors, warnings;
};

/* Takes the text "scripts/x.lua:12: ..." apart; another text is of the whole file. */
void findings_add_error(struct findings *findings, const char *file, const char *text);
/* `line` 0: not known. */
void findings_add(struct findings *findings, const char *file, int line, bool is_warning, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
/* By their lines, from that one on. */
void findings_sort(struct findings *findings, size_t first);
void findings_clear(struct findings *findings);
/* As compilers print them, or as JSON. */
void findings_print(const struct findings *findings, bool as_json, struct buf *out);

/* The line of the file in which the text stands first, comments apart; 0 for none. */
int find_line(const char *file, const char *text);

/* What a script that was loaded names: kinds that are unknown. `is_whole`: the catalogue is a server's or a
 * dump's, else what it lacks may be a custom resource. */
void check_kinds(const struct script *script, const char *file, const struct catalogue *catalogue,
                 bool is_whole, struct findings *findings);
/* Conditions of handlers on what their informers do not keep. */
void check_handlers(const struct script *script, const char *file, struct findings *findings);
