/**
 * The effects and losses of a recovery in words, for the operator who decides.
 *
 * Owns: the sentences. Rule: an unknown loss is stated as unknown, never left out.
 */
import type { RecoveryDecision } from '../../cluster/index.ts'
import type { LossStatement } from './loss.ts'

export function statementOf(decision: RecoveryDecision, loss: LossStatement): readonly string[] {
  const { winner, survivors, dead, configuration, epoch } = decision
  const without = dead.length === 0 ? '' : ` without ${dead.join(', ')}`
  return [
    `The history of ${winner} is used. ${survivors.join(', ')} continue${without}; ${configuration.voters.join(', ')} vote. The recovery epoch becomes ${epoch}.`,
    missingText(decision),
    committedText(decision),
    ...uncomparedText(decision),
    ...lossText(loss),
    ...(dead.length === 0
      ? []
      : [`${dead.join(', ')} never come back: their data directories are refused from now on.`]),
  ]
}

function missingText({ mayMissAfter, dead, isRestored }: RecoveryDecision): string {
  if (isRestored)
    return `Every change after index ${mayMissAfter} is lost, even if it was acknowledged: the copies are older.`
  return mayMissAfter === null
    ? 'No acknowledged change is missing: every majority had a member among the survivors.'
    : `Every change after index ${mayMissAfter} that was acknowledged is lost. Their number is unknown: ${dead.join(', ')} could acknowledge changes among themselves.`
}

function committedText({ certainThrough, previous }: RecoveryDecision): string {
  return previous.index === certainThrough
    ? `Every change up to index ${certainThrough} was committed before.`
    : `Changes ${certainThrough + 1} to ${previous.index} become committed; clients may have received an error, or no answer, for some of them.`
}

function uncomparedText({ uncompared }: RecoveryDecision): readonly string[] {
  return uncompared.map(
    ([one, other]) =>
      `The states of ${one} and ${other} could not be compared: one log ends before the other state begins. The nodes compare them when they run.`,
  )
}

function lossText({ chunks, versions, copiesLeft, named, auditRows }: LossStatement): readonly string[] {
  const counts = Object.entries(copiesLeft).map(([copies, count]) => `${count} with ${copies}`)
  const left = counts.length === 0 ? 'There are no chunks.' : `Chunks by copies left: ${counts.join(', ')}.`
  if (chunks === 0) return [left, 'A survivor holds a copy of every referenced chunk.']
  const unnamed = versions - named.length
  const rest = unnamed === 0 ? '' : `, except ${unnamed} beyond its limit`
  return [
    left,
    `${chunks} chunks have no copy on a survivor. ${versions} object versions can no longer be read; the plan names them${rest}.`,
    ...auditText(auditRows),
    'Copies are found by their names only; the next scrub verifies their bytes.',
  ]
}

function auditText(lost: LossStatement['auditRows']): readonly string[] {
  if (lost.length === 0) return []
  const rows = lost.reduce((sum, each) => sum + each.rows, 0)
  // The oldest first.
  const from = new Date(lost[0]?.firstTime ?? 0).toISOString()
  const to = new Date(lost.at(-1)?.lastTime ?? 0).toISOString()
  return [
    `${rows} rows of the audit log in ${lost.length} segments can no longer be read; they were recorded between ${from} and ${to}.`,
  ]
}
