/**
 * The calls between nodes that share a connection with the messages of Raft: their bodies are short, and somebody waits for them.
 *
 * Rule: no method is listed that carries bytes of blobs, rows of the state or entries of the log. Those would delay heartbeats.
 */
import { BLOB_METHODS } from './blobs/base/blob-calls.ts'
import { DISK_METHODS } from './disk-orders.ts'
import { MEMBER_METHODS } from './directory/member-calls.ts'
import { GOSSIP_METHOD } from './gossip-rounds.ts'
import { PROPOSE_METHOD } from './node/proposals/propose-call.ts'
import { CHECKSUMS_METHOD } from './node/state/state-guard.ts'
import { REPAIR_STATUS_METHOD } from './repair-statuses.ts'

export const SHORT_METHODS: readonly string[] = [
  PROPOSE_METHOD,
  CHECKSUMS_METHOD,
  REPAIR_STATUS_METHOD,
  DISK_METHODS.order,
  GOSSIP_METHOD,
  BLOB_METHODS.disk,
  BLOB_METHODS.stat,
  BLOB_METHODS.report,
  ...Object.values(MEMBER_METHODS),
]
