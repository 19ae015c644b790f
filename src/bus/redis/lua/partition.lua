-- Runs before lease.lua, publish.lua and filled.lua: reads the partition's entry from the hash of the partition owners.
--
-- KEYS[1], the hash `{prefix}owners`, holds
--   by topic: the topic's epoch;
--   by `topic/partition`: the token of the lease, the offset up to which everything was published, and the last start id ('': none).
-- A topic's name has no `/`.
--
-- ARGV[1]: topic; ARGV[2]: partition.
local owner = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[1] .. '/' .. ARGV[2])
local token, position, start_id
if owner[2] then token, position, start_id = string.match(owner[2], '^(%S+) (%-?%d+) ?(%S*)$') end
position = tonumber(position)
local function whole(number) return string.format('%.0f', number) end
