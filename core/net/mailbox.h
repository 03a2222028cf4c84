/* The one way from thread to thread besides the DeltaFIFO: a mutex and an ev_async. What is posted to a loop
 * is delivered on that loop's thread, in the order of posting. Owner: the loop owns its mailbox; a posted
 * `struct mail` belongs to the mailbox until `deliver` is called, then to `deliver`. mailbox_post may be
 * called from any thread and any callback. */
#pragma once
#include <sys/queue.h>

struct mail {
    void (*deliver)(struct mail *mail); /* takes the mail; runs on the receiver's thread */
    STAILQ_ENTRY(mail) link;
};

struct mailbox;

void mailbox_post(struct mailbox *mailbox, struct mail *mail);
/* Takes a mail back, if it waits there: who frees it while the loop does not run any more. On the loop's
 * thread, outside of any delivery. */
void mailbox_withdraw(struct mailbox *mailbox, struct mail *mail);
