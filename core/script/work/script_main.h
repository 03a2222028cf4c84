/* k8s.main of a script. Owner: the script. On the engine thread, outside of any call into Lua. */
#pragma once
#include "script/vm/host.h"

/* Its main is not to run: one of an earlier generation has. */
void script_skip_main(struct script *script);
/* Starts the function given to k8s.main. `done` is called once, perhaps before this returns, or not at all
 * when the script is freed first; it may not free the script. `exit_code` is what main returned (0 for
 * nothing); what is not SCRIPT_OK was logged. */
void script_run_main(struct script *script, script_main_done *done, void *ctx);
