/* A request and its response, free of the HTTP library, so that units can play both sides.
 * Owner: a request and what is in it live as long as the call; a reply belongs to whoever reads it, see each
 * field. Requests are served on their connections' threads. */
#pragma once
#include <sys/types.h>

#include <jansson.h>

#include "base/buf.h"
#include "sim/store/action.h"

struct sim_param {
    const char *key, *value; /* unescaped */
};

struct sim_request {
    const char *method, *path;
    const struct sim_param *query;
    size_t query_count;
    const char *accept, *content_type; /* "" when missing */
    struct str body;
    int fd;       /* of the connection, to see it close; -1 without */
    bool has_nul; /* its path or query has %00, where a text would end */
    bool polled;  /* a watch never sleeps: it says SIM_STREAM_LATER instead */
};

enum { SIM_STREAM_LATER = 0, SIM_STREAM_END = -1, SIM_STREAM_BROKEN = -2, SIM_STREAM_RESET = -3 };

/* A body that is made while it is sent. */
struct sim_stream {
    /* Blocks until there is something: the number of bytes, at least 1, or one of SIM_STREAM_*. Only what was
     * asked for as `polled` has nothing to say yet. */
    ssize_t (*read)(struct sim_stream *stream, char *to, size_t room);
    void (*free)(struct sim_stream *stream);
};

struct sim_reply {
    int code;
    const char *content_type;  /* constant; NULL is application/json */
    json_t *json;              /* the body, or */
    struct buf text;           /* the body, or */
    struct sim_stream *stream; /* the body */
    bool live;                 /* a watch: never compressed */
    int retry_after_s;         /* 0 without */
};

/* NULL when it is not given. */
const char *sim_query(const struct sim_request *request, const char *key);
/* Given, and neither "false" nor "0". */
bool sim_query_true(const struct sim_request *request, const char *key);
/* Answers with a Status, which it takes, and with Retry-After when its details say so. */
void sim_reply_status(struct sim_reply *reply, json_t *status);
/* The errors that a real server gives before it knows what the request is about: 404 and 405. */
void sim_reply_not_found(struct sim_reply *reply);
void sim_reply_not_allowed(struct sim_reply *reply);
/* Frees what was not handed on. */
void sim_reply_clear(struct sim_reply *reply);

/* The place where a stream writes; what does not fit is kept for the next read. */
struct sim_out {
    char *to;
    size_t room, len;
    struct buf kept;
    size_t kept_at;
};

/* At the start of a read: gives the new place, and writes what was kept. */
void sim_out_begin(struct sim_out *out, char *to, size_t room);
void sim_out_put(struct sim_out *out, struct str bytes);
bool sim_out_full(const struct sim_out *out);
void sim_out_clear(struct sim_out *out);

/* Waits until the time has passed, or for ever with -1; false when the other side has closed the connection.
 */
bool sim_wait(int fd, int64_t ms);
