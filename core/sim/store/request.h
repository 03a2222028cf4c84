/* Request and response, independent of the HTTP library, so that units can play both sides. Owner: a request
 * and its content live as long as the call; for a reply see each member. Requests are served on their
 * connections' threads. */
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
    const char *uri; /* path and query as they came; NULL in the process itself */
    const struct sim_param *query;
    size_t query_count;
    const char *accept, *content_type; /* "" when missing */
    const char *if_none_match;         /* "" when missing */
    const struct sim_param *headers;   /* that say who sends it */
    size_t header_count;
    const json_t *user; /* who it is (access/user.h); NULL before that is known, and in the process itself */
    struct str body;
    int fd;       /* of the connection, to see it close; -1 without */
    bool has_nul; /* its path or query has %00, where a C string would end */
    bool polled;  /* a watch never sleeps: it returns SIM_STREAM_LATER */
};

enum { SIM_STREAM_LATER = 0, SIM_STREAM_END = -1, SIM_STREAM_BROKEN = -2, SIM_STREAM_RESET = -3 };

/* Body that is produced while it is sent. */
struct sim_stream {
    /* Blocks until there is data: returns the number of bytes, at least 1, or one of SIM_STREAM_*. Only a
     * `polled` request may have no data yet. */
    ssize_t (*read)(struct sim_stream *stream, char *to, size_t room);
    void (*free)(struct sim_stream *stream);
};

enum { SIM_ETAG_MAX = 24 };

struct sim_reply {
    int code;
    const char *content_type;  /* constant; NULL is application/json */
    json_t *json;              /* the body, or */
    struct buf text;           /* the body, or */
    struct sim_stream *stream; /* the body */
    bool live;                 /* a watch: never compressed */
    int retry_after_s;         /* 0 without */
    json_t *warnings;          /* texts of Warning headers; NULL: none */
    char etag[SIM_ETAG_MAX];   /* "" without; with it the client may keep what it was sent */
};

/* Returns a parameter of the query, or NULL. */
const char *sim_query(const struct sim_request *request, const char *key);
/* Returns whether it is set, and neither "false" nor "0". */
bool sim_query_true(const struct sim_request *request, const char *key);
/* Returns one of `headers`, or NULL. */
const char *sim_header(const struct sim_request *request, const char *name);
/* Returns whether the body has that media type, whatever its parameters are. */
bool sim_has_type(const struct sim_request *request, const char *type);
/* Returns the verb of authorization and fault rules: "get", "list", "deletecollection". `named`: the path
 * names one object. */
const char *sim_verb_of(const struct sim_request *request, bool named);
/* Responds with a Status, which it takes, and with Retry-After if its details have one. */
void sim_reply_status(struct sim_reply *reply, json_t *status);
/* Respond with errors of a real server before it has read the path: 404, 405 and 406. `streams`: of a path
 * that has watches, too. */
void sim_reply_not_found(struct sim_reply *reply);
void sim_reply_not_allowed(struct sim_reply *reply);
void sim_reply_not_acceptable(struct sim_reply *reply, bool streams);
/* Responds 404 with a line of text instead of a Status, as for a path that is of no resource. */
void sim_reply_no_page(struct sim_reply *reply);
/* Frees what was not passed on. */
void sim_reply_clear(struct sim_reply *reply);

/* Output of a stream; data that does not fit is kept for the next read. */
struct sim_out {
    char *to;
    size_t room, len;
    struct buf kept;
    size_t kept_at;
};

/* Starts a read: sets the new output, and writes kept data. */
void sim_out_begin(struct sim_out *out, char *to, size_t room);
void sim_out_put(struct sim_out *out, struct str bytes);
bool sim_out_full(const struct sim_out *out);
void sim_out_clear(struct sim_out *out);

/* Performs an action of a stream, and frees it: waits, sends its bytes, and says what is to happen then.
 * False if the client of `fd` disconnected during its pause. */
bool sim_out_act(struct sim_out *out, struct sim_action *action, enum sim_then *then, int fd);
/* Returns what a stream ends with that has sent all. */
ssize_t sim_stream_end(enum sim_then then, int fd);

/* Waits until the time has passed, or for ever with -1; false when the other side has closed the connection,
 * which is looked at in any case. */
bool sim_wait(int fd, int64_t ms);
