/**
 * The report and the plan about an entry that no node can apply, and the command of the plan.
 * docs/formats/recovery.md
 *
 * Owns: the shapes, the names of the files, the words of the plan. Rule: the command depends only on the plan, so every node that
 * skips the entry applies the same bytes in its place.
 */
import type { NodeFacts, SkipDecision } from '../../cluster/index.ts'
import type { Proposal } from '../state-machine/commands.ts'
import { SYSTEM_ORIGIN } from '../state-machine/base/origin.ts'
import { CARRIED_MAX, type CarriedCommand } from '../state-machine/skipped-entries/skipped-entries.ts'
import { encodeCommand, peekCommand } from '../commands/command-codec.ts'

export const SKIP_FORMAT = 1
const TYPE_CHARACTERS_MAX = 100

/** The commands of the entry, as far as they can be decoded. */
export interface Carried {
  readonly count: number
  /** The first CARRIED_MAX; null: the entry could not be decoded. */
  readonly commands: readonly CarriedCommand[] | null
}

export interface SkipReport {
  readonly format: number
  /** ms since 1970 */
  readonly madeAt: number
  readonly version: string
  readonly facts: NodeFacts
  /** The commands of the entry that cannot be applied; null: there is no such entry. */
  readonly carried: Carried | null
}

export interface SkipPlan {
  readonly format: number
  readonly planId: string
  readonly madeAt: number
  readonly version: string
  readonly clusterId: string
  readonly reason: string
  readonly decision: SkipDecision
  readonly carried: Carried
  /** The plan in words. */
  readonly statement: readonly string[]
}

export const skipReportFileOf = (nodeId: string): string => `${nodeId}.entry.json`

export function carriedIn(commands: readonly Uint8Array[] | null): Carried {
  if (commands === null) return { count: 0, commands: null }
  const described = commands.slice(0, CARRIED_MAX).map((bytes) => {
    const peeked = peekCommand(bytes)
    const requestId = peeked?.origin.requestId
    return {
      type: peeked?.type.slice(0, TYPE_CHARACTERS_MAX) ?? null,
      requestId: typeof requestId === 'string' ? requestId.slice(0, TYPE_CHARACTERS_MAX) : null,
    }
  })
  return { count: commands.length, commands: described }
}

export function skipCommand({ planId, reason, decision, carried }: SkipPlan): Uint8Array {
  const { index, term, digest, why, holders } = decision
  const command: Proposal = {
    type: 'skipEntry',
    planId,
    entryIndex: index,
    entryTerm: term,
    digest,
    why,
    carried: carried.commands,
    carriedCount: carried.count,
    origin: {
      ...SYSTEM_ORIGIN,
      requestId: planId,
      operation: 'skipEntry',
      method: 'OFFLINE',
      path: '/recover/skip-entry/apply',
      reason,
      elapsedMs: 0,
      successStatus: 200,
      nodeId: holders[0] ?? '',
    },
  }
  return encodeCommand(command)
}

export function skipStatement(decision: SkipDecision, carried: Carried): readonly string[] {
  const { index, term, digest, why, holders, behind, uncompared, dead } = decision
  return [
    `Entry ${index} of term ${term}, digest ${digest}, is skipped on every node: it cannot be applied (${why}).`,
    carriedText(carried),
    `${holders.join(', ')} hold it, and their states before it are equal (checksum ${decision.before.checksum}).`,
    ...(behind.length === 0 ? [] : [behindText(behind, uncompared)]),
    ...(dead.length === 0
      ? []
      : [`${dead.join(', ')} may have applied it and sent answers: the effects of that are lost.`]),
  ]
}

function carriedText({ count, commands }: Carried): string {
  if (commands === null) return 'Its commands cannot be decoded, so it is unknown what is lost.'
  const names = commands.map(
    ({ type, requestId }) => `${type ?? 'unknown'}${requestId === null ? '' : ` (${requestId})`}`,
  )
  const more = count > commands.length ? `, and ${count - commands.length} more` : ''
  return `It contains ${count} commands, and none of them takes effect: ${names.join(', ')}${more}. No client received a success for one of them.`
}

function behindText(behind: readonly string[], uncompared: readonly string[]): string {
  const open =
    uncompared.length === 0
      ? ''
      : ` The states of ${uncompared.join(', ')} cannot be compared yet: start them with the others, and apply the plan there if they stop at the entry.`
  return `The logs of ${behind.join(', ')} end before it.${open}`
}
