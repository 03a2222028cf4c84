/* Converts options to settings of an engine. Owner: the caller; everything is borrowed from the options. */
#pragma once
#include "app/options/options.h"
#include "engine/engine_settings.h"

/* Fills the settings. `here` is the namespace of the connection, the default for leases. */
struct engine_settings options_for_engine(const struct options *options, const char *here);
