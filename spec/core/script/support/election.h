/* An election for scripts of a spec: real candidates on an I/O thread of its own, and a server with one lease
 * that does what the spec says. Owner: the spec. */
#pragma once
#include "core/script/support/cluster.h"
#include "informer/leader/leadership.h"

enum election_server {
    ELECTION_GRANTS, /* to whoever asks */
    ELECTION_TAKEN,  /* by another */
    ELECTION_SILENT, /* answers nothing */
};

/* Makes the leaders of the cluster's host; its lease is "ops/kubelua". */
void election_open(struct cluster *c);
/* After the scripts. */
void election_close(struct cluster *c);
/* From now on. */
void election_set(enum election_server server);
/* Candidates begin. */
void election_start(struct cluster *c);
/* The I/O thread does nothing until the next call with false. */
void election_hold_io(struct cluster *c, bool hold);
/* Gives leases back; returns when that is done. */
void election_release(struct cluster *c);
/* The holder as the server has it now; "" for nobody. */
const char *election_holder(void);
/* A turn of the loop that ends soon. */
void election_turn(struct cluster *c);
/* Runs the loop until the script was told whether it leads, and all that follows from it is done. */
void await_told(struct cluster *c, bool leads);
/* Runs the loop until the snippet gives that; fails the test when it does not within seconds. */
void await_ask(struct cluster *c, const char *lua, const char *expected);
