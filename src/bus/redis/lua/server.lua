-- Begins every script of a Redis that is no node of a Redis Cluster.
local PUBLISH = 'PUBLISH'
local IS_CLUSTER = false
