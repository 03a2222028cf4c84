/* Cuts a stream of bytes into JSON texts: the events of a watch, and the items of a list body one by one, so
 * that never more than one object of it is in memory. Owner: the framer owns its bytes; what a callback gets
 * is borrowed for the call, with TAPE_PADDING readable bytes behind it. Callbacks may not feed or clear the
 * framer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct frame_sink {
    void *ctx;
    /* Watches only: returns whether a line is one JSON text; what was made of it is kept for `frame`, which
     * is called next with the same text. False is not an error: the bytes are then cut by their brackets. */
    bool (*is_one)(void *ctx, const char *text, size_t len);
    /* One watch event, or one element of `items`. False stops; the feed then gives false with
     * nothing in `err`. */
    bool (*frame)(void *ctx, const char *text, size_t len);
    /* A frame beyond the limit, skipped. `head` is its beginning (16 KiB at most), enough to name the object;
     * `seen` its length. */
    bool (*oversize)(void *ctx, const char *head, size_t head_len, size_t seen);
    /* Lists only: the body without the content of its items,
     * {"kind":..,"apiVersion":..,"metadata":{..},"items":[]}; called by framer_end. */
    bool (*envelope)(void *ctx, const char *text, size_t len);
    /* Lists only: kind and apiVersion of the list as soon as both are known. Servers send them first; a body
     * that gives them behind its items leaves those to name themselves. False stops. */
    bool (*list_type)(void *ctx, struct str kind, struct str api_version);
};

enum frame_form { FRAME_WATCH, FRAME_LIST };

struct framer;

struct framer *framer_new(enum frame_form form, size_t max_frame, const struct frame_sink *sink);
void framer_free(struct framer *framer);
/* ERR_PARSE when the bytes cannot be a list body (its items must be objects; what is in them is not looked
 * at), ERR_LIMIT when a list has more than 1 MiB besides its items; ERR_PARSE when what comes by a watch
 * cannot be a JSON object. Events may stand in lines, over several lines, or one behind the other (H-10). */
bool framer_feed(struct framer *framer, const char *data, size_t len, struct err *err);
/* The stream ended. May call `envelope`. ERR_CLOSED when it ended inside a frame or before the list body was
 * whole. */
bool framer_end(struct framer *framer, struct err *err);
