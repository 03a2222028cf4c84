/* From flags to what an engine needs to know. Owner: the caller; all is borrowed from the options. */
#pragma once
#include "app/options/options.h"
#include "engine/engine_settings.h"

/* `here` is the namespace of the connection, in which leases are when nothing else says. */
struct engine_settings options_for_engine(const struct options *options, const char *here);
