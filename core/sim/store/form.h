/* Text around objects: heads of lists, items, events, in each of the forms that clients may request. Owner:
 * the output belongs to the buffer. May be called anywhere; the caller must hold references to objects. */
#pragma once
#include "sim/kinds/table.h"
#include "sim/store/api.h"
#include "sim/store/request.h"
#include "sim/store/store.h"

/* Members of a list's metadata; `token` NULL and `remaining` -1 are left out. */
struct sim_list_meta {
    uint64_t version;
    char *token;       /* where the next page begins; NULL: there is none */
    int64_t remaining; /* -1: nothing is said of it */
    const char *shard; /* selector that was applied; NULL: none, or nothing is said of it */
    bool empty;        /* at the tail: no item was sent */
};

/* How a client wants to see objects. */
struct sim_view {
    const struct sim_api *api; /* of Tables: whose clock tells ages; NULL if there are none */
    const struct sim_served *served;
    enum sim_form form;
    const char *include_object; /* of Tables: as in the query, NULL and "" mean Metadata */
    bool columns_sent;          /* only the first Table of a watch has its columns */
    bool beta;                  /* the form is one of meta.k8s.io/v1beta1 */
};

/* The apiVersion of forms. */
const char *sim_form_api_version(const struct sim_view *view);
/* Appends the metadata of a list, with the braces. */
void sim_form_list_meta(struct buf *out, const struct sim_list_meta *meta);
/* Append the text before the first item of a list, and behind the last one; the first item begins with `[`.
 */
void sim_form_list_head(struct buf *out, struct sim_view *view, const struct sim_list_meta *meta);
void sim_form_list_tail(struct buf *out, const struct sim_view *view, const struct sim_list_meta *meta);
/* Appends an item of a list, or a row, without a comma. */
void sim_form_item(struct sim_out *out, const struct sim_view *view, const struct sim_object *object);
/* Is the item another text than what is stored? */
bool sim_form_is_made(const struct sim_view *view);

/* Appends the response to a GET. */
void sim_form_object(struct sim_out *out, struct sim_view *view, const struct sim_object *object);

/* Appends a complete line of a watch: an event ERROR with the Status, which it takes. */
void sim_form_error(struct buf *out, json_t *status);
/* Appends a complete line of a watch. `version` is that of the object; 0: its own. */
void sim_form_event(struct sim_out *out, struct sim_view *view, const char *type,
                    const struct sim_object *object, uint64_t version);
void sim_form_bookmark(struct sim_out *out, struct sim_view *view, uint64_t version, bool initial_end);
