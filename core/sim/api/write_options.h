/* Options of requests that write: CreateOptions, UpdateOptions and PatchOptions of the query, DeleteOptions
 * of the body or the query. The rules are those of apimachinery's validation. Owner: the caller of what is
 * returned. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "sim/store/request.h"

enum sim_write_verb { SIM_WRITE_CREATE, SIM_WRITE_UPDATE, SIM_WRITE_PATCH, SIM_WRITE_APPLY };

/* Returns why the options of the query are refused, a new Status; NULL if they are not. */
json_t *sim_write_options_refused(const struct sim_request *request, enum sim_write_verb verb);

/* Returns DeleteOptions: those of the body and, only if there is none, of the query. NULL with a `*refusal`.
 * A new reference. */
json_t *sim_delete_options_read(const struct sim_request *request, json_t **refusal);
