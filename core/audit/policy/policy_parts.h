/* Results of rules for the objects of one namespace, as the documents of its report: one, or as many as it
 * takes for none to be too large. All results of an object are in one document, which its name alone decides,
 * so that a change of the object changes one document.
 *
 * Results are gathered in steps, while the audit goes on: each as it is when its turn comes. Results that
 * documents have no room for are only counted, so that memory and steps are bounded, however many there are.
 * Owner: who made them. Shown results are copied; `api`, `name`, `instance` and `ns` are borrowed. On one
 * thread. */
#pragma once
#include "audit/continuous/continuous.h"
#include "audit/policy/policy_document.h"

/* A power of two. Of a namespace with more than so many can hold the least severe results are left out. */
enum { POLICY_PARTS_MAX = 16, POLICY_CONTENT_SIZE = 33 };

struct policy_parts_options {
    const struct policy_api *api;
    const char *name, *instance; /* as struct policy_head has them */
    struct str ns;
    const char *incomplete;       /* why; NULL: it is whole */
    size_t before;                /* how many there were: they are not made fewer for little */
    struct continuous_walk *walk; /* taken */
};

struct policy_parts;

struct policy_parts *policy_parts_new(const struct policy_parts_options *options);
/* NULL is allowed. */
void policy_parts_free(struct policy_parts *parts);
/* Looks at `max` results more, about; false when all were. What follows is for afterwards. */
bool policy_parts_gather(struct policy_parts *parts, size_t max);
/* Returns the number of missing results, of rules that were not evaluated yet. */
size_t policy_parts_unevaluated(const struct policy_parts *parts);
/* One reason more why it is not whole. */
void policy_parts_add_incomplete(struct policy_parts *parts, const char *why);
/* 0: there is nothing to tell, not even of an object that passed. */
size_t policy_parts_count(const struct policy_parts *parts);
/* A text of what is in document `i`, from 0 up, which is the same for the same content whenever it is asked
 * for: POLICY_CONTENT_SIZE bytes. */
void policy_parts_content(struct policy_parts *parts, size_t i, char *content);
/* Appends document `i` with that text. */
void policy_parts_put(struct policy_parts *parts, size_t i, int64_t time_s, const char *content,
                      struct buf *out);
