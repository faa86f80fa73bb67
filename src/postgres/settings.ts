/**
 * Server settings for this workload: small transactions committed one after another, queue tables that turn over all
 * the time, and a machine shared with the service itself.
 */
import { totalmem } from 'node:os'

const MIB = 1024 * 1024
const MAX_SHARED_BUFFERS_MIB = 256
const MIN_SHARED_BUFFERS_MIB = 32

/** An eighth of the memory, 256 MiB at most: the working set is the queues and the newest messages. */
function sharedBuffersMib(memoryBytes: number): number {
  const eighth = Math.floor(memoryBytes / MIB / 8)
  return Math.max(MIN_SHARED_BUFFERS_MIB, Math.min(MAX_SHARED_BUFFERS_MIB, eighth))
}

/** Read before postgresql.auto.conf, so that an operator's ALTER SYSTEM wins over every line. */
export function settingsFile(memoryBytes: number = totalmem()): string {
  return `# Written by aldis at each start. Change a setting with ALTER SYSTEM, which wins over this file.
listen_addresses = '127.0.0.1'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = ${sharedBuffersMib(memoryBytes)}MB

# A COMMIT that was answered survives power loss.
fsync = on
synchronous_commit = on
full_page_writes = on

# Rare checkpoints: after each, every page goes into the WAL whole once. These binaries are built without lz4, and
# pglz costs the processor more than the disk is worth.
wal_compression = off
wal_buffers = 16MB
min_wal_size = 256MB
max_wal_size = 2GB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9

# A queue table is rewritten many times an hour; vacuum it while its dead rows are few.
autovacuum_naptime = 10s
autovacuum_vacuum_scale_factor = 0.02
autovacuum_vacuum_insert_scale_factor = 0.1
autovacuum_vacuum_cost_limit = 2000

# Dead clients are noticed, and a transaction left open does not hold back vacuum for ever.
tcp_keepalives_idle = 60
idle_in_transaction_session_timeout = 5min

# No statement and no detail: both can hold a message's text or a number.
log_min_messages = warning
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_timezone = 'UTC'
timezone = 'UTC'
`
}
