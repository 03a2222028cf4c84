/* One informer, a queue that the spec fills by hand, and a handler that writes down what it is told
 * (history.h). Owner: the spec; informer_open and informer_close are its setup and teardown, and count
 * references. */
#pragma once
#include "core/informer/support/history.h"
#include "informer/shared/shared_informer.h"

extern struct shared_informer *informer;
extern struct history history;
extern struct registration *registration; /* of `history` */
extern int synced_calls;

int informer_open(void **state);
int informer_close(void **state);
struct registration *add_history(struct history *h);
/* A handler with options, which are given up. */
struct registration *add_history_with(struct history *h, struct handler_options *options);

void delta(enum delta_type type, const char *object);
void replace(const char *objects, const char *version);
/* All that waits. */
void process(void);
/* The store as it is, without anything in the history. */
void start_with(const char *objects, const char *version);
/* Processes, and takes the history. */
void assert_history(const char *expected);
void assert_store(const char *expected, const char *version);
