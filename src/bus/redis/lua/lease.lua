-- Gives the lease of a partition to a worker. Runs after partition.lua.
--
-- ARGV[1], ARGV[2]: topic, partition
-- ARGV[3]: token of the new lease
-- ARGV[4]: epoch that the worker knows (0: none)
-- ARGV[5]: offset up to which the worker knows that everything was published (-1: none)
-- ARGV[6]: start id ('': its records continue the earlier ones)
-- ARGV[7]: time in ms since 1970
-- ARGV[8]: offset up to which the worker's messages were accepted here before (-1: none)
-- ARGV[9]: start id at that time
--
-- Replies with the epoch, the offset up to which messages are left out, and the start id.
local epoch, known_epoch, known = tonumber(owner[1] or 0), tonumber(ARGV[4]), tonumber(ARGV[5])
local is_fresh = ARGV[6] ~= '' and ARGV[6] ~= start_id
if ARGV[6] ~= '' then start_id = ARGV[6] end
start_id = start_id or ''
if start_id == '' or start_id == ARGV[9] then known = math.max(known, tonumber(ARGV[8])) end
local is_broken = epoch == 0
if is_fresh and (position or -1) >= 0 then
  is_broken = true
elseif (position or -1) < known then
  -- Redis has lost data, unless the epoch has grown since the worker's last lease, or the partition is leased here for the first time.
  is_broken = is_broken or known_epoch == epoch or (known_epoch == 0 and position ~= nil)
end
if is_broken then
  epoch = math.max(tonumber(ARGV[7]), epoch + 1, known_epoch + 1)
  redis.call('HSET', KEYS[1], ARGV[1], whole(epoch))
end
if is_fresh then position = known else position = math.max(position or -1, known) end
redis.call('HSET', KEYS[1], ARGV[1] .. '/' .. ARGV[2], ARGV[3] .. ' ' .. whole(position) .. ' ' .. start_id)
return { whole(epoch), whole(position), start_id }
