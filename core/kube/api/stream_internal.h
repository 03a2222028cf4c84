/* Internals shared by stream.c (both kinds, and lists) and watch_stream.c. Owner: see stream.h. For these
 * files only. */
#pragma once
#include "base/buf.h"
#include "kube/api/frame.h"
#include "kube/api/stream.h"
#include "object/parse/tape.h"

struct stream {
    struct stream_options options;
    struct framer *framer;
    bool stopped;
    int64_t received_us; /* of the bytes being fed */
    /* Of a stream with packers, what they have; see stream_dealt.c. */
    struct pack_queue jobs;
    bool (*again)(struct stream *stream, struct pack_job *job);
    bool is_again;  /* a text that they could not pack is taken as if there were none of them */
    bool deals;     /* the line that was asked about is for them */
    struct err err; /* set by a frame that ends the stream */
    /* Watches: */
    struct pack_type expected; /* what they should bring */
    struct tape tape;          /* of the event's text, if `parsed` */
    bool parsed;
    bool skips;         /* nobody wants its object, by its namespace or its uid */
    struct root *ready; /* the object of an event that has one already; a reference */
    enum lw_event_type ready_type;
    struct pack_mark mark; /* of the text of an object that is not ready */
    struct buf type_texts; /* lists: strings of `options.type`, once the list has named it */
};

/* --- stream_dealt.c */

/* Type of a text that is an item of a list; those of events are enum lw_event_type. */
enum { DEALT_ITEM = LW_DELETED + 1 };

/* Makes a stream one with packers. `pack` packs one of its texts (packers.h), and `again` takes a text that
 * could not be packed like that, on the I/O thread: returns whether the stream goes on. */
void stream_use_packers(struct stream *stream,
                        void (*pack)(const struct pack_queue *, struct pack_job *, struct packer *),
                        bool (*again)(struct stream *, struct pack_job *));
static inline bool stream_has_packers(const struct stream *stream)
{
    return stream->jobs.packers != NULL && !stream->is_again;
}
/* Deals a text, of which `object` is to be packed. Returns whether the stream goes on. */
bool stream_deal(struct stream *stream, struct str text, struct str object, unsigned type);
/* Delivers what is done. Likewise. */
bool stream_deliver_done(struct stream *stream);
/* Delivers everything that was dealt: before anything that does not go that way. Likewise. */
bool stream_settle(struct stream *stream);

/* --- stream.c */

struct stream *stream_new(const struct stream_options *options, enum frame_form form, size_t max_frame,
                          const struct frame_sink *sink);
/* Returns whether nobody wants the object, by its namespace or its uid. If the text does not say so at its
 * beginning, it may be wanted. */
bool stream_skips(struct stream *stream, struct str text, bool event);
/* Tells the sink of one; returns whether the stream goes on. */
bool stream_skip(struct stream *stream);
/* Tells the sink of an object that was refused alone; returns whether the stream goes on. `text` is
 * its frame, or the beginning of it; `event`: a watch event. */
bool stream_refuse(struct stream *stream, const struct err *err, struct str text, bool event);
/* Likewise for an object of another kind, which concerns no object of the cache. */
bool stream_refuse_foreign(struct stream *stream, const struct err *err);
/* Likewise for a frame that the parser refused with `err`. Ends the stream if that is no object, or if
 * brackets and commas do not show where it ends. */
bool stream_refuse_damaged(struct stream *stream, struct err *err, struct str text, bool event);
/* Likewise for a frame that is too large. */
bool stream_refuse_oversize(struct stream *stream, struct str head, bool event, size_t seen);
