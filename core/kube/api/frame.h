/* Framer of a stream of bytes: cuts out the events of a watch, and the items of a list body one by one, so
 * that never more than one object of it is in memory. Owner: the framer owns its bytes; arguments of
 * callbacks are borrowed for the call, with TAPE_PADDING readable bytes after them. Callbacks must not feed
 * or clear the framer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct frame_sink {
    void *ctx;
    /* Watches only: returns whether a line is one JSON text; its result is kept for `frame`, which is called
     * next with the same text. False is not an error: the bytes are then cut by their brackets. */
    bool (*is_one)(void *ctx, const char *text, size_t len);
    /* Receives one watch event, or one element of `items`. False stops; the feed then returns false with no
     * error in `err`. */
    bool (*frame)(void *ctx, const char *text, size_t len);
    /* Receives the start of a skipped frame that exceeds the limit: `head` has at most 16 KiB, enough to name
     * the object; `seen` is its length. */
    bool (*oversize)(void *ctx, const char *head, size_t head_len, size_t seen);
    /* Lists only: the body without the content of its items,
     * {"kind":..,"apiVersion":..,"metadata":{..},"items":[]}; called by framer_end. */
    bool (*envelope)(void *ctx, const char *text, size_t len);
    /* Lists only: receives kind and apiVersion of the list as soon as both are known. Servers send them
     * first; if they follow the items, these must name themselves. False stops. */
    bool (*list_type)(void *ctx, struct str kind, struct str api_version);
};

enum frame_form { FRAME_WATCH, FRAME_LIST };

struct framer;

struct framer *framer_new(enum frame_form form, size_t max_frame, const struct frame_sink *sink);
void framer_free(struct framer *framer);
/* During `frame`: if its text lies in the framer's own memory, gives that away for `into`, which it uses
 * next, and returns true. */
bool framer_swap(struct framer *framer, const char *text, struct buf *into);
/* Feeds bytes. ERR_PARSE if they cannot be a list body (its items must be objects; their content is not
 * checked), ERR_LIMIT if a list has more than 1 MiB besides its items; ERR_PARSE if the bytes of a watch
 * cannot be a JSON object. Events may be in lines, over several lines, or adjacent (H-10). */
bool framer_feed(struct framer *framer, const char *data, size_t len, struct err *err);
/* Ends the stream; may call `envelope`. ERR_CLOSED if it ended inside a frame or before the end of the list
 * body. */
bool framer_end(struct framer *framer, struct err *err);
