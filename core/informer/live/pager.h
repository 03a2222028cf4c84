/* A list without a cache, page by page: client-go's ListPager (contract P), where the next page is asked for
 * when the reader wants it, so that no more than one is in memory. Owner: the I/O thread. `page` comes on
 * that thread, never from inside pager_next; it may call pager_next, not free the pager. */
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
    bool last;                    /* nothing follows */
    bool from_start;              /* the first page, or all of it once more (P-3): what came before is void */
};

struct pager_options {
    struct list_watch *source;                             /* taken */
    struct clock *clock;                                   /* borrowed */
    const char *resource_version, *resource_version_match; /* of the first request; copied */
    size_t page_size;                                      /* 0: PAGE_SIZE_DEFAULT */
    size_t limit;                                          /* of the whole; 0: none */
    size_t page_max;       /* objects in one page of a server that does not count; ERR_LIMIT */
    bool whole_if_expired; /* P-3; else the expired token is the end */
    /* NULL with an error, after which pager_next is not called. */
    void (*page)(void *ctx, const struct page *page, const struct err *err);
    /* An object that the page lacks; also of a try that is made again. NULL: it is logged. */
    void (*refused)(void *ctx, const struct lw_refusal *refusal);
    void *ctx;
};

struct pager;

struct pager *pager_new(const struct pager_options *options);
/* Asks for the first page, or the next one. Not after the last. */
void pager_next(struct pager *pager);
/* Asks once more for the page that came last: of a later one it is the same, as its token stands for a
 * moment; if that is over all comes from the start, as by pager_next. */
void pager_again(struct pager *pager);
void pager_free(struct pager *pager);
