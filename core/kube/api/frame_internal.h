/* Internals shared by frame.c (frames in general, events) and frame_list.c (the body of a list). Owner: see
 * frame.h. For these files only. */
#pragma once
#include "kube/api/frame.h"
#include "object/parse/json_scan.h"

enum {
    FRAME_HEAD_MAX = 16 << 10,     /* kept bytes of an oversize frame */
    FRAME_BUFFER_KEPT = 256 << 10, /* a larger buffer is freed after its frame */
    FRAME_ENVELOPE_MAX = 1 << 20,  /* a list's own fields */
};

enum list_state {
    LIST_START,      /* before the opening brace */
    LIST_KEY_OR_END, /* behind it */
    LIST_KEY,        /* behind a comma */
    LIST_IN_KEY,
    LIST_COLON,
    LIST_VALUE,
    LIST_IN_STRING,
    LIST_IN_CONTAINER,
    LIST_IN_SCALAR,
    LIST_AFTER_VALUE,
    LIST_ITEM_OR_END, /* behind the bracket of items */
    LIST_ITEM,        /* behind a comma in it */
    LIST_IN_ITEM,
    LIST_IN_WORD_ITEM, /* null, a number: no object */
    LIST_IN_TEXT_ITEM, /* a string */
    LIST_AFTER_ITEM,
    LIST_WHOLE, /* behind the closing brace */
};

/* Part of the envelope: a string without its quotes; length 0: none. */
struct str_span {
    size_t at, len;
};

struct framer {
    enum frame_form form;
    size_t max_frame;
    struct frame_sink sink;
    struct buf pending; /* the frame that has begun, or the head of one that is too large */
    size_t seen;        /* its bytes so far */
    /* Watches: */
    bool walking;  /* the event's end is found by its brackets, not by a line end */
    bool lines;    /* this server has ended an event with a line */
    bool no_lines; /* it has not: all are walked through */
    struct json_walk walk;
    /* Lists: */
    enum list_state state;
    struct json_scan scan;
    bool escaped, announced;
    struct buf envelope;     /* the body without its items */
    size_t key_at, value_at; /* places in it: the field being read */
    struct str_span key;     /* its name */
    struct str_span kind, api_version;
    size_t consumed; /* bytes of the body before the current stretch */
};

/* Adds bytes to the frame in progress. Above the limit only its head is kept. */
void frame_keep(struct framer *framer, const char *data, size_t len);
/* Passes the frame on; `data` is its last (or only) part, with `behind` readable bytes after it. Returns
 * false to stop. */
bool frame_finish(struct framer *framer, const char *data, size_t len, size_t behind);

/* Returns the complete text of a frame within the limit, of which `data` is the last part, with TAPE_PADDING
 * readable bytes after it. */
struct str frame_gather(struct framer *framer, const char *data, size_t len, size_t behind);
/* Ends the frame. */
void frame_reset(struct framer *framer);

bool frame_feed_watch(struct framer *framer, const char *data, size_t len, struct err *err);
bool frame_end_watch(struct framer *framer, struct err *err);
bool frame_feed_list(struct framer *framer, const char *data, size_t len, struct err *err);
bool frame_end_list(struct framer *framer, struct err *err);
