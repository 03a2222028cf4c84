/* Keys that calls of a script have got by queue:get. A call that is cancelled, or ends by an error, puts back
 * what it did not end, so that no key is lost with it; after a good end any other call may end the work.
 * Owner: the wait that was handed the key, then the task; done, put back or kept, it is gone. On the engine
 * thread, inside calls into Lua and outside. */
#pragma once
#include "informer/workqueue/workqueue.h"
#include "script/vm/state.h"

struct held_key;

/* `key` was just got, and lives until its work ends. Nobody knows of it yet. */
struct held_key *held_key_new(struct workqueue *queue, struct str key);
/* The task that runs has it from now on. */
void held_key_give(struct script *script, struct held_key *held);
/* Nobody took it: it comes first again. */
void held_key_put_back(struct held_key *held);
struct str held_key_text(const struct held_key *held);

/* queue:done: the end of the work on a key, whoever got it. What was handed to a call that has not seen it
 * yet is not worked on: nothing happens then, as for all that nobody works on. */
void held_key_done(struct workqueue *queue, struct str key);
