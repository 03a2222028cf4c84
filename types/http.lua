---@meta http
-- luacheck: ignore 241
-- The module of `require "http"`.

---@class http
local http = {}

---@class http.Request
---@field url string http:// or https://
---@field method? string GET, or POST with a body
---@field headers? table<string, string|number>
---@field body? string
---@field timeout? k8s.Duration for the complete request; 30 seconds by default

---@class http.Answer
---@field status integer
---@field headers table<string, string> names in lower case
---@field body string

---Sends a request to a server that the operator allows with --allow-http. Waits.
---@param request http.Request
---@return http.Answer?
---@return k8s.Error err nil without an error
function http.request(request) end

return http
