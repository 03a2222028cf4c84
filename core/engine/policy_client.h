/* Policy reports of continuous audits in the cluster: how audit/policy/policy_writer.h lists and writes, by
 * the same way to the server as scripts' writes. Owner: engine_audits.c, on the engine thread, after
 * the cluster's live client and before its end. */
#pragma once
#include "audit/continuous/continuous.h"
#include "audit/policy/policy_document.h"
#include "audit/policy/policy_writer.h"
#include "informer/live/live_client.h"

struct policy_client;

struct policy_client_options {
    struct clock *clock;
    struct live_client *live;
    const struct policy_api *api;
    const char *field_manager; /* its reports are its own; NULL: the default */
    const char *namespace_;    /* that the engine audits; "": all */
    bool is_tried;             /* the server only validates writes; counts are as if it stored them */
    struct continuous_audit *(*audit)(void *ctx);
    struct fence *(*fence)(void *ctx); /* that writes are made under; NULL: none */
    void *ctx;
};

struct policy_client *policy_client_new(const struct policy_client_options *options);
/* NULL is allowed, here and below. */
void policy_client_free(struct policy_client *writer);
void policy_client_set_active(struct policy_client *writer, bool active);
void policy_client_changed(struct policy_client *writer, struct str ns);

/* --- For the status; NULL is not allowed. */

struct policy_writer_status policy_client_status(const struct policy_client *writer);
/* Returns the kind of its reports, a constant. */
const char *policy_client_kind(const struct policy_client *writer);
/* Returns whether the server only validates its writes. */
bool policy_client_is_tried(const struct policy_client *writer);
