/* Informers that scripts would watch: scripts are loaded, not started, and no server is contacted. Owner:
 * stateless. Call before any loop of the engine runs. */
#pragma once
#include "app/options/options.h"
#include "informer/shared/shared_factory.h"

/* Calls `claim` for each, with the limits, trust and modules of `options`. Returns false and sets err:
 * ERR_SCRIPT or ERR_IO if a script does not load, or the error of `claim`, which returns false to stop. */
bool script_claims_each(const struct script_files *files, const struct options *options,
                        const char *default_namespace,
                        bool (*claim)(void *ctx, const struct informer_spec *spec, struct err *err),
                        void *ctx, struct err *err);
