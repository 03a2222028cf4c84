---@meta k8s.cluster
-- luacheck: ignore 241
-- Clusters beside the home cluster: docs/clusters.md.

---@class k8s
local k8s = {}

---One of several clusters. Its methods are the functions of k8s, about this cluster.
---@class k8s.Cluster
---@field name string of the context, or of the Secret
local Cluster = {}

---Returns the cluster with this name; raises if there is none.
---@param name string of a context that --context names, or of a Secret of --clusters-from once the script runs
---@return k8s.Cluster
function k8s.cluster(name) end

---The result of k8s.each_cluster.
---@class k8s.EachCluster
local EachCluster = {}

---Ends it, and all that its functions made.
function EachCluster:stop() end

---Calls the function for each cluster, now and later, in a task of its own. Informers, handlers and periodic timers
---that it makes end when the cluster goes.
---@param fn fun(cluster: k8s.Cluster)
---@return k8s.EachCluster
function k8s.each_cluster(fn) end

---@param kind string
---@param options? k8s.InformerOptions
---@return k8s.Informer
function Cluster:informer(kind, options) end

---While the script loads.
---@param options? k8s.FactoryOptions
---@return k8s.Factory
function Cluster:factory(options) end

---Waits.
---@param kind string
---@param key string
---@return k8s.Object?
---@return k8s.Error err nil without an error
function Cluster:get(kind, key) end

---Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return k8s.Object[]? objects
---@return any version the list's resource version (a string), or the k8s.Error
function Cluster:list(kind, options) end

---Raises a k8s.Error. Waits.
---@param kind string
---@param options? k8s.ListOptions
---@return fun(): k8s.Object[], string iterator
function Cluster:pages(kind, options) end

---Waits.
---@param kind string
---@param options k8s.WatchOptions
---@return k8s.Watch
function Cluster:watch(kind, options) end

---Waits.
---@param options k8s.RawOptions
---@return any answer
---@return k8s.Error err nil without an error
function Cluster:raw(options) end

---Waits.
---@param pod k8s.Object|table|string
---@param options? k8s.LogOptions
---@return any log
---@return k8s.Error err nil without an error
function Cluster:logs(pod, options) end

---Waits.
---@param filter? k8s.KindsOptions
---@return k8s.Kind[]? kinds
---@return k8s.Error err also beside the kinds, when some groups did not respond; nil without an error
function Cluster:kinds(filter) end

---@param filter k8s.KindsOptions
---@param fn fun(kind: k8s.Kind)
---@param options? k8s.EachKindOptions
---@return k8s.EachKind
function Cluster:each_kind(filter, fn, options) end

---Waits.
---@param object table|k8s.Object
---@param options? k8s.CreateOptions
---@return k8s.Object|true|nil object
---@return k8s.Error err nil without an error
function Cluster:create(object, options) end

---Waits.
---@param object table|k8s.Object
---@param options? k8s.UpdateOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function Cluster:update(object, options) end

---Waits.
---@param ref k8s.Ref
---@param patch table
---@param options? k8s.PatchOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function Cluster:patch(ref, patch, options) end

---Waits.
---@param ref k8s.Ref
---@param object table
---@param options? k8s.ApplyOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function Cluster:apply(ref, object, options) end

---Waits.
---@param ref k8s.Ref
---@param options? k8s.DeleteOptions
---@return k8s.Object|true|nil object
---@return k8s.Error err nil without an error
function Cluster:delete(ref, options) end

---Waits.
---@param object table
---@return k8s.Object? object
---@return "created"|"changed"|"unchanged"|k8s.Error
function Cluster:ensure(object) end

---Waits.
---@param ref k8s.Object|table
---@param replicas integer
---@return k8s.Object? scale
---@return k8s.Error err nil without an error
function Cluster:scale(ref, replicas) end

---Waits.
---@param pod k8s.Object|table
---@param options? k8s.EvictOptions
---@return true|k8s.Object?
---@return k8s.Error err nil without an error
function Cluster:evict(pod, options) end

---Waits.
---@param ref k8s.Object|table
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function Cluster:restart(ref) end

---@param object k8s.Object|table
---@param type "Normal"|"Warning"
---@param reason string
---@param format string
---@param ... any
function Cluster:event(object, type, reason, format, ...) end

return k8s
