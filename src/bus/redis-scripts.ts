/**
 * The scripts that run in Redis (6.2 or later): each is one round trip and one atomic step.
 *
 * Both keep the hash `{prefix}owners`: by topic its epoch, by `topic/partition` who publishes for it (a token) and the offset up to
 * which everything was published. A topic's name has no `/`.
 */

/** Of `owners`: an entry as its token and its offset. */
const OWNER = `
local owner = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[1] .. '/' .. ARGV[2])
local token, position
if owner[2] then token, position = string.match(owner[2], '^(%S+) (%-?%d+)$') end
position = tonumber(position)
local function whole(number) return string.format('%.0f', number) end
`;

/**
 * ARGV: topic, partition, new token, epoch that the claimant knows (0: none), offset up to which it knows of (-1: none), whether
 * its records are fresh ('1'), time in ms.
 * Replies with the offset up to which messages are left out.
 */
export const CLAIM_SCRIPT = `${OWNER}
local epoch, known_epoch, known = tonumber(owner[1] or 0), tonumber(ARGV[4]), tonumber(ARGV[5])
local is_fresh = ARGV[6] == '1'
local is_broken = epoch == 0
if is_fresh then
  is_broken = is_broken or (position or -1) >= 0
elseif (position or -1) < known then
  is_broken = is_broken or known_epoch == epoch or (known_epoch == 0 and position ~= nil)
end
if is_broken then
  epoch = math.max(tonumber(ARGV[7]), epoch + 1, known_epoch + 1)
  redis.call('HSET', KEYS[1], ARGV[1], whole(epoch))
end
if is_fresh then position = -1 else position = math.max(position or -1, known) end
redis.call('HSET', KEYS[1], ARGV[1] .. '/' .. ARGV[2], ARGV[3] .. ' ' .. whole(position))
return { whole(epoch), whole(position) }
`;

/**
 * ARGV: topic, partition, token, offset up to which this publishes, offset up to which the publisher knows of; then for each
 * message: channel, offset, timestamp, payload ('': that of the message before).
 * Replies with 0 when the partition is to be claimed (again); then nothing was published.
 */
export const PUBLISH_SCRIPT = `${OWNER}
if not owner[1] or token ~= ARGV[3] or position < tonumber(ARGV[5]) then return 0 end
local payload
for i = 6, #ARGV, 4 do
  if ARGV[i + 3] ~= '' then payload = ARGV[i + 3] end
  if tonumber(ARGV[i + 1]) > position then
    local coordinates = ARGV[2] .. ' ' .. ARGV[i + 1] .. ' ' .. ARGV[i + 2] .. ' ' .. owner[1]
    redis.call('PUBLISH', ARGV[i], '@' .. coordinates .. '\\n' .. payload)
  end
end
if tonumber(ARGV[4]) > position then
  redis.call('HSET', KEYS[1], ARGV[1] .. '/' .. ARGV[2], token .. ' ' .. ARGV[4])
end
return 1
`;
