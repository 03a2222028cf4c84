/* Lists of the replay source: whole, or in pages that last until something changes. */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/source/replay_internal.h"
#include "sim/object/status.h"
#include "sim/store/params.h"

static const char changed[] = "The provided continue parameter is too old to display a consistent list "
                              "result. You can start a new list "
                              "without the continue parameter, or use the continue token in this response to "
                              "retrieve the remainder of the "
                              "results. Continuing with the provided token results in an inconsistent list.";

struct replay_list {
    struct sim_stream stream;
    struct replay *replay;
    enum replay_form form;
    struct sim_page page; /* of the continue token; `after` NULL without */
    size_t limit;         /* 0 without */
    int fd;
};

static void list_free(struct sim_stream *stream)
{
    struct replay_list *list = container_of(stream, struct replay_list, stream);
    free(list->page.after);
    free(list);
}

/* Only the present state is there. With the lock. */
static json_t *refuse(const struct replay_list *list, const struct sim_list_options *options)
{
    uint64_t present = list->replay->pods.version;
    if (list->page.after) {
        if (list->page.version < 0 || (uint64_t)list->page.version == present) return NULL;
        char *token = sim_page_token(-1, list->page.after);
        json_t *status = sim_status_expired(changed, token);
        free(token);
        return status;
    }
    bool exact = options->match == SIM_MATCH_EXACT ||
                 (options->match == SIM_MATCH_UNSET && options->limit && options->version);
    if (options->version > present) return sim_status_too_large(options->version, present);
    if (options->has_version && exact && options->version != present)
        return sim_status_expired("The resourceVersion for the provided list is too old.", NULL);
    return NULL;
}

/* With the lock. */
static void write_list(const struct replay_list *list, struct replay_out *out)
{
    const struct replay_pods *pods = &list->replay->pods;
    size_t first = list->page.after ? replay_pods_behind(pods, list->page.after) : 0;
    size_t left = pods->count - first, n = list->limit && list->limit < left ? list->limit : left;
    struct sim_list_meta meta = {.version = pods->version, .remaining = -1};
    char *token = NULL;
    if (n < left) {
        meta.token = token = sim_page_token((int64_t)pods->version, pods->sorted[first + n - 1]->key);
        meta.remaining = (int64_t)(left - n);
    }
    replay_form_list(out, list->form, &list->replay->served, &meta, pods->sorted + first, n);
    free(token);
}

/* The whole body at once, past the buffer of the HTTP library. */
static ssize_t list_read(struct sim_stream *stream, char *to, size_t room)
{
    struct replay_list *list = container_of(stream, struct replay_list, stream);
    struct replay *replay = list->replay;
    struct replay_out *out = NEW(struct replay_out);
    replay_out_init(out, list->fd);
    pthread_rwlock_rdlock(&replay->lock);
    /* Something may have changed since the token was checked. */
    out->broken =
        list->page.after && list->page.version > 0 && (uint64_t)list->page.version != replay->pods.version;
    write_list(list, out);
    replay_send(replay, out);
    pthread_rwlock_unlock(&replay->lock);
    bool broken = out->broken;
    free(out);
    return broken ? SIM_STREAM_BROKEN : SIM_STREAM_END;
}

static json_t *begin(struct replay_list *list, const struct sim_request *request,
                     const struct sim_list_options *options)
{
    json_t *refusal;
    if (!replay_form_of(request->accept, true, list->replay->pods.has_protobuf, &list->form, &refusal))
        return refusal;
    char *why = options->continue_ ? sim_page_read(options->continue_, &list->page) : NULL;
    if (why) {
        refusal = sim_status_bad_request("invalid continue token: %s", why);
        free(why);
        return refusal;
    }
    /* As a watch cache has it: what comes from it comes whole. */
    if (!options->continue_ && options->has_version && options->version == 0) list->limit = 0;
    pthread_rwlock_rdlock(&list->replay->lock);
    refusal = refuse(list, options);
    pthread_rwlock_unlock(&list->replay->lock);
    return refusal;
}

void replay_list(struct replay *replay, const struct sim_request *request, struct sim_list_options *options,
                 struct sim_reply *reply)
{
    struct replay_list *list = NEW(struct replay_list);
    *list = (struct replay_list){
        .stream = {list_read, list_free}, .replay = replay, .limit = options->limit, .fd = request->fd};
    json_t *refusal = begin(list, request, options);
    sim_count(&replay->api.stats.lists, 1);
    if (refusal) {
        sim_reply_status(reply, refusal);
        list_free(&list->stream);
        return;
    }
    reply->code = 200;
    reply->content_type = replay_form_content_type(list->form, false);
    reply->stream = &list->stream;
    reply->live = true; /* it writes for itself: nothing to be compressed */
}
