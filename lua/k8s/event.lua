-- `ev`, the last argument of a handler: a fresh table for each call, so that it may be kept.
return function(initial, final_state_unknown, resync, coalesced, resource_version, time)
  return {
    initial = initial,
    final_state_unknown = final_state_unknown,
    resync = resync,
    coalesced = coalesced,
    resource_version = resource_version,
    time = time,
  }
end
