/* Lua functions as transforms of informers. Generations whose transforms are equal share one binding, which
 * identifies the informer; the function of the running generation is called.
 * Owner: the script has its functions until transforms_clear; seats go with the last claim. On the engine
 * thread. */
#pragma once
#include "informer/shared/transform.h"
#include "script/vm/state.h"

struct script_transforms {
    TAILQ_HEAD(, script_transform) list; /* of those that have one, in their order */
    bool waits;                          /* an informer, for the script's next turn */
    uint64_t compared; /* calls of the generation before, when its transforms were compared with these */
};

/* `ref` is the function in the registry; `kind` names the informer in logs. Results go into the factory's
 * own pool; what fails is logged, at most once a second, and counted. One that goes over limits again and
 * again is quarantined: all objects fail until it is lifted, and the informer lists again then. */
struct transform script_transform(lua_State *L, int ref, const char *kind);

/* These outside of Lua. */

/* The script is made. */
void transforms_init(struct script *script);
/* Continues informers whose transforms wait for a turn. */
void transforms_turn(struct script *script);
/* The script has loaded: its plan has the functions, with a text of all that they reach. Those that are the
 * same in `before` as it is now, for the same informer, share that one's; the claims have no informer yet. */
void transforms_loaded(struct script *script);
/* Returns whether transforms that share one of `before` may still do so: it ran on meanwhile. ERR_OUTDATED:
 * what is loaded now does not share it. */
bool transforms_are_still(const struct script *before, const struct script *script, struct err *err);
/* Its functions are called from now on. */
void transforms_handover(struct script *script);
/* Before its Lua state goes. */
void transforms_clear(struct script *script);
