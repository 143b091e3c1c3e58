/**
 * Handing committed entries to the state machine.
 *
 * Owns: order and pace. Knows nothing of: what entries mean.
 * Rule: an entry is handed out when it is committed AND durable here, so that after a crash the log always reaches at
 * least as far as the state machine.
 */
import { assert } from './assert.ts'
import { emit, entriesFor } from './core.ts'
import type { Core } from './core.ts'
import { APPLY } from './log-reads.ts'
import type { LogIndex } from './types.ts'

const APPLY_BATCH = { bytesMax: 4 * 1024 * 1024, countMax: 512 } as const
/** Limit of entries handed out and not yet applied: a restarted node may have a long log to apply. */
const UNAPPLIED_ENTRIES_MAX = 2048
/** The same limit in bytes of data; one batch may exceed it. */
const UNAPPLIED_BYTES_MAX = 16 * 1024 * 1024

export function handOutCommitted(core: Core): void {
  if (core.fetching !== null) return
  const through = Math.min(
    core.commitIndex,
    core.durability.durableIndex,
    core.appliedIndex + UNAPPLIED_ENTRIES_MAX,
  )
  while (core.handedIndex < through && handedBytes(core) < UNAPPLIED_BYTES_MAX) {
    const from = core.handedIndex + 1
    const entries = entriesFor(core, APPLY, { from, through, limits: APPLY_BATCH })
    if (entries === null) return
    emit(core, { type: 'apply', entries })
    core.handedIndex += entries.length
  }
}

function handedBytes({ log, appliedIndex, handedIndex }: Core): number {
  return log.bytesBetween(appliedIndex, handedIndex)
}

export function applied(core: Core, index: LogIndex): void {
  assert(index <= core.handedIndex, `entry ${index} was never handed out`)
  core.appliedIndex = Math.max(core.appliedIndex, index)
  core.configurations.appliedTo(core.appliedIndex)
}
