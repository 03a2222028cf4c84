/* The flags of elections; see leader_options.h. */
#include "app/options/leader_options.h"

#include <stdlib.h>

#include "base/mem.h"

const struct flag *leader_flags(struct leader_flags *o)
{
    static struct flag table[7];
    o->duration_ms = leader_times_default.duration_ms;
    o->renew_ms = leader_times_default.renew_ms;
    o->retry_ms = leader_times_default.retry_ms;
    o->name = "kubelua";
    const struct flag flags[] = {
        {"leader-elect", 0, FLAG_BOOL, &o->elect, NULL, NULL,
         "scripts that do not call k8s.leader take part in one election"},
        {"leader-elect-lease-duration", 0, FLAG_DURATION_MS, &o->duration_ms, "DURATION", NULL,
         "how long others wait for a leader that does not renew its lease (default 15s)"},
        {"leader-elect-renew-deadline", 0, FLAG_DURATION_MS, &o->renew_ms, "DURATION", NULL,
         "how long a leader tries to renew its lease (default 10s)"},
        {"leader-elect-retry-period", 0, FLAG_DURATION_MS, &o->retry_ms, "DURATION", NULL,
         "time between tries (default 2s)"},
        {"leader-elect-resource-namespace", 0, FLAG_STRING, &o->namespace_, "NAME", NULL,
         "namespace of the lease (default: POD_NAMESPACE, else that of the connection)"},
        {"leader-elect-resource-name", 0, FLAG_STRING, &o->name, "NAME", NULL,
         "name of the lease (default kubelua)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static const struct leader_names names = {"--leader-elect-lease-duration", "--leader-elect-renew-deadline",
                                          "--leader-elect-retry-period"};

bool leader_flags_check(const struct leader_flags *o, struct err *err)
{
    const struct leader_times times = {o->duration_ms, o->renew_ms, o->retry_ms};
    return leader_times_check(&times, &names, err);
}

struct lease_wish leader_flags_lease(const struct leader_flags *o, const char *here)
{
    const char *asked = nonempty(o->namespace_), *pod = nonempty(getenv("POD_NAMESPACE"));
    return (struct lease_wish){
        .namespace_ = asked ? asked
                      : pod ? pod
                            : here,
        .name = o->name,
        .times = {o->duration_ms, o->renew_ms, o->retry_ms},
        .names = names,
    };
}
