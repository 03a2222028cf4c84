/* Informers that scripts would watch: the scripts are loaded and not started, and no server is contacted.
 * Owner: nothing is kept. Before any loop of the engine runs. */
#pragma once
#include "app/options/options.h"
#include "informer/shared/shared_factory.h"

/* With the limits, the trust and the modules of `options`. Calls `claim` for each; ERR_SCRIPT or ERR_IO when
 * a script does not load. `claim` gives false to end it with its own error. */
bool script_claims_each(const struct script_files *files, const struct options *options,
                        const char *default_namespace,
                        bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err),
                        void *ctx, struct err *err);
