-- Ended by load-cpu: an endless loop while the script loads.
while true do
  pcall(error)
end
