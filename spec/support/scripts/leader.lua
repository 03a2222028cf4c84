-- A candidate for the specs of elections (spec/support/leaders.lua): it prints what it does as a leader, with the time.
local k8s = require "k8s"

k8s.leader { lease = "default/rules", duration = "3s", renew = "2s", retry = "500ms" }

local function say(what) print(("%s %.6f"):format(what, k8s.now())) end

local maps = k8s.informer("configmaps", { namespace = "default", selector = "for=leaders" })
maps:on_add(function(map, ev) say(("add %s %s"):format(map:name(), ev.initial)) end, { leader = true })

k8s.on_leader(function() say "start" end, function() say "stop" end)
k8s.every("10ms", function() say "tick" end, { leader = true })
k8s.main(function() say "ready" end)
