/* Mailbox, the only way between threads besides the DeltaFIFO: a mutex and an ev_async, in loop.c. Mail
 * posted to a loop is delivered on its thread, in the order of posting. Owner: the loop owns its mailbox; a
 * posted `struct mail` belongs to the mailbox until `deliver` is called, then to `deliver`. mailbox_post may
 * be called from any thread and any callback. */
#pragma once
#include <sys/queue.h>

struct mail {
    void (*deliver)(struct mail *mail); /* takes the mail; runs on the receiver's thread */
    STAILQ_ENTRY(mail) link;
};

struct mailbox;

void mailbox_post(struct mailbox *mailbox, struct mail *mail);
/* Takes back a mail that waits there, before its owner frees it when the loop no longer runs. On the loop's
 * thread, outside of any delivery. */
void mailbox_withdraw(struct mailbox *mailbox, struct mail *mail);
