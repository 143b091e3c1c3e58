/**
 * What a recovery costs, in words that whoever decides can read.
 *
 * Owns: the sentences. Rule: what cannot be known is said to be unknown, never left out.
 */
import type { RecoveryDecision } from '../../cluster/index.ts'
import type { LossStatement } from './loss.ts'

export function statementOf(decision: RecoveryDecision, loss: LossStatement): readonly string[] {
  const { winner, survivors, dead, configuration, epoch } = decision
  const without = dead.length === 0 ? '' : ` without ${dead.join(', ')}`
  return [
    `The history of ${winner} is taken. ${survivors.join(', ')} go on${without}; ${configuration.voters.join(', ')} vote. The recovery epoch becomes ${epoch}.`,
    missingText(decision),
    committedText(decision),
    ...uncomparedText(decision),
    ...lossText(loss),
    ...(dead.length === 0
      ? []
      : [`${dead.join(', ')} never come back: what is on their disks is refused from now on.`]),
  ]
}

function missingText({ mayMissAfter, dead, isRestored }: RecoveryDecision): string {
  if (isRestored)
    return `Every change after index ${mayMissAfter} is lost, however many were acknowledged: the copies are older.`
  return mayMissAfter === null
    ? 'No acknowledged change is missing: every majority had a member among the survivors.'
    : `Every change after index ${mayMissAfter} that was acknowledged is lost. How many there were cannot be known: ${dead.join(', ')} could acknowledge changes among themselves.`
}

function committedText({ certainThrough, previous }: RecoveryDecision): string {
  return previous.index === certainThrough
    ? `Every change up to index ${certainThrough} was committed before.`
    : `Changes ${certainThrough + 1} to ${previous.index} become committed; some of them may have failed, or never been answered, in the eyes of who asked.`
}

function uncomparedText({ uncompared }: RecoveryDecision): readonly string[] {
  return uncompared.map(
    ([one, other]) =>
      `The states of ${one} and ${other} could not be compared: one log ends before the other state begins. They compare themselves when they run.`,
  )
}

function lossText({ chunks, versions, copiesLeft, named, auditRows }: LossStatement): readonly string[] {
  const counts = Object.entries(copiesLeft).map(([copies, count]) => `${count} with ${copies}`)
  const left = counts.length === 0 ? 'There are no chunks.' : `Chunks by copies left: ${counts.join(', ')}.`
  if (chunks === 0) return [left, 'Of every chunk that is needed a survivor holds a copy.']
  const unnamed = versions - named.length
  const rest = unnamed === 0 ? '' : `, and ${unnamed} more that are not named`
  return [
    left,
    `Of ${chunks} chunks no survivor holds a copy. ${versions} object versions cannot be read any more; they are named in the plan${rest}.`,
    ...auditText(auditRows),
    'Copies are looked for by their names. Whether their bytes are whole the next scrub tells.',
  ]
}

function auditText(lost: LossStatement['auditRows']): readonly string[] {
  if (lost.length === 0) return []
  const rows = lost.reduce((sum, each) => sum + each.rows, 0)
  // The oldest first.
  const from = new Date(lost[0]?.firstTime ?? 0).toISOString()
  const to = new Date(lost.at(-1)?.lastTime ?? 0).toISOString()
  return [
    `${rows} rows of the audit log in ${lost.length} segments cannot be read any more; they were recorded between ${from} and ${to}.`,
  ]
}
