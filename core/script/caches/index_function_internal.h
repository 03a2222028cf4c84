/* Internals of index functions, for index_function.c, which calls them, and index_turns.c, which does so in
 * turns. Owner: see index_function.h. */
#pragma once
#include "informer/shared/claim_index.h"
#include "script/caches/index_function.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"

struct index_function {
    TAILQ_ENTRY(index_function) link;      /* of those whose indexes are rebuilt */
    TAILQ_ENTRY(index_function) late_link; /* of those that are late */
    struct script *script;
    struct informer_claim *claim;
    int ref;
    bool running, rebuilding;
    bool late; /* it has put off objects */
    struct failure_log report;
    struct quarantine quarantine;
    struct series *errors;
    char *failure;                                /* the first since the index was built; NULL: none */
    void (*news)(void *ctx);                      /* NULL: nobody asks */
    void (*touched)(void *ctx, struct str value); /* likewise */
    void *news_ctx;
    char name[];
};

struct index_source index_function_source(struct index_function *f);
void index_function_notify(const struct index_function *f);

/* --- index_turns.c */

/* `later` of the source. */
bool index_function_puts_off(void *ctx);
/* The quarantine was lifted. */
void index_function_rebuild(struct quarantine *quarantine);
void index_function_leave_turns(struct index_function *f);
