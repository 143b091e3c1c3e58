/**
 * The seeds of the core: which group a seed runs, and how it is judged.
 *
 * Owns: seed -> run. Rule: every kind of group comes back every few seeds, so that a bug needs no lucky choice of group.
 */
import { Chaos } from '../../raft/chaos.ts'
import type { Configuration, NodeId } from '../../../cluster/raft/types.ts'

interface Group {
  readonly configuration: Configuration
  readonly spares: readonly NodeId[]
}

const voters = (...ids: readonly NodeId[]): Configuration => ({ voters: ids, learners: [], outgoing: [] })

const GROUPS: readonly Group[] = [
  { configuration: voters('a', 'b', 'c'), spares: [] },
  { configuration: voters('a', 'b', 'c', 'd', 'e'), spares: [] },
  { configuration: voters('a', 'b', 'c'), spares: ['d', 'e', 'f'] },
  { configuration: { ...voters('a', 'b', 'c'), learners: ['l'] }, spares: [] },
  { configuration: voters('a', 'b', 'c', 'd'), spares: ['e'] },
]

/** Throws at the first broken promise. */
export function runCoreSeed(seed: number, events: number): void {
  const group = GROUPS[seed % GROUPS.length] ?? GROUPS[0]
  if (group === undefined) return
  const chaos = new Chaos(group.configuration, seed, group.spares)
  chaos.run(events)
  chaos.recover()
}
