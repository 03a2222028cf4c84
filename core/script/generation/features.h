/* The list of all that scripts can be given. Owner: nobody; it is constant. */
#pragma once
#include "script/vm/feature.h"

extern const struct feature_list script_features;
