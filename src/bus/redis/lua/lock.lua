-- Locks a key for a holder, or keeps its lock. The holder that locked the key first has it, until each of its processes has given it up or has
-- expired.
--
-- KEYS[1]: the lock: since when in ms since 1970, a space, the holder
-- KEYS[2]: the processes of the holder, each with the time at which it expires, in ms since 1970
-- ARGV[1]: the holder
-- ARGV[2]: since when it has held the key as far as the process knows; '': it never has
-- ARGV[3]: ms until the process expires; 0: it gives the lock up
-- ARGV[4]: the process
--
-- Replies with the lock that is valid now, or was until the last process gave it up.
local key, processes, holder, ttl = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1] .. string.format('%03d', math.floor(time[2] / 1000)))
local since = tonumber(ARGV[2]) or now
local valid = redis.call('GET', key)
if valid then
  local valid_since, valid_holder = string.match(valid, '^(%d+) (.*)$')
  valid_since = tonumber(valid_since)
  if valid_holder == holder then since = math.min(since, valid_since)
  elseif ttl == 0 or valid_since <= since then return valid
  else redis.call('ZREMRANGEBYSCORE', processes, '-inf', '+inf') end
end
redis.call('ZADD', processes, string.format('%.0f', now + ttl), ARGV[4])
redis.call('ZREMRANGEBYSCORE', processes, '-inf', string.format('%.0f', now))
local last = redis.call('ZRANGE', processes, -1, -1, 'WITHSCORES')
local lock = string.format('%.0f ', since) .. holder
redis.call('SET', key, lock)
-- A time in the past deletes the key: https://redis.io/docs/latest/commands/pexpireat/
redis.call('PEXPIREAT', key, last[2] or 1)
redis.call('PEXPIREAT', processes, last[2] or 1)
return lock
