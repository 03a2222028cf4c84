/* All that scripts can be given, from features.def. */
#include "script/generation/features.h"

#include "script/view/json_encode.h"
#include "script/view/view.h"

#define FEATURE(name) extern const struct feature feature_##name;
#include "script/generation/features.def"
#undef FEATURE

#define FEATURE(name) &feature_##name,
static const struct feature *const items[] = {
#include "script/generation/features.def"
};
#undef FEATURE

const struct feature_list script_features = {items, sizeof items / sizeof *items, &view_words};
