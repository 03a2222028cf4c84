/* Audits kinds that rules match and none uses, so that no cache is needed. They are listed page by page,
 * packed with the fields that rules read as far as known, and freed after the evaluation. If a rule turns out
 * to read more, the page is listed again with that. A list whose continue token has expired starts over, and
 * passes over objects that were audited. Owner: the audit of a cluster, on the main thread, outside of any
 * callback: turns the loop. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "audit/rules/auditor.h"
#include "kube/api/client.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"
#include "object/pack/pack.h"

struct audit_pages_options {
    struct loop *loop;
    struct kube_client *client;
    /* Of a pool of these objects alone: what another pool has is whole. All references to it are given back
     * by then end, but for those that scripts hold. */
    struct packer *packer;
    struct auditor *auditor;
    const struct resource *resource;
    const char *namespace_; /* "": all */
    const char *selector;   /* of labels; "": all */
    bool whole;             /* with all their fields */
    int64_t wait_ms;        /* for a page at most */
    void (*audited)(void *ctx);
    void *ctx;
};

/* Evaluates all rules on each object once. False when the list broke off, or had objects that were
 * refused: all else was audited. */
bool audit_pages_read(const struct audit_pages_options *options, struct err *err);
