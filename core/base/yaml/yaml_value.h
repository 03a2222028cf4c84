/* A YAML value as JSON, from libyaml's events, without a tree in memory. An alias is replaced by the output
 * of its anchor: nothing refers to itself, and the limit of a value also bounds what aliases expand to.
 * Scalars are those of YAML 1.1, as kubectl reads them. Owner: the caller, which fills `next`, `max` and
 * `max_name`, and sets up the parser; zero-initialised is empty. Any thread. */
#pragma once
#include <yaml.h>

#include "base/err.h"
#include "base/yaml/yaml_anchors.h"

/* Reason why the output is unusable; the events are still read to its end. */
enum yaml_flaw {
    YAML_NO_FLAW,
    YAML_LARGE,
    YAML_BAD_KEY,
    YAML_TWICE,
    YAML_BAD_MERGE,
    YAML_LARGE_MERGES,
    YAML_NO_ANCHOR,
    YAML_CYCLE,
    YAML_DEEP, /* the events are not read on */
};

struct yaml_value {
    bool (*next)(struct yaml_value *
                     value); /* reads the next event; returns false if there is none, which it has reported */
    size_t max;              /* bytes of the output, of texts kept for anchors, and of moves by merges */
    const char *max_name;    /* name of that limit, for messages */
    bool fractions_stay;     /* 1e17 stays a fraction; kubectl reads it as an integer */
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    struct yaml_anchors anchors;
    struct yaml_keys keys;
    struct buf json;
    size_t start; /* of the current value in the output */
    enum yaml_flaw flaw;
    size_t flaw_line;
    struct buf twice; /* the duplicate key, as JSON */
    size_t merged;    /* bytes that merges have moved in the object */
    size_t line_base; /* lines before the first that the parser sees */
};

/* Frees all but the parser and the event, which the caller owns. */
void yaml_value_clear(struct yaml_value *value);
/* Resets the output for the next document. */
void yaml_value_begin(struct yaml_value *value);
/* Sets the flaw of the value in progress, unless it has one. */
void yaml_value_set_flaw(struct yaml_value *value, enum yaml_flaw flaw);
/* Fills the error with its flaw, without a line. Returns false. */
bool yaml_value_describe_flaw(const struct yaml_value *value, struct err *err);
/* Checks a key of the map at this depth, as JSON: a map may have it once. */
void yaml_value_key(struct yaml_value *value, int depth, struct str key);
/* Returns the line of a mark or of the current event, from 1. */
static inline size_t yaml_value_line_of(const struct yaml_value *value, yaml_mark_t mark)
{
    return value->line_base + mark.line + 1;
}
static inline size_t yaml_value_line(const struct yaml_value *value)
{
    return yaml_value_line_of(value, value->event.start_mark);
}
/* Appends the value that begins with the current event, up to its last one. Returns false if the text ended,
 * which was reported, or the flaw is YAML_DEEP. Other mistakes are the flaw of the value. */
bool yaml_value_read(struct yaml_value *value);
/* Merges the entry at `entry`, with its comma, which is the last one of `json`: its fields take its place.
 * The entries of its map begin at `first`. */
void yaml_value_merge(struct yaml_value *value, size_t first, size_t entry);
/* Returns whether the scalar is the key of a merge. */
bool yaml_event_is_merge(const yaml_event_t *event);
/* Returns a scalar's text; a NULL pointer for other events. */
struct str yaml_event_text(const yaml_event_t *event);
/* Returns the change of the depth by the event: 1, -1 or 0. */
int yaml_event_step(const yaml_event_t *event);
/* Returns the anchor of the event's value; NULL: none. */
const char *yaml_event_anchor(const yaml_event_t *event);
/* Limit, as libyaml compares each %TAG directive, and each tag, with all directives of the document. */
enum { YAML_TAGS_MAX = 100 };
static inline bool yaml_has_many_tags(const yaml_parser_t *parser)
{
    return parser->tag_directives.top - parser->tag_directives.start > YAML_TAGS_MAX;
}
/* Copies the next bytes of a text, for a read handler. Returns false, which the handler must return, after
 * too many %TAG directives. */
bool yaml_hand_over(const yaml_parser_t *parser, struct str *rest, unsigned char *to, size_t room,
                    size_t *got);
