-- Locks a key for a holder, or keeps its lock. The holder that locked the key first has it.
--
-- KEYS[1]: the lock: since when in ms since 1970, a space, the holder
-- ARGV[1]: the holder
-- ARGV[2]: since when it has held the key as far as it knows; '': it never has
-- ARGV[3]: ms until the lock expires
--
-- Replies with the lock that is valid now.
local key, holder = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local since = tonumber(ARGV[2]) or tonumber(time[1] .. string.format('%03d', math.floor(time[2] / 1000)))
local valid = redis.call('GET', key)
if valid then
  local valid_since, valid_holder = string.match(valid, '^(%d+) (.*)$')
  valid_since = tonumber(valid_since)
  if valid_holder ~= holder and valid_since <= since then return valid end
  if valid_holder == holder then since = math.min(since, valid_since) end
end
local lock = string.format('%.0f ', since) .. holder
redis.call('SET', key, lock, 'PX', ARGV[3])
return lock
