/* One operation on the file of a state; see state_files.h. Owner: the caller's operation. Blocks on the disk.
 * Writing and moving aside may be on a thread of their own: they allocate nothing but `where`. */
#pragma once
#include "script/view/state_store.h"

/* Sets the result of the operation. */
void state_file_do(const char *dir, struct state_op *op);
