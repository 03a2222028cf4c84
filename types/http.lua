---@meta http
-- luacheck: ignore 241
-- What `require "http"` gives.

---@class http
local http = {}

---@class http.Request
---@field url string http:// or https://
---@field method? string GET, or POST with a body
---@field headers? table<string, string|number>
---@field body? string
---@field timeout? k8s.Duration for the whole; 30 seconds by default

---@class http.Answer
---@field status integer
---@field headers table<string, string> names in small letters
---@field body string

---Asks a server that the operator allows by --allow-http. Waits.
---@param request http.Request
---@return http.Answer?
---@return k8s.Error?
function http.request(request) end

return http
