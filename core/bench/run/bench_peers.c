/* Peers from the command line; see bench_plan.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/run/bench_plan.h"

/* What stands between a peer's name and its command. */
struct traits {
    bool protobuf, floor;
};

/* "NAME=TEXT": a copy of the name, and where the text begins. NULL when there is none of them. */
static char *cut_name(const char *text, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) return NULL;
    *rest = equals + 1;
    return xstrndup(text, (size_t)(equals - text));
}

static char *keep_name(struct bench_setup *setup, char *name)
{
    setup->names = xrealloc(setup->names, (setup->name_count + 1) * sizeof *setup->names);
    return setup->names[setup->name_count++] = name;
}

/* Cuts ":TRAIT,..." off the name. */
static bool cut_traits(char *name, struct traits *traits, struct err *err)
{
    char *colon = strchr(name, ':');
    struct str rest = str_of(colon ? colon + 1 : NULL), trait;
    *traits = (struct traits){0};
    if (!colon) return true;
    *colon = '\0';
    while (str_cut(&rest, ',', &trait)) {
        if (str_is(trait, "protobuf"))
            traits->protobuf = true;
        else if (str_is(trait, "floor"))
            traits->floor = true;
        else
            return err_set(err, ERR_INVALID, "--peer: \"%s:%.*s\": behind a colon stand protobuf or floor",
                           name, STR_ARG(trait));
    }
    return true;
}

static bool check_name(const struct bench_setup *setup, const char *name, struct err *err)
{
    if (!*name) return err_set(err, ERR_INVALID, "--peer: there is no name before the colon");
    for (size_t i = 0; i < setup->count; i++) {
        if (strcmp(setup->subjects[i].name, name) != 0) continue;
        if (setup->subjects[i].script)
            return err_set(err, ERR_INVALID,
                           "--peer: \"%s\" is one of kubelua's own subjects; give it another name", name);
        return err_set(err, ERR_INVALID, "--peer: there are two called \"%s\"", name);
    }
    return true;
}

static bool add_peer(struct bench_setup *setup, const char *text, const char *encodings,
                     struct bench_results *results, struct err *err)
{
    const char *command;
    struct traits traits;
    char *name = cut_name(text, &command);
    if (!name) return err_set(err, ERR_INVALID, "--peer: \"%s\" is not NAME=COMMAND", text);
    keep_name(setup, name);
    if (!cut_traits(name, &traits, err) || !check_name(setup, name, err)) return false;
    unsigned measurements = traits.floor ? BENCH_BIT(BENCH_FLOOR) : bench_peer_measurements();
    if (traits.protobuf && !encodings)
        bench_results_lack(results, name, false, "it needs the pods in protobuf: --encodings");
    else
        bench_setup_add(setup, (struct bench_subject){name, NULL, command, measurements});
    return true;
}

bool bench_peers_add(struct bench_setup *setup, const struct bench_flags *flags,
                     struct bench_results *results, struct err *err)
{
    for (size_t i = 0; i < flags->peers.count; i++)
        if (!add_peer(setup, flags->peers.items[i], flags->encodings, results, err)) return false;
    for (size_t i = 0; i < flags->missing.count; i++) {
        const char *why;
        char *name = cut_name(flags->missing.items[i], &why);
        if (!name)
            return err_set(err, ERR_INVALID, "--missing: \"%s\" is not NAME=WHY", flags->missing.items[i]);
        bench_results_lack(results, keep_name(setup, name), false, why);
    }
    if (flags->peers.count + flags->missing.count == 0)
        bench_results_lack(results, "client-go, kube-rs, floor", false,
                           "no --peer was given; ./dev bench of the sources builds them");
    return true;
}
