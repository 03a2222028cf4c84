-- Module "k8s": the names of the API. Each is made in a file of its own, which is loaded when a script
-- first uses the name: most scripts use few of them.
local raw = ...

local frozen = require "k8s.frozen"

-- A name; the verb of C, the module or the function of a module that it stands for; and marks: "*" for a table, which
-- is frozen; "+" for what needs no engine, so that specs have it too; "-" for what only loading needs.
local PARTS = [[

after k8s.time:after
ago k8s.time:ago
apply k8s.apply
base64 raw:base64 *
cluster k8s.cluster
command k8s.command -
conditions k8s.conditions *+
controller k8s.controller -
create k8s.write_whole:create
cron k8s.time:cron
delete k8s.delete
each_cluster k8s.each_cluster
each_kind k8s.each_kind
ensure k8s.ensure
event k8s.events
every k8s.time:every
evict k8s.actions:evict
factory k8s.factory:factory -
finalizers k8s.finalizers *
get k8s.live:get
history k8s.history:of
informer k8s.factory:informer -
int64 raw:int64 +
is_leader k8s.leader:is_leader
json raw:json *+
kinds k8s.kinds:list
leader k8s.leader:leader -
limits raw:limits
list k8s.live:list
log k8s.log *
logs k8s.logs
main raw:main
metric k8s.metric *
now k8s.time:now
null raw:null +
object k8s.object *+
on_leader k8s.leader:on_leader -
on_reload k8s.reload -
on_stop raw:on_stop -
owner_reference k8s.owner_reference +
pages k8s.live:pages
params k8s.params:script -
patch k8s.patch
quantity raw:quantity +
queue k8s.queue:new
raw k8s.raw_read
reads k8s.live:reads
regex k8s.regex +
restart k8s.actions:restart
retry_on_conflict k8s.retry_on_conflict
rule k8s.rule -
scale k8s.actions:scale
schedule k8s.schedule +
selects k8s.selects +
sha256 raw:sha256
shard raw:shard *
sink k8s.sink -
sleep k8s.time:sleep
snapshot raw:snapshot
split_key k8s.split_key +
state k8s.state
template k8s.template +
time k8s.times *+
traceback raw:traceback
update k8s.write_whole:update
watch k8s.live:watch
webhook k8s.webhook -
writes k8s.writes -
yaml raw:yaml *+
]]

local each_name

local function find(name)
  if type(name) ~= "string" or not string.find(name, "^[%w_]+$") then
    return nil
  end
  local module, field, marks = string.match(PARTS, "\n" .. name .. " ([%w._]+):?([%w_]*) ?([*+-]*)\n")
  if not module then
    require "k8s.missing"(name, each_name)
    return nil
  end
  local part = module == "raw" and raw or require(module)
  part = field == "" and part or part[field]
  return string.find(marks, "*", 1, true) and frozen.freeze("k8s." .. name, part) or part
end

function each_name(call)
  for name, module, marks in string.gmatch(PARTS, "([%w_]+) ([%w._]+)[%w_:]* ?([*+-]*)\n") do
    call(name, module, marks)
  end
end

return frozen.freeze_late("k8s", find, each_name)
