---@meta k8s.webhook
-- luacheck: ignore 241
-- Functions of a script that other programs call by HTTPS: docs/lua-api.md#webhooks.

---@class k8s
local k8s = {}

---@class k8s.WebhookRequest
---@field method string
---@field path string
---@field query table<string, string> parameters; of a repeated one the first
---@field headers table<string, string> names in lower case
---@field body string

---@class k8s.WebhookResponse
---@field status? integer 200 by default
---@field headers? table<string, string|number>
---@field body? string|table a table is sent as JSON

---@class k8s.WebhookSignatureOptions
---@field header string that has it: "X-Hub-Signature-256"
---@field secret string|fun(): string?
---@field algorithm? "sha1"|"sha256"|"sha512" of the HMAC of the body; default: sha256

---@class k8s.WebhookOptions
---@field path string "/hooks/alerts": letters, digits and any of / - _ . ~
---@field fn fun(request: k8s.WebhookRequest): k8s.WebhookResponse|string|nil, any
---@field token? string|fun(): string? bearer token that callers send
---@field signature? k8s.WebhookSignatureOptions signature of the body that callers send
---@field public? boolean anybody may call it; otherwise token or signature is required
---@field methods? ("GET"|"POST"|"PUT"|"PATCH"|"DELETE")[] default: POST
---@field max_body? number|string bytes, or a quantity such as "64Ki"; default 1Mi, at most 16Mi
---@field timeout? k8s.Duration after which the caller gets 504 and the call is cancelled; default 30 seconds
---@field leader? boolean only the leader is called; others respond 503

---Registers a function for requests to a path of --webhook-bind-address, at most 100. Only while the script loads. The
---function may wait; a string is the body of 200, nil is 204, nil and an error is 500.
---@param options k8s.WebhookOptions
function k8s.webhook(options) end

return k8s
