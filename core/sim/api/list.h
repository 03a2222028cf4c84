/* GET of a collection and of one object: versions, pages, selectors, forms (contract ).
 * Owner: the reply belongs to the caller. Called on the connection's thread, without the store's lock. */
#pragma once
#include "sim/kinds/table.h"
#include "sim/store/api.h"
#include "sim/store/form.h"
#include "sim/store/params.h"
#include "sim/store/snapshot.h"
#include "sim/store/target.h"

/* Takes what is in `options` and `actions`. */
void sim_list(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
              struct sim_list_options *options, struct sim_actions *actions, struct sim_reply *reply);
/* Returns the number of objects of the page, SIZE_MAX for all; sets the token, which is the caller's, and how
 * many remain. The token is sent before the items, so that somebody has to find out where the page ends. */
size_t sim_list_page(const struct sim_snapshot *snapshot, const struct sim_list_options *options,
                     struct sim_list_meta *meta);
void sim_get(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
             struct sim_reply *reply);
/* Responds 200 with one object, in the requested form. */
void sim_reply_object(const struct sim_api *api, const struct sim_request *request,
                      const struct sim_served *served, const struct sim_object *object,
                      struct sim_reply *reply);
