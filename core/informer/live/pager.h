/* List without a cache, page by page: client-go's ListPager (contract P), where the reader requests each
 * page, so that no more than one is in memory. Owner: the I/O thread. `page` is called on that thread, never
 * from inside pager_next; it may call pager_next, but not free the pager. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/err.h"
#include "kube/api/list_watch.h"

enum { PAGE_SIZE_DEFAULT = 500 }; /* P-1 */

struct page {
    struct root **objects; /* the receiver takes the array and its references */
    size_t count;
    const char *resource_version; /* of the first page (P-4); borrowed */
    bool last;                    /* no page follows */
    bool from_start; /* the first page, or the complete list again (P-3): earlier pages are void */
};

struct pager_options {
    struct list_watch *source;                             /* taken */
    struct clock *clock;                                   /* borrowed */
    const char *resource_version, *resource_version_match; /* of the first request; copied */
    size_t page_size;                                      /* 0: PAGE_SIZE_DEFAULT */
    size_t limit;                                          /* of all pages; 0: none */
    size_t page_max;       /* most objects in one page of a server that ignores limits; then ERR_LIMIT */
    bool whole_if_expired; /* P-3; else an expired token is an error */
    /* Receives a page, or NULL with an error; call no pager_next after that. */
    void (*page)(void *ctx, const struct page *page, const struct err *err);
    /* Receives an object that the page lacks, again for each try. NULL: it is logged. */
    void (*refused)(void *ctx, const struct lw_refusal *refusal);
    void *ctx;
};

struct pager;

struct pager *pager_new(const struct pager_options *options);
/* Requests the first page, or the next one. Not after the last. */
void pager_next(struct pager *pager);
/* Requests the last page again. A later page is the same, as its token stays valid for a while; if it has
 * expired, the list starts again as by pager_next. */
void pager_again(struct pager *pager);
void pager_free(struct pager *pager);
