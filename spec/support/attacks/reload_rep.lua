-- A change of a script makes a gigabyte by one call while it loads.
-- by a reload
-- expect: Reload refused.*over the limit value%-size
local _ = ("x"):rep(1e9)
