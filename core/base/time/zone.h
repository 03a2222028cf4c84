/* Time zone, by its name in the system's database or by the value of TZ. Owner: counted references, on one
 * thread. Reading blocks on the disk, for a file of a few kilobytes. */
#pragma once
#include "base/time/tzif.h"

struct zone;

/* "Europe/Berlin", below TZDIR or /usr/share/zoneinfo; UTC is known without a file. A new reference; NULL:
 * ERR_INVALID for what cannot be a name, ERR_NOT_FOUND, or ERR_PARSE for a file that is none. */
struct zone *zone_named(struct str name, struct err *err);
/* Returns the zone that the process calls local: TZ, else /etc/localtime, else UTC. A new reference, or
 * NULL. */
struct zone *zone_local(struct err *err);
struct zone *zone_ref(struct zone *zone);
void zone_unref(struct zone *zone);
/* Returns the requested name; "" for the local one. */
const char *zone_name(const struct zone *zone);
/* Returns the time between two changes that contains that instant. */
struct zone_span zone_span(const struct zone *zone, int64_t at);
