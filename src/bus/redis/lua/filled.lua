-- Ends the fill of a partition for the worker that leases it: another worker may have begun a fill of the same signature. Runs after
-- partition.lua.
--
-- KEYS[2]: the hash of the fills (fills.lua)
-- ARGV[1], ARGV[2], ARGV[3]: topic, partition, token of the lease; ARGV[4]: signature of the fill
--
-- Replies with -1 when the worker must acquire the lease (again).
if token ~= ARGV[3] then return -1 end
local field = ARGV[1] .. '/' .. ARGV[2]
local epoch, signature = string.match(redis.call('HGET', KEYS[2], field) or '', '^(%d+) %S+ (%S+)$')
if signature == ARGV[4] then redis.call('HSET', KEYS[2], field, epoch .. ' - ' .. signature) end
return 0
