/* A catalogue of pods and nodes, and of widgets.example.com when asked for.
 * Owner: the caller frees it by catalogue_free. */
#pragma once
#include <stdbool.h>

#include "kube/kinds/resource.h"

struct catalogue *small_catalogue(bool with_widgets);
/* Widgets in that version; NULL: none. */
struct catalogue *small_catalogue_with(const char *widgets);
