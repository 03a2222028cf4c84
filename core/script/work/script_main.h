/* k8s.main of a script. Owner: the script. On the engine thread, outside of any call into Lua. */
#pragma once
#include "base/buf.h"
#include "script/vm/host.h"

struct script_main {
    script_main_done *done; /* once it was started */
    bool given, ended, skipped;
    bool wait_logged;   /* the log has the informers that cannot sync */
    struct buf failure; /* its error's first line; empty: none */
    void *ctx;
    int exit_code;
};

/* Its main is not to run: one of an earlier generation has. */
void script_skip_main(struct script *script);
/* Starts the function given to k8s.main. `done` is called once, perhaps before this returns, or not at all
 * when the script is freed first; it may not free the script. `exit_code` is what main returned (0 for
 * nothing); what is not SCRIPT_OK was logged. */
void script_run_main(struct script *script, script_main_done *done, void *ctx);
