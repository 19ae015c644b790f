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
-- KEYS[2]: the hash of the fills (fills.lua); absent where the worker keeps no states. A start id `fill.signature.end.…` begins a fill,
-- unless Redis has begun that fill and it is intact.
--
-- Replies with the epoch, the offset up to which messages are left out, the start id, and the signature of the partition's fill ('': it has
-- none, or a worker that keeps no states has published since).
local field = ARGV[1] .. '/' .. ARGV[2]
-- The signature of the partition's fill, if workers that keep states have published everything up to this offset, else ''.
local function fill_up_to(offset)
  local fill = redis.call('HMGET', KEYS[2], field, field .. '/position')
  return fill[1] and tonumber(fill[2]) >= offset and string.match(fill[1], '%S+$') or ''
end
local epoch, known_epoch, known = tonumber(owner[1] or 0), tonumber(ARGV[4]), tonumber(ARGV[5])
local is_fresh = ARGV[6] ~= '' and ARGV[6] ~= start_id
local signature, fill_end
if KEYS[2] then signature, fill_end = string.match(ARGV[6], '^fill%.(%w+)%.(%d+)%.') end
-- The worker reads the partition from its beginning. Unless the fill is intact, every record counts as new.
local begins_fill = signature and (is_fresh or fill_up_to(position) ~= signature)
if begins_fill then is_fresh = true end
if ARGV[6] ~= '' then start_id = ARGV[6] end
start_id = start_id or ''
if not begins_fill and (start_id == '' or start_id == ARGV[9]) then known = math.max(known, tonumber(ARGV[8])) end
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
redis.call('HSET', KEYS[1], field, ARGV[3] .. ' ' .. whole(position) .. ' ' .. start_id)
if not KEYS[2] then return { whole(epoch), whole(position), start_id } end
if begins_fill then
  local fill = whole(epoch) .. ' ' .. fill_end .. ' ' .. signature
  redis.call('HSET', KEYS[2], field, fill, field .. '/position', whole(position))
end
return { whole(epoch), whole(position), start_id, fill_up_to(position) }
