---@meta k8s
-- luacheck: ignore 241
-- What `require "k8s"` gives, for editors (lua-language-server: add this folder to workspace.library). A spec
-- checks that every name here exists in the engine, and the other way round.

---@class k8s
---@field null lightuserdata null inside arrays, pairs and copies; the same as cjson.null
---@field log k8s.log
---@field json k8s.json
---@field base64 k8s.base64
---@field metric k8s.metric
---@field object k8s.object
local k8s = {}

---What went wrong in the world: the second result of a call whose first is nil. tostring gives the message.
---@class k8s.Error
---@field code? integer HTTP status, 404 for example
---@field reason string "NotFound", "Invalid", ...
---@field message string
---@field retry_after? number seconds after which the server would like to be asked again

---An integer beyond 2^53, exact. May be compared with its like only; tostring gives the digits.
---@class k8s.Int64

---An exact decimal number with a unit: "100m", "64Mi". Has + - (with quantities, text, numbers), * (with whole
---numbers), comparison and tostring.
---@class k8s.Quantity
---@operator add(k8s.Quantity|string|number): k8s.Quantity
---@operator sub(k8s.Quantity|string|number): k8s.Quantity
---@operator mul(integer): k8s.Quantity
local Quantity = {}

---As a plain number, rounded when it must be.
---@return number
function Quantity:number() end

---A read-only view of a map or array inside an object: fields by name, items from 1 on, nil for what is absent
---or null.
---@class k8s.View
---@field [string] any
---@field [integer] any

---A read-only view of a whole object. A field of the object wins over a method of the same name.
---@class k8s.Object : k8s.View
---@field apiVersion string
---@field kind string
---@field metadata k8s.View
local Object = {}

---The value at a path such as "spec.containers[0].image" (0-based); nil when any step is absent. With [*] or
---[?...] an array of all matches.
---@param path string
---@return any
function Object:get(path) end

---@return string key "namespace/name", or "name" without a namespace
function Object:key() end

---@return string
function Object:name() end

---@return string namespace "" without one
function Object:namespace() end

---@return string?
function Object:uid() end

---@return string?
function Object:resource_version() end

---@param key string
---@return string?
function Object:label(key) end

---@param key string
---@return string?
function Object:annotation(key) end

---A plain, writable table with the same content.
---@return table
function Object:copy() end

---Compact JSON text, with the keys in their order.
---@return string
function Object:json() end

---@class k8s.Difference
---@field path string
---@field old any nil when it is not there
---@field new any nil when it is not there

---What is different in `other`, path by path.
---@param other k8s.Object
---@return k8s.Difference[]
function Object:diff(other) end

---Of the call of a handler; fresh each time, so that it may be kept.
---@class k8s.Event
---@field initial boolean in the initial list, or shown to a late handler
---@field final_state_unknown boolean the delete was not seen: the object is the last one known
---@field resync boolean
---@field coalesced boolean stands for more than one event of this object
---@field filtered boolean the handler's filter made this add or delete; the object itself was updated
---@field resource_version string
---@field time number seconds since the epoch at which its bytes arrived
---@field previous? k8s.Object of a delete: the state that the handler was told last, when `last` is another one

---@class k8s.HandlerOptions
---@field selector? string label selector
---@field namespaces? string[] names with * and ?, and ! before those to leave out
---@field where? table<string, any> path to value, or to a list of values; k8s.null for what is null or absent
---@field filter? fun(obj: k8s.Object): boolean asked last; may not wait, and must depend on the object alone
---@field changed? string[] paths: updates that change none of them are left out; `old` is then the cache's state before
---@field resync? number|string period of OnUpdate(obj, obj) with ev.resync; 0 is never
---@field unchanged? boolean also updates to the version that is known already
---@field split_recreated? boolean a new uid is a delete and an add
---@field debounce? string|number told of an object when it has been quiet for so long ("10ms" to "1h")
---@field concurrency? integer how many calls may wait at once, of different keys (1 to 1000; 1 without it)
---@field leader? boolean told on the leader only, and of the whole cache when that begins
---@field id? string names the handler in logs; by default the kind and a number

---A function that returns nil, err has failed, as one that raises has; else what it returns is not looked at.
---@class k8s.Handlers : k8s.HandlerOptions
---@field OnAdd? fun(obj: k8s.Object, ev: k8s.Event)
---@field OnUpdate? fun(old: k8s.Object, new: k8s.Object, ev: k8s.Event)
---@field OnDelete? fun(last: k8s.Object, ev: k8s.Event)

---@class k8s.Registration
local Registration = {}

---No call comes after it.
function Registration:remove() end

---The cache is filled, and this handler was told all of it.
---@return boolean
function Registration:has_synced() end

---What informers have in common.
---@class k8s.FactoryOptions
---@field namespace? string "" for all namespaces
---@field namespaces? string[] several, read as one
---@field selector? string label selector
---@field field_selector? string evaluated by the server
---@field prune? string[] paths that are dropped before an object is stored: names, [*] and [?name=='text']
---@field fields? string[] paths that alone are kept, together with what identifies the object
---@field metadata_only? boolean ask the server for metadata alone
---@field resync? number|string period for handlers that say none

---@class k8s.InformerOptions : k8s.FactoryOptions
---@field transform? fun(copy: table): table? what is stored of each object; nil: it is not wanted

---How an informer fares.
---@class k8s.InformerStatus
---@field state "pending"|"unknown kind"|"listing"|"synced"|"forbidden"|"gone"|"error"
---@field synced boolean the cache holds a whole list, whatever has happened since
---@field since number seconds since the epoch at which it came into its state
---@field last_error? k8s.Error nil while all is well
---@field objects integer in the cache
---@field bytes integer that they take in memory, about
---@field resource_version? string of the cache
---@field age? number seconds since the server was last heard: a list, an event, a bookmark
---@field synced_by? string how the last whole list came: "watch-list", "list in 3 pages", and why a watch-list failed
---@field namespaces? table<string, k8s.InformerStatus> of an informer of several namespaces, by name

---@class k8s.Informer
local Informer = {}

---@param handlers k8s.Handlers
---@return k8s.Registration
function Informer:add_event_handler(handlers) end

---@param fn fun(obj: k8s.Object, ev: k8s.Event)
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_add(fn, options) end

---@param fn fun(old: k8s.Object, new: k8s.Object, ev: k8s.Event)
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_update(fn, options) end

---@param fn fun(last: k8s.Object, ev: k8s.Event)
---@param options? k8s.HandlerOptions
---@return k8s.Registration
function Informer:on_delete(fn, options) end

---@return k8s.Lister
function Informer:lister() end

---How it fares: not synced, and why, or its size and age.
---@return k8s.InformerStatus
function Informer:status() end

---Gives the cache an index of this name: every object is found by lister:by_index under what the path finds in it, or
---under what the function emits. The function may not wait, and may not ask its own index.
---@param name string
---@param source string|fun(obj: k8s.Object, emit: fun(value: string|number|boolean|nil))
function Informer:add_index(name, source) end

---A question to the cache, which C answers: docs/queries.md. Each part is added to the query, which is given back.
---@return k8s.Query
function Informer:query() end

---Waits until the cache has seen this resource version, and handlers were told. With an object: its version, and in its
---own namespace alone. A version of something that the informer does not hold may have to wait for the server's next
---bookmark, about a minute: longer than the timeout is by default. What is no version raises.
---@param version string|k8s.Object
---@param timeout? k8s.Duration 30 seconds by default
---@return true? ok
---@return k8s.Error? err
function Informer:wait_rv(version, timeout) end

---Informers with options in common; what an informer says of itself wins.
---@class k8s.Factory
local Factory = {}

---@param kind string
---@param options? k8s.InformerOptions
---@return k8s.Informer
function Factory:informer(kind, options) end

---Waits until all its informers hold their first lists. The error names each that does not, and why.
---@param timeout? k8s.Duration 30 seconds by default
---@return true? ok
---@return k8s.Error? err
function Factory:wait_for_cache_sync(timeout) end

---While the script loads.
---@param options? k8s.FactoryOptions
---@return k8s.Factory
function k8s.factory(options) end

---The cache of one kind, kept up to date; the same one for all scripts that ask for the same. While the script
---loads.
---@param kind string as kubectl takes it: "pods", "po", "deployments.apps", "apps/v1/Deployment", "w.example.com"
---@param options? k8s.InformerOptions
---@return k8s.Informer
function k8s.informer(kind, options) end

---Runs once, when every informer of the script is filled. With `kubelua exec` the process ends when it returns:
---a number is the exit code, `nil, err` a failure. While the script loads.
---@param fn fun(): integer?
function k8s.main(fn) end

---Declares what is read live: "pods:list", "secrets:get", "deployments.apps:*". While the script loads.
---@param declared string[]
function k8s.reads(declared) end

---Reads one object from the server. Waits.
---@param kind string as kubectl takes it
---@param key string "namespace/name", or "name" of a kind without namespaces
---@return k8s.Object?
---@return k8s.Error?
function k8s.get(kind, key) end

---@class k8s.ListOptions
---@field namespace? string "" for all namespaces
---@field selector? string label selector
---@field field_selector? string
---@field limit? integer objects in all
---@field chunk_size? integer objects in a page; else `--chunk-size`, else 500
---@field resource_version? string "0" for any; a version for one that is not older
---@field resource_version_match? "Exact"|"NotOlderThan"

---Reads a list from the server. Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return k8s.Object[]? objects
---@return string|k8s.Error version the list's resource version; or what went wrong
function k8s.list(kind, options) end

---The same page by page: `for page, version in k8s.pages("pods") do`. Raises a k8s.Error. Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return fun(): k8s.Object[]?, string? iterator
function k8s.pages(kind, options) end

---@class k8s.WatchOptions
---@field resource_version string of a list or an object: everything after it is told
---@field namespace? string
---@field selector? string
---@field field_selector? string
---@field timeout? number|string the loop ends after it

---@class k8s.WatchEvent
---@field type "ADDED"|"MODIFIED"|"DELETED"|"ERROR"
---@field object k8s.Object|table of ERROR, the last one, the Status: code, reason, message

---`for ev in watch do`
---@class k8s.Watch
---@operator call: k8s.WatchEvent?
local Watch = {}

---The loop over it ends.
function Watch:close() end

---What happens after a version, without a cache. Waits.
---@param kind string
---@param options k8s.WatchOptions
---@return k8s.Watch
function k8s.watch(kind, options) end

---@param value integer|string|k8s.Int64
---@return k8s.Int64
function k8s.int64(value) end

---@param value string|number|k8s.Quantity
---@return k8s.Quantity?
---@return k8s.Error?
function k8s.quantity(value) end

---Whether a label selector selects labels. A selector is text, a LabelSelector ({ matchLabels =, matchExpressions = })
---or labels that must all be there; labels are a table, a view, or what has metadata.labels: an object, a pod template.
---@param selector string|table|k8s.View
---@param labels? table|k8s.View
---@return boolean?
---@return k8s.Error?
function k8s.selects(selector, labels) end

---Keeps the caches of these informers as they are now.
---@param ... k8s.Informer
---@return k8s.Snapshot
function k8s.snapshot(...) end

---Log lines on stderr, with the script's name and line. Fields are sorted by name; tables are shown as JSON, at most
---4 KiB of each.
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

---Compact text, keys sorted. Tables that have a [1] or are marked by array are arrays, all others objects.
---Raises for a table within itself, for an array that has other keys too, and for more than 16 MiB.
---@param value any
---@return string
function json.encode(value) end

---@param text string
---@return any
---@return k8s.Error?
function json.decode(text) end

---Marks a table as an array, so that it stays one when it is empty.
---@param table? table
---@return table
function json.array(table) end

---@class k8s.base64
local base64 = {}

---Raises for more than 16 MiB, as decode does.
---@param text string any bytes
---@return string
function base64.encode(text) end

---Blanks and line ends are skipped, as kubectl's users wrap what they paste; nil, err for what is not Base64.
---@param text string
---@return string?
---@return k8s.Error?
function base64.decode(text) end

---64 hex digits, as sha256sum prints them.
---@param text string
---@return string
function k8s.sha256(text) end

---The methods of objects, as functions that take any view.
---@class k8s.object
local object = {}

---@param value any
---@return boolean
function object.is_view(value) end

---@param view k8s.View
---@param path string
---@return any
function object.get(view, path) end

---@param view k8s.View
---@return string
function object.key(view) end

---@param view k8s.View
---@return string
function object.name(view) end

---@param view k8s.View
---@return string
function object.namespace(view) end

---@param view k8s.View
---@return string?
function object.uid(view) end

---@param view k8s.View
---@return string?
function object.resource_version(view) end

---@param view k8s.View
---@param key string
---@return string?
function object.label(view, key) end

---@param view k8s.View
---@param key string
---@return string?
function object.annotation(view, key) end

---@param view k8s.View
---@return table
function object.copy(view) end

---@param view k8s.View
---@return string
function object.json(view) end

---@param view k8s.View
---@param other k8s.View
---@return k8s.Difference[]
function object.diff(view, other) end

return k8s
