-- Lua 5.1 as LuaJIT has it. What k8s gives comes by require: no script needs a global of ours.
std = "luajit"
max_line_length = 120
unused_args = false
files["spec/**/*_spec.lua"] = { std = "+busted" }
files["scripts/**/*_spec.lua"] = { std = "+busted" }
files["project/**/*_spec.lua"] = { std = "+busted" }
exclude_files = { "build/**" }
-- Scripts that do what they should not.
files["spec/support/attacks/*.lua"] = { ignore = { "122", "143", "241" } }
