---@meta k8s.test
-- luacheck: ignore 241
-- What `require "k8s.test"` gives a spec that `kubelua test` runs.

---@class k8s.test
local test = {}

---@class k8s.TestOptions
---@field objects? table[]|string objects, or a file of them: what is there when the script begins
---@field recording? string a file of `kubelua record`: its first lists are there
---@field namespace? string of informers that do not say
---@field now? number|string where the clock begins: seconds since the epoch, or "2026-03-01T12:00:00Z"
---@field leader_elect? boolean a script without k8s.leader takes part in an election too
---@field limits? table<string, string|number> of the script, by the names of --limit
---@field params? table<string, boolean|number|string|table> of rules, by name or "rule.name", as --param
---@field failures? "raise"|"collect" whether a call of the script that fails fails the spec

---A script in a cluster of its own, its informers synced.
---@param path string from the folder under test
---@param options? k8s.TestOptions
---@return k8s.TestEnv
function test.load(path, options) end

---A cluster without a script.
---@param options? k8s.TestOptions
---@return k8s.TestEnv
function test.new(options) end

---@class k8s.TestWrite
---@field verb "create"|"update"|"patch"|"apply"|"delete"|"deletecollection"
---@field kind string "Deployment"
---@field resource string "deployments.apps"
---@field apiVersion string
---@field namespace? string
---@field name? string
---@field key? string "shop/web"
---@field subresource? string
---@field type? "merge"|"json"|"strategic"|"apply" of a patch
---@field body? table
---@field dry_run? boolean
---@field code integer
---@field err? { code: integer, reason: string, message: string } when it was refused
---@field at number seconds from the beginning

---@class k8s.TestReload
---@field handlers_kept integer that went on where they were
---@field handlers_added integer new or changed
---@field handlers_removed integer
---@field events_dropped integer of handlers that are no more
---@field keys_dropped integer of queues that are no more
---@field timers_cancelled integer of those made at run time

---@class k8s.TestEnv
---@field writes k8s.TestWrite[]
---@field events { type: string, reason: string, message: string, count: integer, kind: string, key: string }[]
---@field requests { method: string, url: string, headers: table, body?: string, status?: integer, at: number }[]
---@field prints string[]
---@field logs { level: string, message: string, fields: table, source: string, at: number }[]
---@field failures { call: string, error: string, traceback: string, fields: table, at: number }[]
---@field main? { ok: boolean, code: integer, at: number }
local env = {}

---Loads the script, once.
---@param path string
---@return k8s.TestEnv
function env:load(path) end

---A new object; gives it as stored.
---@param object table
---@return table
function env:add(object) end

---The whole object anew.
---@param object table
---@return table
function env:update(object) end

---A merge patch of an object, or of a kind and a key.
---@param ref table|string
---@param key string|table
---@param patch? table
---@return table
function env:patch(ref, key, patch) end

---@param ref table|string
---@param key? string
function env:delete(ref, key) end

---As the cluster has it now.
---@param ref table|string
---@param key? string
---@return table? object
---@return string? problem
function env:get(ref, key) end

---The objects of a file of manifests.
---@param path string
---@return k8s.TestEnv
function env:apply_file(path) end

---@param kind string
---@param options? { namespace?: string, selector?: string }
---@return table[]
function env:list(kind, options) end

---A kind that the cluster does not have.
---@param kind { kind: string, group: string, version?: string, plural?: string, namespaced?: boolean }
---@return k8s.TestEnv
function env:kind(kind) end

---@class k8s.TestFault
---@field verb? "get"|"list"|"watch"|"create"|"update"|"patch"|"apply"|"delete"|"deletecollection"
---@field kind? string
---@field namespace? string
---@field name? string
---@field subresource? string
---@field code? integer the answer's code, 400 to 599; what was asked for is not done
---@field reason? string
---@field message? string
---@field retry_after? integer seconds
---@field delay? k8s.Duration before the answer; what was asked for is done before
---@field skip? integer so many are left alone first
---@field times? integer how often, 1 without it, 0 without end
---@field watch? "drop"|"expire" ends watches now

---@class k8s.TestAnswer
---@field url string whole, or its beginning with a "*" behind it
---@field method? string
---@field status? integer 200 without it
---@field headers? table<string, string>
---@field body? string|table a table is sent as JSON
---@field delay? k8s.Duration
---@field times? integer how often; always without it

---What another server answers to http.request from now on.
---@param answer k8s.TestAnswer
function env:http(answer) end

---Calls a command of k8s.command.
---@param name string
---@param ... string
---@return table|string|nil result
---@return string? problem when it refuses
function env:call(name, ...) end

---@class k8s.TestAudit
---@field rule? string the id of one; else all
---@field passes? boolean what passed is told too

---What a rule said of an object.
---@class k8s.TestFinding
---@field rule string its id
---@field severity "info"|"low"|"medium"|"high"|"critical"
---@field category? string
---@field result "pass"|"skip"|"warn"|"fail"|"error"
---@field apiVersion string
---@field kind string
---@field namespace? string
---@field name string
---@field message? string
---@field path? string
---@field value? any
---@field fix? table what the rule's fix makes of the object, for a failure

---What the rules of the script say of the objects that are there, by severity, rule and object.
---@param options? k8s.TestAudit
---@return k8s.TestFinding[]
function env:audit(options) end

---The value of a series of k8s.metric.
---@param name string of a histogram NAME_count or NAME_sum
---@param labels? table<string, string>
---@return number?
function env:metric(name, labels) end

---@param fault k8s.TestFault
function env:fault(fault) end

---All goes well again.
function env:clear_faults() end

---@return { synced: boolean, handlers: table[], queues: table[], memory: number }?
function env:status() end

---Does what is due now, and all that comes of it.
---@return k8s.TestEnv
function env:settle() end

---Moves the clock on; what is due on the way happens at its time.
---@param duration k8s.Duration
---@return k8s.TestEnv
function env:advance(duration) end

---@return number seconds since the epoch
function env:now() end

---The next generation of the script takes over: from this text, from what the function makes of the text that runs, or
---from what the file says now.
---@param source? string|fun(text: string): string
---@return k8s.TestReload? done nil when it was refused
---@return string? problem
function env:reload(source) end

---@param leads boolean
function env:lead(leads) end

---Plays a recording at its times; without a path the rest of the one that test.load was given.
---@param path? string|{ speed?: number }
---@param options? { speed?: number } so many times as fast
---@return integer changes after the first lists
---@return string? problem what could not be read or stored, and streams without a list
---@return integer objects of the first lists
function env:replay(path, options) end

---Forgets what the script did so far.
function env:reset() end

---Ends it, before the garbage collector does.
function env:close() end

return test
