/* Results of rules for the objects of one namespace, divided into documents of its report: as many as needed
 * to keep each below the limit. All results of an object are in one document, chosen by its name alone, so
 * that a change of the object changes one document.
 *
 * Results are gathered in steps while the audit goes on, each in its state at that time. Results without room
 * are only counted, so that memory and steps are bounded. Owner: the caller that created it. Shown results
 * are copied; `api`, `name`, `instance` and `ns` are borrowed. On one thread. */
#pragma once
#include "audit/continuous/continuous.h"
#include "audit/policy/policy_document.h"

/* A power of two. A namespace with more results than fit loses the least severe. */
enum { POLICY_PARTS_MAX = 16, POLICY_CONTENT_SIZE = 33 };

struct policy_parts_options {
    const struct policy_api *api;
    const char *name, *instance; /* as struct policy_head has them */
    struct str ns;
    const char *incomplete;       /* reason; NULL: complete */
    size_t before;                /* number of parts so far, which does not shrink for small changes */
    struct continuous_walk *walk; /* taken */
};

struct policy_parts;

struct policy_parts *policy_parts_new(const struct policy_parts_options *options);
/* NULL is allowed. */
void policy_parts_free(struct policy_parts *parts);
/* Gathers about `max` further results. Returns false at the end; call the functions below after that. */
bool policy_parts_gather(struct policy_parts *parts, size_t max);
/* Returns the number of missing results, of rules that were not evaluated yet. */
size_t policy_parts_unevaluated(const struct policy_parts *parts);
/* Adds a reason why the report is incomplete. */
void policy_parts_add_incomplete(struct policy_parts *parts, const char *why);
/* Returns 0 if nothing is to be reported, not even passes. */
size_t policy_parts_count(const struct policy_parts *parts);
/* Writes the hash of document `i`, from 0, to `content` of POLICY_CONTENT_SIZE bytes: equal for equal
 * content. */
void policy_parts_content(struct policy_parts *parts, size_t i, char *content);
/* Appends document `i` with that hash. */
void policy_parts_put(struct policy_parts *parts, size_t i, int64_t time_s, const char *content,
                      struct buf *out);
