-- Begins every script of a Redis Cluster: its channels are sharded, and all keys and channels of a script have the hash tag of KEYS[1].
--
-- While a slot moves to another node, Redis refuses each key that this node does not have. No script may be refused in its middle, after it
-- has published. So each begins with a key that no node ever has.
local PUBLISH = 'SPUBLISH'
local IS_CLUSTER = true
redis.call('GET', KEYS[1] .. '.none')
