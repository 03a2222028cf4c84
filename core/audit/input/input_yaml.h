/* What input_yaml.c, the documents, and input_yaml_value.c, one value as JSON, share.
 * Owner: audit_input_read; for these files only. */
#pragma once
#include <yaml.h>

#include "audit/input/input_anchors.h"
#include "audit/input/input_reader.h"

/* Why the text that is made cannot be used; the events are read on to its end. */
enum input_flaw {
    FLAW_NONE,
    FLAW_LARGE,
    FLAW_KEY,
    FLAW_TWICE,
    FLAW_MERGE,
    FLAW_MERGES,
    FLAW_ANCHOR,
    FLAW_CYCLE
};

struct input_yaml {
    struct input_reader *reader;
    yaml_parser_t parser;
    yaml_event_t event; /* the one at hand */
    struct input_tokens tokens;
    struct input_anchors anchors;
    struct input_keys keys;
    struct buf json;
    size_t start; /* of the value in it that is made */
    enum input_flaw flaw;
    size_t flaw_line;
    struct buf twice;  /* the key that is there twice, as JSON */
    size_t merged;     /* bytes that merges have moved in the object */
    size_t line_base;  /* lines before the first that the parser sees */
    size_t since;      /* bytes handed over since the last event */
    bool has_braces;   /* {{ stood in what was handed over */
    bool is_text_long; /* no more was handed over, as there was no event for so long */
    /* A parser sees one document, if it can be told where that ends: so an error is one of that alone. */
    bool splits;
    bool in_line,
        has_content; /* what was handed over ends inside of a line; has more than comments and marks */
    bool at_mark;    /* the next document begins at the window */
};

/* What is wrong with the value that is made, unless something was before. */
void input_yaml_set_flaw(struct input_yaml *yaml, enum input_flaw flaw);
/* A key of the map at this depth, as JSON, is at hand: it may be there once. */
void input_yaml_key(struct input_yaml *yaml, int depth, struct str key);
/* The next event; false, and told, when there is none. */
bool input_yaml_next(struct input_yaml *yaml);
size_t input_yaml_line(const struct input_yaml *yaml);
/* Appends the value that begins with the event at hand, up to its last one. False: the text ended, or it is
 * nested too deep, which was told. What else is wrong with it is its flaw. */
bool input_yaml_value(struct input_yaml *yaml);
/* Whether it is the key of a merge. */
bool input_yaml_is_merge(const yaml_event_t *event);
/* The entry at `entry` of the map whose entries begin at `first`, its comma with it, is a merge, and the last
 * one of `json`: what it brings takes its place. */
void input_yaml_merge(struct input_yaml *yaml, size_t first, size_t entry);
/* Appends what a scalar means. */
void input_yaml_scalar(struct buf *out, const yaml_event_t *event);
/* A scalar's text; a NULL pointer for all else. */
struct str input_yaml_text(const yaml_event_t *event);
