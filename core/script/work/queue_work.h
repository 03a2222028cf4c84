/* Work on the keys of a script's queue: each is a task, which lua/k8s/job.lua runs with a job.
 * Owner: its task, until it ends. On the engine thread, outside of any call into Lua. */
#pragma once
#include "script/work/script_queue.h"

/* A worker of the queue is called with the key, which the queue has given out. */
void queue_work_begin(struct script_queue *queue, struct str key);
/* Cancels what is under way for this generation's queue; its keys go back. */
void queue_work_cancel(struct script_queue *queue);
