/**
 * Applies the entries after the applied index one by one, exactly as a node does, to a state that is thrown away afterwards.
 *
 * Owns: the checksums after each entry, and the first entry that cannot be applied. Knows nothing of: disks, plans. Rule: it changes
 * only the rehearsal that it was given.
 */
import { Applier } from '../node/state/applier.ts'
import { ApplyFailure, type Obstacle } from '../node/state/apply-failure.ts'
import type { EntrySkip } from '../node/base/entry-skips.ts'
import { DEFAULT_NODE_LIMITS } from '../node/base/limits.ts'
import type { Recovered } from '../node/log/log-recovery.ts'
import type { LogIndex, Term } from '../raft/types.ts'
import type { Logger, StateMachine } from '../base/types.ts'
import type { NodeFacts } from './node-facts.ts'

const CHECKSUMS_MAX = 1024

/** A state that receives the entries after the applied index and writes nothing to the disk. */
export type Rehearsal = Pick<StateMachine, 'apply' | 'checksum'>

export async function rehearsed(
  { restored, record }: Recovered,
  stateMachine: Rehearsal,
  { skips, logger }: { readonly skips: readonly EntrySkip[]; readonly logger: Logger },
): Promise<Pick<NodeFacts, 'checksums' | 'obstacle'>> {
  const { appliedIndex, entries } = restored
  const tail = entries.filter(({ index }) => index > appliedIndex)
  const sumAt = (index: LogIndex, term: Term) => {
    return { index, term, checksum: Buffer.from(stateMachine.checksum()).toString('hex') }
  }
  const sums = [sumAt(appliedIndex, record.appliedTerm)]
  if (tail.length === 0) return { checksums: sums, obstacle: null }
  logger.info({ entries: tail.length }, 'entries that are not applied yet are rehearsed')
  const obstacle = await new Promise<Obstacle | null>((resolve, reject) => {
    const applier = new Applier({
      stateMachine: {
        apply: (batch) => stateMachine.apply(batch),
        checksum: () => stateMachine.checksum(),
        checkpoint: () => Promise.resolve(),
      },
      session: { nodeId: '', incarnation: '', boot: 0 },
      limits: { ...DEFAULT_NODE_LIMITS, applyEntriesMax: 1 },
      record,
      skips,
      onApplied: ([entry]) => {
        if (entry === undefined) return
        sums.push(sumAt(entry.index, entry.term))
        if (entry.index === tail.at(-1)?.index) resolve(null)
      },
      onPoint: () => undefined,
      onDamaged: reject,
      onFatal: (error) => (error instanceof ApplyFailure ? resolve(error.obstacle) : reject(error)),
    })
    applier.push(tail)
  })
  return { checksums: sums.slice(-CHECKSUMS_MAX), obstacle }
}
