/* Session of the admin socket in which an engine runs an audit; see audit_protocol.h. Owner: the caller,
 * between audit_session_open and audit_session_close; on one thread, which it blocks. */
#pragma once
#include "app/audit/audit_protocol.h"
#include "base/buf.h"
#include "base/err.h"
#include "object/parse/tape.h"

struct audit_session {
    int fd;
    struct buf in; /* from the engine, with padding behind it */
    size_t used;   /* of it */
    struct tape_parser *parser;
    struct tape tape;            /* of the line that was taken last */
    int fds[AUDIT_CHILDREN_MAX]; /* that came; -1: it was taken */
    size_t fd_count;
    bool closed; /* by the engine */
};

/* Connects; `path` as `--admin-socket` has it. False with an error; to be closed all the same. */
bool audit_session_open(struct audit_session *session, const char *path, struct err *err);
/* Requests `children` (0: one for each core) with a job; returns the place of the response on the tape, 0
 * with err. */
size_t audit_session_begin(struct audit_session *session, int children, int order, struct err *err);
void audit_session_close(struct audit_session *session);

/* Takes what has come, or waits for it. False at the end, or when nothing came in time. */
bool audit_session_receive(struct audit_session *session, struct err *err);
/* Parses the next line that was received; returns the place of its result on the tape. 0 if there is none;
 * with err if the engine reports an error. */
size_t audit_session_next(struct audit_session *session, struct err *err);
/* Waits for it. */
size_t audit_session_await(struct audit_session *session, struct err *err);
int64_t audit_session_number(const struct audit_session *session, size_t at, struct str name);
