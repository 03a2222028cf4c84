/* What the files of a watch share: watch.c has where it begins, watch_stream.c what it sends.
 * Owner: the reply whose stream it is; on the connection's thread, without the store's lock. */
#pragma once
#include "sim/api/watch.h"
#include "sim/store/form.h"

enum { SIM_WATCH_BATCH_MAX = 128 };

struct watch {
    struct sim_stream stream;
    struct sim_api *api;
    const struct sim_served *served;
    struct sim_list_options options;
    struct sim_event_form form;
    char *prefix;         /* of its namespace */
    struct omap *initial; /* objects that are sent first */
    struct omap_cursor cursor;
    enum { WATCH_INITIAL, WATCH_LIVE } stage;
    bool end_bookmark;
    uint64_t version; /* up to which the client was sent everything that concerns it */
    uint64_t told;    /* the last version that it was told of: less, when only others changed */
    int64_t deadline_ms, bookmark_ms;
    struct sim_watcher watcher;
    struct sim_event batch[SIM_WATCH_BATCH_MAX]; /* with references of their own */
    size_t batch_count;
    size_t sent;
    struct sim_out out;
    struct sim_actions actions;
    enum sim_then then;
    int fd;
    bool polled;
};

/* The functions of `stream`. */
ssize_t sim_watch_read(struct sim_stream *stream, char *to, size_t room);
void sim_watch_free(struct sim_stream *stream);
/* The next one is due when the interval is over, or shortly before the watch ends. */
void sim_watch_schedule_bookmark(struct watch *watch);
