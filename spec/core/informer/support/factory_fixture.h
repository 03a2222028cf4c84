/* A shared factory with one loop for both sides, on sources that are played by hand.
 * Owner: the spec; factory_open and factory_close are its setup and teardown, and count references. */
#pragma once
#include "core/informer/support/history.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/scripted_source.h"
#include "informer/shared/shared_factory.h"

enum { SOURCES = 256 };

extern struct loop *loop;
extern struct shared_factory *factory;
extern struct scripted_source sources[SOURCES]; /* in the order in which they were made */
extern char *scopes[SOURCES];                   /* what each was made for */
extern size_t source_count;
extern size_t factory_changed, factory_synced; /* calls */
extern struct buf factory_unknown;             /* kinds that resolving did not find */

int factory_open(void **state);
/* Replaces the factory by one with this grace period. */
void factory_restart(int64_t grace_ms);
int factory_close(void **state);
/* Lets mails and wakes arrive. */
void settle(void);
/* Discovery answers with the small catalogue. */
void resolve(bool with_widgets);
/* Widgets in that version; NULL: none. */
void resolve_with(const char *widgets);
struct informer_claim *claim(const char *kind);
struct informer_claim *claim_scope(const char *kind, const char *ns, const char *labels, const char *fields);
struct claim_handler *claim_history(struct informer_claim *claim, struct history *history);
struct claim_status status_of(struct informer_claim *claim);
