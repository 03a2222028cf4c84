-- luacheck's standard of kubelua scripts: the globals of the sandbox, and nothing else. `luacheck scripts spec` finds
-- this file; elsewhere it is `luacheck --config FOLDER/.luacheckrc FILE`.
stds.kubelua = {
  read_globals = {
    "_VERSION", "assert", "collectgarbage", "error", "getmetatable", "ipairs", "load", "next", "pairs", "pcall", "print",
    "rawequal", "rawget", "rawset", "require", "select", "setmetatable", "tonumber", "tostring", "type", "unpack",
    "xpcall",
    _G = { other_fields = true },
    bit = { other_fields = true },
    coroutine = { other_fields = true },
    math = { other_fields = true },
    os = { fields = { "clock", "date", "difftime", "time" } },
    string = { other_fields = true },
    table = { other_fields = true },
  },
}
std = "kubelua"
files["**/*_spec.lua"] = { std = "luajit+busted" }
exclude_files = { "types/**" }
