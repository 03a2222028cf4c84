/* What the parts of the fake server share: fake_server.c has the history and how calls begin and end,
 * fake_list.c answers lists, fake_watch.c watches. Owner: the spec. A call is freed by its end, or by the
 * client inside any call of its sink. */
#pragma once
#include "core/informer/support/fake_server.h"

struct lw_call {
    LIST_ENTRY(lw_call) link;
    struct fake_server *server;
    struct lw_options options;
    char version[32], token[32];
    struct lw_sink sink;
    void *ctx;
    struct timer timer;
    int64_t at;          /* of a watch: the last version sent */
    int64_t end_ms;      /* of a watch */
    int todo[FAKE_KEYS]; /* of a watch: keys of the first state, not sent yet, in the order to send them */
    int todo_count;
    int64_t end_mark_at; /* the version at which the end mark may come; -1: not owed */
};

int64_t fake_dice(struct fake_server *server, int64_t from, int64_t to);
bool fake_fault(struct fake_server *server);
/* The newest version that the replica which answers knows. */
int64_t fake_visible(const struct fake_server *server);

void fake_answer_list(struct timer *timer);
void fake_open_watch(struct timer *timer);

/* Each frees the call. */
void fake_finish(struct lw_call *call, const struct err *err);
void fake_fail_http(struct lw_call *call, int status, const char *reason);
void fake_fail_local(struct lw_call *call, enum err_code code, const char *reason);
void fake_fail_somehow(struct lw_call *call);

/* Around the calls of a sink that may cancel: begin, call, and touch the call again only if it is still
 * there. */
void fake_enter(struct lw_call *call);
bool fake_still_there(const struct fake_server *server);
/* Maybe refuses the object in place of sending it: true if it did. It may also refuse something else and give
 * false: the object is to be sent if the call is still there. */
bool fake_refuse(struct lw_call *call, const struct root *object, bool deleted);
