/* The file of --config once more, on SIGHUP. Owner: the driver, on the engine thread. */
#pragma once
#include "app/options/options.h"

struct config_reload;

/* NULL when the options came without a file. The options are changed by config_reload. */
struct config_reload *config_reload_new(struct options *options);
/* Reads the file: how much is logged, and how, follows at once; each other setting that changed is logged, as
 * it needs a restart. A file that cannot be used is logged and changes nothing. */
void config_reload(struct config_reload *reload);
void config_reload_free(struct config_reload *reload);
