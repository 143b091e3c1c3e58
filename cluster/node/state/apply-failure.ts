/**
 * The error that ends a node which cannot apply a committed entry: which entry, why, and what the operator can do.
 *
 * Owns: the texts, and whether an entry may be skipped. Knows nothing of: how it is skipped. Rule: entries on which others depend
 * without a command are never skipped: a change of the members, and a level that this version does not know.
 */
import type { Entry, LogIndex, NodeId, Term } from '../../raft/types.ts'
import { StartError } from '../../base/types.ts'
import { digestOfEntry } from '../base/entry-skips.ts'
import { decodedOrNull } from '../base/log-entry.ts'

const REASON_CHARACTERS_MAX = 500

/** An entry that cannot be applied, as a report carries it. */
export interface Obstacle {
  readonly index: LogIndex
  readonly term: Term
  readonly kind: Entry['kind']
  /** `digestOfEntry` */
  readonly digest: string
  readonly why: string
  readonly isSkippable: boolean
}

/** The log raises the state to a level that this version does not know. */
export class LevelUnknownError extends Error {
  override readonly name: string = 'LevelUnknownError'
}

export class ApplyFailure extends StartError {
  override readonly name: string = 'ApplyFailure'
  readonly obstacle: Obstacle

  constructor(nodeId: NodeId, entry: Entry, cause: unknown) {
    const isLevel = cause instanceof LevelUnknownError
    const { index, term, kind } = entry
    const [digest, why] = [digestOfEntry(entry), reasonOf(cause)]
    const isSkippable = kind === 'command' && (decodedOrNull(entry.data)?.level ?? null) === null
    super(
      isLevel ? 'feature_level_too_high' : 'apply_failed',
      `Node ${nodeId} stops: it cannot apply entry ${index} of term ${term} (${kind}, digest ${digest}): ${why}`,
      { cause, hint: hintOf({ isLevel, isSkippable }) },
    )
    this.obstacle = { index, term, kind, digest, why, isSkippable }
  }
}

/** The first line of the root cause. */
function reasonOf(error: unknown): string {
  let root = error
  while (root instanceof Error && root.cause instanceof Error) root = root.cause
  const [line = ''] = (root instanceof Error ? root.message : String(root)).split('\n')
  return line.slice(0, REASON_CHARACTERS_MAX)
}

function hintOf({
  isLevel,
  isSkippable,
}: {
  readonly isLevel: boolean
  readonly isSkippable: boolean
}): string {
  const kept = 'Nothing in this data directory was changed: keep it.'
  if (isLevel) return `${kept} Start the version that the other nodes run.`
  const other = 'If other nodes continue, start the version that they run.'
  if (isSkippable) return `${kept} ${other} If all nodes stop here, follow deploy/runbooks/skip-entry.md.`
  return `${kept} ${other} This entry cannot be skipped; deploy/runbooks/skip-entry.md describes the remaining options.`
}
