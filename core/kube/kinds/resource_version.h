/* Order of resource versions (RV-1): decimal numbers of any length, compared as text. Valid only within one
 * resource of one server (RV-2).
 * Owner: nobody. May be called anywhere, from any thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"

/* Decimal, positive, without leading zeros: not "", not "0". False with an error that quotes the text. */
bool resource_version_check(struct str version, struct err *err);
/* Negative, 0 or positive in `*order`; false when one of them is no resource version. */
bool resource_version_compare(struct str a, struct str b, int *order, struct err *err);
