/* Rules that make requests go wrong: which requests, how often, and how.
 * Owner: the server. May be called from any thread. */
#pragma once
#include "sim/store/action.h"
#include "sim/store/api.h"
#include "sim/store/target.h"
#include "sim/store/wrong.h"

struct sim_faults;

struct sim_fault {
    char *verb, *resource, *namespace_, *path; /* NULL: any; the path is a beginning */
    size_t skip;                               /* so many matching requests are left alone first */
    size_t times;                              /* 0: until the faults are cleared */
    struct sim_wrong wrong;
};

struct sim_faults *sim_faults_new(void);
void sim_faults_free(struct sim_faults *faults);
/* Takes what is in `fault`. */
void sim_faults_add(struct sim_faults *faults, const struct sim_fault *fault);
void sim_faults_clear(struct sim_faults *faults);
/* Returns whether a rule with the code 403 would refuse such a request now. `resource` and `namespace_` NULL:
 * all of them at once. Rules that name a path do not count. */
bool sim_faults_forbid(struct sim_faults *faults, const char *verb, const char *resource,
                       const char *namespace_);
/* Likewise for a path that is of no resource, of rules that name a beginning of it. */
bool sim_faults_forbid_path(struct sim_faults *faults, const char *verb, const char *path);
/* `target` is NULL when the path names no resource. True when the request is answered, or is not to be
 * answered
 * (`reply->code` is then one of SIM_STREAM_*); else `faulty` has what its stream is to do, which the caller
 * clears. */
bool sim_faults_apply(struct sim_api *api, const struct sim_request *request, const char *verb,
                      const struct sim_target *target, struct sim_faulty *faulty, struct sim_reply *reply);
