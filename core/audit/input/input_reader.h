/* Internals of the readers of one file (input_json.c, input_yaml.c): both make pieces of JSON of it, and an
 * object of each. Owner: audit_input_read; for these files only. */
#pragma once
#include "audit/input/input.h"
#include "audit/input/input_cut.h"
#include "audit/input/input_late.h"
#include "audit/input/input_namespace.h"
#include "base/buf.h"
#include "object/parse/tape.h"

enum { INPUT_TYPE_MAX = 256 }; /* of the text of an apiVersion, a kind, or the key that has it */

/* Type that a list declares for its items; empty where it declares none. */
struct input_type {
    struct str api_version, kind;
    bool pending; /* it may say so behind them */
};

struct input_reader {
    const struct audit_input_options *options;
    struct audit_input_counts *counts;
    size_t max;
    const char *max_name;             /* of that limit, for messages */
    uint64_t before, reported, total; /* bytes: of files that were read, last reported, of all files */
    const char *file;
    struct input_source *source;
    struct input_window window;
    struct input_cut cut;
    struct tape_parser *parser;
    struct input_late late; /* items of the list that is read, whose kind is not known yet */
    size_t refused;         /* pieces of this file */
    bool is_found;          /* found in a directory, not named by the user */
    size_t foreign_of;      /* the number of the last file of which something was passed over */
    struct root *last;      /* kept until the next: so the pool does not give up and take what it is in */
    bool stopped;           /* the sink wants no more */
    /* Type that was looked up last, and the result. */
    struct buf last_type; /* kind, NUL, apiVersion */
    bool wanted;
    const struct projection *projection;
    struct str ns; /* of objects that name none */
    struct input_namespace namespace_;
};

/* --- input_piece.c */

/* The type of a list's items by that of the list: Pod of PodList. */
struct input_type input_item_type(struct str api_version, struct str kind);
/* Hands over the object, or those of the list; `list` is what its list says, NULL without. */
void input_take(struct input_reader *reader, const struct input_piece *piece, const struct input_type *list,
                size_t line);
/* Hands over the items that waited for their list's kind, or tells that nobody knows it. */
void input_take_late(struct input_reader *reader, const struct input_type *list, size_t line);

/* --- input_piece.c */

/* Hands over the object, unless it is of a type that nobody wants. */
void input_take_object(struct input_reader *reader, const struct input_piece *piece, struct str api_version,
                       struct str kind, size_t line);

/* --- input_fault.c */

enum { INPUT_REPORTED_MAX = 100 }; /* of one file, one by one */
/* Puts file and line before it and tells the sink. */
void input_refuse(struct input_reader *reader, size_t line, struct err *err);
void input_refuse_text(struct input_reader *reader, size_t line, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Tells how many more were refused than were told, at the end of the file. */
void input_refuse_rest(struct input_reader *reader);
/* Reports the error of a text that begins at `line`, with the line of the error. */
void input_refuse_damaged(struct input_reader *reader, struct str text, size_t line, struct err *err);
/* Tells of a text that a parser finds wrong. */
void input_take_damaged(struct input_reader *reader, struct str text, size_t line);
/* Too much, open to the end: what stands at `line`. */
void input_refuse_cut(struct input_reader *reader, enum input_cut_result result, size_t line);

/* --- input.c, input_json.c, input_yaml.c */

/* Tells how far it is, when it is further. */
void input_progress(struct input_reader *reader);

/* Reads JSON from the window on; false: what stands there now is no JSON. */
bool input_read_json(struct input_reader *reader);
/* Reads all that is left as YAML. */
void input_read_yaml(struct input_reader *reader, bool is_utf16);

/* --- An object of which not all is in the window: a List of any length, or a large single one; see
 * input_json.c. Owner: audit_input_read; for the readers of JSON only. */

/* Hands over what the object holds at whose bracket the window stands, and moves behind it. False: it is
 * broken, which was told. */
bool input_read_envelope(struct input_reader *reader);
