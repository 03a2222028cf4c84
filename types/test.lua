---@meta k8s.test
-- luacheck: ignore 241
-- The module of `require "k8s.test"`, for specs of `kubelua test`.

---@class k8s.test
local test = {}

---@class k8s.TestOptions
---@field objects? table[]|string objects, or a file of them, that exist when the script starts
---@field recording? string a file of `kubelua record`: the objects of its first lists exist
---@field namespace? string default namespace of informers
---@field now? number|string start of the clock: seconds since the epoch, or "2026-03-01T12:00:00Z"
---@field leader_elect? boolean a script without k8s.leader takes part in an election too
---@field clusters? string[] names of clusters beside the home cluster: k8s.cluster(name)
---@field limits? table<string, string|number> of the script, by the names of --limit
---@field params? table<string, boolean|number|string|table> of rules, by name or "rule.name", as --param
---@field failures? "raise"|"collect" whether a failed call of the script fails the spec
---@field stored? table<string, k8s.TestStored|string|nil> states with `keep`, by name; a string: a damaged record

---Returns an environment with the script and its own cluster; its informers are synced.
---@param path string relative to the directory under test
---@param options? k8s.TestOptions
---@return k8s.TestEnv
function test.load(path, options) end

---Returns an environment without a script.
---@param options? k8s.TestOptions
---@return k8s.TestEnv
function test.new(options) end

---@class k8s.TestStored
---@field content table
---@field version? integer 1 by default

---@class k8s.TestWrite
---@field verb "create"|"update"|"patch"|"apply"|"delete"|"deletecollection"
---@field kind string "Deployment"
---@field resource string "deployments.apps"
---@field cluster? string nil: the home cluster
---@field apiVersion string
---@field namespace? string
---@field name? string
---@field key? string "shop/web"
---@field subresource? string
---@field type? "merge"|"json"|"strategic"|"apply" of a patch
---@field body? table
---@field dry_run? boolean
---@field code integer
---@field err? { code: integer, reason: string, message: string } when refused
---@field at number seconds from the start

---@class k8s.TestReload
---@field handlers_kept integer that continued at their position
---@field handlers_added integer new or changed
---@field handlers_removed integer
---@field events_dropped integer of removed handlers
---@field keys_dropped integer of removed queues
---@field timers_cancelled integer of timers created at run time

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

---Adds an object; returns it as stored.
---@param object table
---@return table
function env:add(object) end

---Replaces an object.
---@param object table
---@return table
function env:update(object) end

---Applies a merge patch to an object, or to a kind and a key.
---@param ref table|string
---@param key string|table
---@param patch? table
---@return table
function env:patch(ref, key, patch) end

---@param ref table|string
---@param key? string
function env:delete(ref, key) end

---Returns the current object.
---@param ref table|string
---@param key? string
---@return table? object
---@return string? problem
function env:get(ref, key) end

---Adds or replaces the objects of a file of manifests.
---@param path string
---@return k8s.TestEnv
function env:apply_file(path) end

---@param kind string
---@param options? { namespace?: string, selector?: string }
---@return table[]
function env:list(kind, options) end

---Returns another cluster: what is about a cluster, without the rest.
---@param name string of the option `clusters`
---@return k8s.TestEnv
function env:cluster(name) end

---Adds a cluster while the script runs, as a Secret does.
---@param name string
---@return k8s.TestEnv
function env:add_cluster(name) end

---@param name string of env:add_cluster
---@return k8s.TestEnv
function env:remove_cluster(name) end

---Adds a kind to the cluster.
---@param kind { kind: string, group: string, version?: string, plural?: string, namespaced?: boolean }
---@return k8s.TestEnv
function env:kind(kind) end

---@class k8s.TestFault
---@field verb? "get"|"list"|"watch"|"create"|"update"|"patch"|"apply"|"delete"|"deletecollection"
---@field kind? string
---@field namespace? string
---@field name? string
---@field subresource? string
---@field code? integer code of the response, 400 to 599; the request is not executed
---@field reason? string
---@field message? string
---@field retry_after? integer seconds
---@field delay? k8s.Duration before the response; the request is executed before
---@field skip? integer number of requests that are spared first
---@field times? integer number of affected requests, 1 by default; 0: all
---@field watch? "drop"|"expire" ends watches now

---@class k8s.TestAnswer
---@field url string complete, or a prefix followed by "*"
---@field method? string
---@field status? integer 200 by default
---@field headers? table<string, string>
---@field body? string|table a table is sent as JSON
---@field delay? k8s.Duration
---@field times? integer number of requests; default: all

---Defines the response of another server to http.request.
---@param answer k8s.TestAnswer
function env:http(answer) end

---Defines the response to k8s.raw of a path.
---@param answer { path: string, status?: integer, body?: string|table } a table is sent as JSON
function env:raw(answer) end

---Defines the log of a pod, or of one of its containers, for k8s.logs.
---@param pod k8s.Object|table|string
---@param text string|string[] a text, or lines
---@param options? { container?: string, previous?: boolean }
function env:pod_log(pod, text, options) end

---Calls a command of k8s.command.
---@param name string
---@param ... string
---@return table|string|nil result
---@return string? problem if it fails
function env:call(name, ...) end

---@class k8s.TestRequest
---@field method? string POST by default
---@field query? table<string, string>
---@field headers? table<string, string>
---@field body? string|table a table is sent as JSON
---@field token? string sent as Authorization: Bearer
---@field secret? string signs the body as the webhook expects it

---Sends a request to a webhook of k8s.webhook.
---@param path string
---@param request? k8s.TestRequest
---@return { status: integer, headers: table<string, string>, body: string|table } response
function env:call_webhook(path, request) end

---@class k8s.TestAudit
---@field rule? string the id of one rule; default: all
---@field passes? boolean also return passes

---The result of a rule for an object.
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
---@field fix? table result of the rule's fix, for a failure

---Evaluates the rules of the script for all objects; returns results sorted by severity, rule and object.
---@param options? k8s.TestAudit
---@return k8s.TestFinding[]
function env:audit(options) end

---Returns the value of a series of k8s.metric.
---@param name string for a histogram NAME_count or NAME_sum
---@param labels? table<string, string>
---@return number?
function env:metric(name, labels) end

---@param fault k8s.TestFault
function env:fault(fault) end

---Removes all faults.
function env:clear_faults() end

---@return { synced: boolean, handlers: table[], queues: table[], memory: number }?
function env:status() end

---Processes everything that is due, until nothing is left.
---@return k8s.TestEnv
function env:settle() end

---Advances the clock; timers and delays happen at their times.
---@param duration k8s.Duration
---@return k8s.TestEnv
function env:advance(duration) end

---@return number seconds since the epoch
function env:now() end

---Activates the next generation of the script: from this string, from the result of the function for the running
---text, or from the file.
---@param source? string|fun(text: string): string
---@return k8s.TestReload? done nil when refused
---@return string? problem
function env:reload(source) end

---@param leads boolean
function env:lead(leads) end

---Ends the script as the end of the engine does: functions of `k8s.on_stop` are called.
---@return boolean|nil ok nil when the script failed
---@return string? problem
function env:stop() end

---Returns what a state with `keep` has outside the process; a string if that is no state, nil if it was never stored.
---@param name string
---@return k8s.TestStored|string|nil
function env:stored(name) end

---Returns what was published by k8s.sink so far, by all sinks or the one of this name.
---@param name? string
---@return { sink: string, id: string, key?: string, event: table }[]
function env:published(name) end

---From now on events cannot be stored, for this reason, so that sink:publish waits; without one they can again.
---@param reason? string
function env:fail_publishing(reason) end

---From now on states cannot be stored, for this reason; without one they can again.
---@param reason? string
function env:fail_storing(reason) end

---Plays a recording at its times; without a path, the rest of the option `recording`.
---@param path? string|{ speed?: number }
---@param options? { speed?: number } factor of the speed
---@return integer changes after the first lists
---@return string? problem parts that could not be read or stored, and streams without a list
---@return integer objects of the first lists
function env:replay(path, options) end

---Clears all records.
function env:reset() end

---Ends the environment, before the garbage collector does.
function env:close() end

return test
