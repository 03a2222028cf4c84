/* raw.reload: what a script says of its own reloads. */
#include "script/generation/bind.h"
#include "script/vm/args.h"

/* on_reload(replay) */
static int l_reload_on_reload(lua_State *L)
{
    static const char *const names[] = {
        [REPLAY_CHANGED] = "changed", [REPLAY_NONE] = "none", [REPLAY_ALL] = "all"};
    struct script *script = script_of(L);
    arg_loading(L, "k8s.on_reload");
    struct str replay = arg_str_opt(L, 1, "k8s.on_reload: replay");
    for (int i = 0; replay.p && i < 3; i++)
        if (str_is(replay, names[i])) {
            script->replay = (enum script_replay)i;
            return 0;
        }
    if (replay.p)
        script_raise(L, "k8s.on_reload: replay must be \"changed\", \"none\" or \"all\", not \"%.40s\"",
                     replay.p);
    script->replay = REPLAY_CHANGED;
    return 0;
}

void bind_reload(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, l_reload_on_reload);
    lua_setfield(L, -2, "on_reload");
    lua_setfield(L, -2, "reload");
}
