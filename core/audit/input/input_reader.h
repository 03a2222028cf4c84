/* Internals of the readers of one file (input_json.c, input_yaml.c): both turn it into pieces of JSON, and
 * these into objects. Owner: audit_input_read; for these files only. */
#pragma once
#include "audit/input/input.h"
#include "audit/input/input_cut.h"
#include "audit/input/input_late.h"
#include "audit/input/input_namespace.h"
#include "base/buf.h"
#include "object/parse/tape.h"

enum { INPUT_TYPE_MAX = 256 }; /* length of an apiVersion, a kind, or the key of either */
enum { INPUT_HEAD = 64 };      /* bytes of an item's beginning */

/* Type that a list declares for its items; empty where it declares none. */
struct input_type {
    struct str api_version, kind;
    bool pending; /* the list may declare it after its items */
};

struct input_reader {
    const struct audit_input_options *options;
    struct audit_input_counts *counts;
    size_t max;
    const char *max_name;             /* name of that limit, for messages */
    uint64_t before, reported, total; /* bytes: of files that were read, last reported, of all files */
    const char *file;
    struct input_source *source;
    struct input_window window;
    struct input_cut cut;
    struct tape_parser *parser;
    struct input_late late; /* items of the current list whose kind is not known yet */
    size_t refused;         /* number of refused pieces of this file */
    bool is_found;          /* found in a directory, not named by the user */
    size_t foreign_of;      /* number of the last file with a skipped document */
    struct root *last; /* kept until the next object, so that the pool does not free parts that both share */
    bool stopped;      /* the sink stopped it */
    /* To share the file: where it is tried next, how often it was, and the beginning of the last item. */
    uint64_t share_next;
    size_t shared;
    char head[INPUT_HEAD];
    size_t head_length;
    /* Type that was looked up last, and the result. */
    struct buf last_type; /* kind, NUL, apiVersion */
    bool wanted;
    const struct projection *projection;
    struct str ns; /* for objects without one */
    struct input_namespace namespace_;
};

/* --- input_piece.c */

/* Returns the type of a list's items by the type of the list: Pod of PodList. */
struct input_type input_item_type(struct str api_version, struct str kind);
/* Passes on the object, or those of a list; `list` is the type that its list declares, NULL without a list.
 */
void input_take(struct input_reader *reader, const struct input_piece *piece, const struct input_type *list,
                size_t line);
/* Passes on the items that waited for their list's kind, or reports that it is unknown. */
void input_take_late(struct input_reader *reader, const struct input_type *list, size_t line);

/* --- input_piece.c */

/* Passes on the object, unless its type is not wanted. */
void input_take_object(struct input_reader *reader, const struct input_piece *piece, struct str api_version,
                       struct str kind, size_t line);

/* --- input_share.c */

/* Has a large file read by others (audit_input_options.share) where the window stands at the bracket of an
 * item or a document: afterwards it stands at a later one, or at the same. `list` and `in_array` as struct
 * input_share has them. */
void input_share_try(struct input_reader *reader, const struct input_type *list, bool in_array);

/* --- input_fault.c */

enum { INPUT_REPORTED_MAX = 100 }; /* reported one by one, for each file */
/* Prefixes the error with file and line and passes it to the sink. */
void input_refuse(struct input_reader *reader, size_t line, struct err *err);
void input_refuse_text(struct input_reader *reader, size_t line, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports the number of further refusals, at the end of the file. */
void input_refuse_rest(struct input_reader *reader);
/* Reports the error of a text that begins at `line`, with the line of the error. */
void input_refuse_damaged(struct input_reader *reader, struct str text, size_t line, struct err *err);
/* Reports a text that a parser refuses. */
void input_take_damaged(struct input_reader *reader, struct str text, size_t line);
/* Reports a value at `line` that is too large or not closed. */
void input_refuse_cut(struct input_reader *reader, enum input_cut_result result, size_t line);

/* --- input.c, input_json.c, input_yaml.c */

/* Reports the progress, if there was some. */
void input_progress(struct input_reader *reader);

/* Reads JSON from the window on; returns false if the text there is not JSON. */
bool input_read_json(struct input_reader *reader);
/* Reads the rest as YAML. */
void input_read_yaml(struct input_reader *reader, bool is_utf16);

/* --- An object that does not fit into the window: a List of any length, or a large single one; see
 * input_json.c. Owner: audit_input_read; for the readers of JSON only. */

/* Passes on the content of the object at the window's bracket, and moves after it. Returns false if it is
 * damaged, which was reported. */
bool input_read_envelope(struct input_reader *reader);
