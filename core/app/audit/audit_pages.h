/* A kind of a cluster that rules look at and none uses: nobody keeps its objects. They are listed page by
 * page, each packed with the fields that rules read, as far as that is known by then, and forgotten once they
 * were looked at. Where a rule turns out to read more, the page is listed again with that. A list whose
 * continue token is over starts over, and passes over what was looked at.
 * Owner: the audit of a cluster, on the main thread, outside of any callback: its loop is turned here. */
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
