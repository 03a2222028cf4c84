/* How the fake server answers lists; see fake_internal.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/informer/support/fake_internal.h"

enum { SHOW_EXPIRED = -1, SHOW_TOO_LARGE = -2 };

/* The version that a list shows, or why it shows none. */
static int64_t version_to_show(struct lw_call *call)
{
    struct fake_server *server = call->server;
    int64_t now = fake_visible(server), asked = strtoll(call->version, NULL, 10);
    if (!call->version[0]) return fake_server_version(server);
    if (asked == 0) return fake_dice(server, server->compacted, now + 1);
    if (asked > now) return SHOW_TOO_LARGE;
    if (call->options.limit) return asked < server->compacted ? SHOW_EXPIRED : asked;
    return fake_dice(server, asked > server->compacted ? asked : server->compacted, now + 1);
}

static void end_page(struct lw_call *call, int64_t version, int next_key)
{
    char token[32] = "", text[32];
    if (next_key < FAKE_KEYS) snprintf(token, sizeof token, "%lld:%d", (long long)version, next_key);
    snprintf(text, sizeof text, "%lld", (long long)version);
    struct lw_list_meta meta = {str_of(text), str_of(token), -1, false, false};
    call->sink.list_end(call->ctx, &meta);
    if (fake_fault(call->server))
        fake_fail_somehow(call);
    else
        fake_finish(call, NULL);
}

static void send_page(struct lw_call *call, int64_t version, int first)
{
    struct fake_server *server = call->server;
    struct root *state[FAKE_KEYS];
    int sent = 0, limit = call->options.limit, key = first;
    fake_server_state(server, version, state);
    fake_enter(call);
    for (; key < FAKE_KEYS; key++) {
        if (!state[key]) continue;
        if (limit && sent == limit) break;
        if (!fake_refuse(call, state[key], false) && fake_still_there(server))
            call->sink.item(call->ctx, root_ref(state[key]));
        if (!fake_still_there(server)) return;
        sent++;
        if (fake_fault(server)) {
            fake_fail_somehow(call);
            return;
        }
    }
    end_page(call, version, key);
}

/* Pages after the first show what the first one showed, as long as that is still there. */
static void answer_page(struct lw_call *call)
{
    char *end;
    int64_t version = strtoll(call->token, &end, 10);
    if (version < call->server->compacted)
        fake_fail_http(call, 410, "Expired");
    else
        send_page(call, version, (int)strtol(end + 1, NULL, 10));
}

void fake_answer_list(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    if (fake_fault(call->server)) {
        fake_fail_somehow(call);
    } else if (call->token[0]) {
        answer_page(call);
    } else {
        int64_t version = version_to_show(call);
        if (version == SHOW_EXPIRED)
            fake_fail_http(call, 410, "Expired");
        else if (version == SHOW_TOO_LARGE)
            fake_fail_http(call, 504, "Timeout");
        else
            send_page(call, version, 0);
    }
}
