-- Ends the fill of a partition, unless another one has begun.
--
-- KEYS[1]: the hash of the fills (fills.lua)
-- ARGV[1]: topic; ARGV[2]: partition; ARGV[3]: signature of the fill
local field = ARGV[1] .. '/' .. ARGV[2]
local epoch, signature = string.match(redis.call('HGET', KEYS[1], field) or '', '^(%d+) %S+ (%S+)$')
if signature == ARGV[3] then redis.call('HSET', KEYS[1], field, epoch .. ' - ' .. signature) end
return 0
