/* A value of YAML as JSON, from libyaml's events: a tree of it is never made. An alias is the text that its
 * anchor became: so nothing refers to itself, and what aliases make of little is as long as a value may be,
 * and no longer. Scalars are those of YAML 1.1, as kubectl reads them.
 * Owner: whoever holds the struct, who fills `next`, `max` and `max_name`, and sets up the parser; zero is
 * empty. Any thread. */
#pragma once
#include <yaml.h>

#include "base/err.h"
#include "kube/config/yaml_anchors.h"

/* Why the text that is made cannot be used; the events are read on to its end. */
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
    bool (*next)(struct yaml_value *value); /* the next event; false, and told, when there is none */
    size_t max;           /* bytes of the text, of what anchors keep, and of what merges move */
    const char *max_name; /* of that limit, for messages */
    bool fractions_stay;  /* 1e17 is no whole number, which kubectl makes of it */
    yaml_parser_t parser;
    yaml_event_t event; /* the one at hand */
    struct yaml_anchors anchors;
    struct yaml_keys keys;
    struct buf json;
    size_t start; /* of the value in it that is made */
    enum yaml_flaw flaw;
    size_t flaw_line;
    struct buf twice; /* the key that is there twice, as JSON */
    size_t merged;    /* bytes that merges have moved in the object */
    size_t line_base; /* lines before the first that the parser sees */
};

/* Frees all but the parser and the event, which are of one text. */
void yaml_value_clear(struct yaml_value *value);
/* Nothing is made any more: a document begins. */
void yaml_value_begin(struct yaml_value *value);
/* Sets the flaw of the value in progress, unless it has one. */
void yaml_value_set_flaw(struct yaml_value *value, enum yaml_flaw flaw);
/* Fills the error with its flaw, without a line. Returns false. */
bool yaml_value_describe_flaw(const struct yaml_value *value, struct err *err);
/* A key of the map at this depth, as JSON, is at hand: it may be there once. */
void yaml_value_key(struct yaml_value *value, int depth, struct str key);
/* The line of the mark, and of the event at hand, from 1. */
static inline size_t yaml_value_line_of(const struct yaml_value *value, yaml_mark_t mark)
{
    return value->line_base + mark.line + 1;
}
static inline size_t yaml_value_line(const struct yaml_value *value)
{
    return yaml_value_line_of(value, value->event.start_mark);
}
/* Appends the value that begins with the event at hand, up to its last one. False: the text ended, which was
 * told, or the flaw is YAML_DEEP. What else is wrong with it is its flaw. */
bool yaml_value_read(struct yaml_value *value);
/* The entry at `entry` of the map whose entries begin at `first`, its comma with it, is a merge, and the last
 * one of `json`: what it brings takes its place. */
void yaml_value_merge(struct yaml_value *value, size_t first, size_t entry);
/* Returns whether the scalar is the key of a merge. */
bool yaml_event_is_merge(const yaml_event_t *event);
/* A scalar's text; a NULL pointer for all else. */
struct str yaml_event_text(const yaml_event_t *event);
/* By how much the event changes the depth: 1, -1 or 0. */
int yaml_event_step(const yaml_event_t *event);
/* The name that the event's value gets; NULL for none. */
const char *yaml_event_anchor(const yaml_event_t *event);
/* libyaml compares each %TAG directive, and each tag, with all directives of the document. */
enum { YAML_TAGS_MAX = 100 };
static inline bool yaml_has_many_tags(const yaml_parser_t *parser)
{
    return parser->tag_directives.top - parser->tag_directives.start > YAML_TAGS_MAX;
}
/* Copies the next bytes of a text, for a read handler; false, to be returned by it, after many %TAGs. */
bool yaml_hand_over(const yaml_parser_t *parser, struct str *rest, unsigned char *to, size_t room,
                    size_t *got);
