-- Reads the fills of a topic's partitions (src/bus/state-fill.ts).
--
-- KEYS[1]: the hash of the partition owners (partition.lua); KEYS[2]: the hash of the fills, which holds
--   by topic: the number of its partitions;
--   by `topic/partition`: the epoch in which the fill began, the offset at which it ends ('-': it has ended), and its signature;
--   by `topic/partition/position`: the offset up to which workers that keep states have published.
-- ARGV[1]: topic; ARGV[2]: the number of its partitions ('': unknown)
--
-- Replies with the topic's epoch and, for each partition, its fill ('': none, or a worker that keeps no states has published since).
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
local count = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0)
local reply = { redis.call('HGET', KEYS[1], ARGV[1]) or '0' }
for partition = 0, count - 1 do
  local field = ARGV[1] .. '/' .. partition
  local fill = redis.call('HMGET', KEYS[2], field, field .. '/position')
  local position = string.match(redis.call('HGET', KEYS[1], field) or '', '^%S+ (%-?%d+)') or '-1'
  local is_current = fill[1] and tonumber(fill[2]) >= tonumber(position)
  reply[partition + 2] = is_current and fill[1] or ''
end
return reply
