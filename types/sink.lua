---@meta k8s.sink
-- luacheck: ignore 241
-- Events for other systems: docs/lua-api.md#events-for-other-systems.

---@class k8s
local k8s = {}

---A function is asked again while the script runs: for settings that follow a Secret.
---@alias k8s.SinkText string|fun(): string?

---@class k8s.SinkOptions
---@field name string letters, digits, "-", "_" and "."
---@field to string https:, file:, nats: or kafka:; encrypted tls: (NATS) or kafka+ssl:
---@field type? string type of events that have none
---@field source? string source of events that have none; default: "kubelua/NAME"
---@field spool? number|string most bytes on disk, or a quantity; default 64Mi, from 8Mi to 64Gi
---@field batch? integer events of one delivery, 1 to 1000; default 100
---@field timeout? k8s.Duration for one delivery; default 30 seconds
---@field headers? table<string, string|number> of http:// and https://
---@field user? k8s.SinkText of NATS and Kafka; by HTTP Basic
---@field password? k8s.SinkText
---@field mechanism? "PLAIN"|"SCRAM-SHA-256"|"SCRAM-SHA-512" of Kafka's logins; default SCRAM-SHA-512
---@field token? k8s.SinkText of NATS; by HTTP Bearer
---@field credentials? k8s.SinkText of NATS: the content of a creds file
---@field ca? k8s.SinkText of https://, tls:// and kafka+ssl://: in PEM, or a path; default: the system's
---@field cert? k8s.SinkText the client's certificate in PEM, with cert_key
---@field cert_key? k8s.SinkText

---A CloudEvent. Other names, of lower-case letters and digits, are extensions.
---@class k8s.CloudEvent
---@field type? string "com.example.pod.deleted"
---@field source? string
---@field id? string unique for its source; a fresh one by default
---@field subject? string
---@field time? string the time of the call by default
---@field datacontenttype? string application/json by default
---@field dataschema? string
---@field data? any a table, an object, a string, a number or a boolean
---@field [string] any a string, a number or a boolean

---@class k8s.PublishOptions
---@field key? string events of one key stay in order where the system has keys; the attribute partitionkey
---@field id? string the id of the event
---@field timeout? k8s.Duration for which it waits when the spool is full; default 30 seconds

---@class k8s.Sink
---@field name string
local sink = {}

---Stores an event, to be delivered in the order of the calls. Waits until it is on disk. `Timeout`: the spool was full
---for so long, or the disk; `TooLarge`: over 1 MiB.
---@param event k8s.CloudEvent
---@param options? k8s.PublishOptions
---@return true? stored
---@return k8s.Error? err
function sink:publish(event, options) end

---Declares a sink, at most 16. Only while the script loads.
---@param options k8s.SinkOptions
---@return k8s.Sink
function k8s.sink(options) end

return k8s
