/* List of all features that scripts can use. Owner: none; it is constant. */
#pragma once
#include "script/vm/feature.h"

extern const struct feature_list script_features;
