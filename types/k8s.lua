---@meta k8s
-- luacheck: ignore 241
-- The module of `require "k8s"`, for editors (lua-language-server: add this directory to workspace.library). A spec
-- checks that every name here exists in the engine, and vice versa.

---@class k8s
---@field null lightuserdata null inside arrays, pairs and copies; the same as cjson.null
---@field log k8s.log
---@field json k8s.json
---@field base64 k8s.base64
---@field metric k8s.metric
local k8s = {}

---A runtime failure: the second result of a call whose first result is nil. tostring returns the message.
---@class k8s.Error
---@field code? integer HTTP status, 404 for example
---@field reason string "NotFound", "Invalid", ...
---@field message string
---@field retry_after? number seconds after which the server allows another request
---@field causes? k8s.ErrorCause[] what the server names as causes

---@class k8s.ErrorCause
---@field reason? string "DisruptionBudget", "FieldValueInvalid", ...
---@field field? string path in the object that was sent: "spec.replicas"
---@field message? string

---An exact integer beyond 2^53. It can be compared only with its like; tostring returns the digits.
---@class k8s.Int64

---An exact decimal number with a unit: "100m", "64Mi". Has + and - (with quantities, strings,
---numbers), * (with integers), comparison and tostring.
---@class k8s.Quantity
---@operator add(k8s.Quantity|string|number): k8s.Quantity
---@operator sub(k8s.Quantity|string|number): k8s.Quantity
---@operator mul(integer): k8s.Quantity
local Quantity = {}

---Converts it to a number, rounded if necessary.
---@return number
function Quantity:number() end

---A read-only view of a map or array inside an object: fields by name, items from 1, nil for absent fields and
---null.
---@class k8s.View
---@field [string] any
---@field [integer] any

---A read-only view of a complete object. A field of the object wins over a method of the same name.
---@class k8s.Object : k8s.View
---@field apiVersion string
---@field kind string
---@field metadata k8s.View
local Object = {}

---Returns the value at a path such as "spec.containers[0].image" (0-based); nil if any step is absent. With [*] or
---[?...] returns an array of all matches.
---@param path string
---@return any
function Object:get(path) end

---@return string key "namespace/name", or "name" without a namespace
function Object:key() end

---@return string
function Object:name() end

---@return string namespace "" without one
function Object:namespace() end

---@return string uid nil for an object that no server has seen
function Object:uid() end

---@return string version nil for an object that no server has seen
function Object:resource_version() end

---@param key string
---@return string?
function Object:label(key) end

---@param key string
---@return string?
function Object:annotation(key) end

---Returns a plain, writable table with the same content.
---@return table
function Object:copy() end

---Returns compact JSON, with the keys in their order.
---@return string
function Object:json() end

---@class k8s.Difference
---@field path string
---@field old any nil if absent
---@field new any nil if absent

---Returns the differences to `other`, by path.
---@param other k8s.Object
---@return k8s.Difference[]
function Object:diff(other) end

---Returns the entry of status.conditions.
---@param type string
---@return k8s.View?
function Object:condition(type) end

---Returns the seconds since it was created; nil without a creationTimestamp.
---@return number?
function Object:age() end

---Describes an event for a handler; a new table for each call, which may be kept.
---@class k8s.Event
---@field initial boolean in the first list, or already cached when the handler was added
---@field final_state_unknown boolean the delete event was missed: the object is the last known state
---@field resync boolean
---@field coalesced boolean several events of this object in one
---@field filtered boolean the handler's filter caused this add or delete; the object itself was updated
---@field warm boolean with `initial`: from stored caches; the server may have a newer state
---@field resource_version string
---@field time number time of arrival, in seconds since the epoch
---@field shard? "gained"|"lost" another replica may have had it, or has its range from now on; of shared informers
---@field previous? k8s.Object of a delete: the state that was delivered last, if `last` is another state

---@class k8s.HandlerOptions
---@field selector? string label selector
---@field namespaces? string[] names with * and ?; ! before a name excludes
---@field where? table<string, any> path to a value, or to a list of values; k8s.null matches null and absent fields
---@field filter? fun(obj: k8s.Object): boolean called last; must not wait, and must depend on the object alone
---@field changed? string[] paths: updates that change none of them are skipped; `old` is then the cache's state before
---@field resync? number|string period of OnUpdate(obj, obj) with ev.resync; 0 disables it
---@field unchanged? boolean also deliver updates to a version that is already cached
---@field split_recreated? boolean deliver a new uid as a delete and an add
---@field debounce? string|number deliver an object once it has not changed for this time ("10ms" to "1h")
---@field concurrency? integer number of calls that may wait at the same time, of different keys (1 to 1000; default 1)
---@field initial? "all"|"changed" changed: after a start from stored caches only what changed since
---@field leader? boolean deliver on the leader only, with the complete cache when leadership begins
---@field wait? boolean false: deliver before all informers of the script are synced
---@field id? string name of the handler in logs; default: the kind and a number

---A function that returns nil, err has failed, like one that raises an error; other results are ignored.
---@class k8s.Handlers : k8s.HandlerOptions
---@field OnAdd? fun(obj: k8s.Object, ev: k8s.Event): any?, any?
---@field OnUpdate? fun(old: k8s.Object, new: k8s.Object, ev: k8s.Event): any?, any?
---@field OnDelete? fun(last: k8s.Object, ev: k8s.Event): any?, any?
---@field OnLost? fun(last: k8s.Object, ev: k8s.Event): any?, any? another replica has its range now; it may be gone

---@class k8s.Registration
local Registration = {}

---Removes the handler: no call follows.
function Registration:remove() end

---Returns true once the calls for the complete initial delivery have ended.
---@return boolean
function Registration:has_synced() end

---Namespaces as their labels come and go.
---@class k8s.NamespaceSelector
---@field selector string label selector of namespaces

---Options of all informers.
---@class k8s.FactoryOptions
---@field namespace? string "" for all namespaces
---@field namespaces? string[]|k8s.NamespaceSelector several, read as one, or those with certain labels
---@field selector? string label selector
---@field field_selector? string evaluated by the server
---@field prune? string[] paths that are removed before an object is stored: names, [*] and [?name=='text']
---@field fields? string[] the only paths that are stored, besides the object's identity
---@field metadata_only? boolean request only metadata from the server
---@field shard? boolean|"uid"|"namespace" hold the share of this replica (run --shard), by the hash of that; true: uid
---@field resync? number|string default period of handlers

---@class k8s.InformerOptions : k8s.FactoryOptions
---@field transform? fun(copy: table): table? returns the stored form of each object; nil drops it

---State of an informer.
---@class k8s.InformerStatus
---@field state "pending"|"unknown kind"|"listing"|"synced"|"forbidden"|"gone"|"error"
---@field synced boolean the cache holds a complete list, even if it cannot be updated now
---@field since number start of this state, in seconds since the epoch
---@field last_error? k8s.Error nil without an error
---@field objects integer number of cached objects
---@field bytes integer their approximate memory
---@field resource_version? string of the cache
---@field age? number seconds since the server last sent a list, an event or a bookmark
---@field synced_by? string source of the last list: "watch-list", "list in 3 pages", and why a watch-list failed
---@field partial? boolean the cache, its lister and its queries hold the share of this replica only (run --shard)
---@field followed? integer number of namespaces with the labels of namespaces.selector
---@field namespaces? table<string, k8s.InformerStatus> of an informer of several namespaces, by name

---@class k8s.Informer
local Informer = {}

---@param handlers k8s.Handlers
---@return k8s.Registration
function Informer:add_event_handler(handlers) end

---@param fn fun(obj: k8s.Object, ev: k8s.Event): any?, any?
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_add(fn, options) end

---@param fn fun(old: k8s.Object, new: k8s.Object, ev: k8s.Event): any?, any?
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_update(fn, options) end

---@param fn fun(last: k8s.Object, ev: k8s.Event): any?, any?
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_delete(fn, options) end

---@param fn fun(last: k8s.Object, ev: k8s.Event): any?, any?
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_lost(fn, options) end

---@return k8s.Lister
function Informer:lister() end

---Returns the state of the informer.
---@return k8s.InformerStatus
function Informer:status() end

---Adds an index to the cache: lister:by_index finds objects by their values at the path, or by the values that the
---function emits. The function must not wait, and must not read its own index.
---@param name string
---@param source string|fun(obj: k8s.Object, emit: fun(value: string|number|boolean|nil))
function Informer:add_index(name, source) end

---Returns a query of the cache, evaluated in C: docs/queries.md. Its methods add to the query and return it.
---@return k8s.Query
function Informer:query() end

---Returns whether it holds its first list.
---@return boolean
function Informer:has_synced() end

---Ends an informer that was made while the script ran: its handlers are called no more.
function Informer:stop() end

---Waits until it holds its first list.
---@param timeout? k8s.Duration 30 seconds by default
---@return true?
---@return k8s.Error err nil without an error
function Informer:wait_for_sync(timeout) end

---Waits until the cache has this resource version and handlers have received it. With an object: its version, in its
---own namespace. A version of an object that the informer does not select may wait for the server's next
---bookmark, about a minute: longer than the default timeout. An invalid version raises an error.
---@param version string|k8s.Object
---@param timeout? k8s.Duration 30 seconds by default
---@return true? ok
---@return k8s.Error err nil without an error
function Informer:wait_rv(version, timeout) end

---Creates informers with common options; options of an informer override them.
---@class k8s.Factory
local Factory = {}

---@param kind string
---@param options? k8s.InformerOptions
---@return k8s.Informer
function Factory:informer(kind, options) end

---Waits until all its informers have their first lists. The error names the others, with the reason.
---@param timeout? k8s.Duration 30 seconds by default
---@return true? ok
---@return k8s.Error err nil without an error
function Factory:wait_for_cache_sync(timeout) end

---While the script loads.
---@param options? k8s.FactoryOptions
---@return k8s.Factory
function k8s.factory(options) end

---Returns the cache of one kind, which stays up to date; scripts with the same kind and options share it. Later than in
---the load phase the kind must be declared: k8s.reads { "pods:watch" }.
---@param kind string a name for kubectl: "pods", "po", "deployments.apps", "apps/v1/Deployment", "w.example.com"
---@param options? k8s.InformerOptions
---@return k8s.Informer
function k8s.informer(kind, options) end

---Runs once, when all informers of the script are synced. With `kubelua exec` the process ends when it returns:
---a number is the exit code, `nil, err` a failure. While the script loads.
---@param fn fun(): integer?
function k8s.main(fn) end

---Declares live reads: "pods:list", "deployments.apps:*", "*.example.com:watch", "pods/log:get"; and paths of k8s.raw,
---as "/apis/metrics.k8s.io/*/nodes". While the script loads.
---@param declared string[]
function k8s.reads(declared) end

---Reads one object from the server. Waits.
---@param kind string any name that kubectl accepts
---@param key string "namespace/name", or "name" for a kind without namespaces
---@return k8s.Object?
---@return k8s.Error err nil without an error
function k8s.get(kind, key) end

---@class k8s.ListOptions
---@field namespace? string "" for all namespaces
---@field selector? string label selector
---@field field_selector? string
---@field limit? integer maximum number of objects
---@field chunk_size? integer objects per page; default: `--chunk-size`, else 500
---@field resource_version? string "0": any state; a version: a state that is not older
---@field resource_version_match? "Exact"|"NotOlderThan"

---Reads a list from the server. Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return k8s.Object[]? objects
---@return any version the list's resource version (a string), or the k8s.Error
function k8s.list(kind, options) end

---Reads a list page by page: `for page, version in k8s.pages("pods") do`. Raises a k8s.Error. Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return fun(): k8s.Object[], string iterator
function k8s.pages(kind, options) end

---@class k8s.WatchOptions
---@field resource_version string|nil of a list or an object: the watch starts after it; nil raises an error
---@field namespace? string
---@field selector? string
---@field field_selector? string
---@field timeout? number|string the loop ends after this time

---@class k8s.WatchEvent
---@field type "ADDED"|"MODIFIED"|"DELETED"|"ERROR"
---@field object k8s.Object|table of ERROR, the last event: the Status with code, reason, message

---`for ev in watch do`
---@class k8s.Watch
---@operator call: k8s.WatchEvent?
local Watch = {}

---Ends the loop.
function Watch:close() end

---Returns the events after a version, without a cache. Waits.
---@param kind string
---@param options k8s.WatchOptions
---@return k8s.Watch
function k8s.watch(kind, options) end

---@param value integer|string|k8s.Int64
---@return k8s.Int64
function k8s.int64(value) end

---@param value string|number|k8s.Quantity
---@return k8s.Quantity?
---@return k8s.Error err nil without an error
function k8s.quantity(value) end

---Returns whether a label selector matches labels. A selector is a string, a LabelSelector ({ matchLabels =,
---matchExpressions = }) or a map of labels; labels are a table, a view, or an object or pod template with labels.
---@param selector string|table|k8s.View
---@param labels? table|k8s.View
---@return boolean?
---@return k8s.Error err nil without an error
function k8s.selects(selector, labels) end

---Keeps the current state of these informers' caches.
---@param ... k8s.Informer
---@return k8s.Snapshot
function k8s.snapshot(...) end

---Log lines on stderr, with the script's name and line. Fields are sorted by name; tables are written as JSON, at
---most 4 KiB of each.
---@class k8s.log
local log = {}

---Written with -v 4 or more.
---@param message string
---@param fields? table<string, any>
function log.debug(message, fields) end

---@param message string
---@param fields? table<string, any>
function log.info(message, fields) end

---@param message string
---@param fields? table<string, any>
function log.warn(message, fields) end

---@param message string
---@param fields? table<string, any>
function log.error(message, fields) end

---@class k8s.json
local json = {}

---Returns compact JSON with sorted keys. Tables with a [1] or marked by `array` are arrays, others are objects.
---Raises an error for a table that contains itself, an array with other keys, and more than 16 MiB.
---@param value any
---@return string
function json.encode(value) end

---@param text string
---@return any
---@return k8s.Error err nil without an error
function json.decode(text) end

---Marks a table as an array, even if it is empty.
---@param table? table
---@return table
function json.array(table) end

---@class k8s.base64
local base64 = {}

---Raises an error for more than 16 MiB, as decode does.
---@param text string any bytes
---@return string
function base64.encode(text) end

---Skips blanks and line ends; returns nil, err for invalid text.
---@param text string
---@return string?
---@return k8s.Error err nil without an error
function base64.decode(text) end

---Returns 64 hex digits, as sha256sum prints them.
---@param text string
---@return string
function k8s.sha256(text) end

return k8s
