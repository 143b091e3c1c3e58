/**
 * The rows of membership after every applied entry, with each change checked, beside the configurations of the group.
 *
 * Owns: a copy of the rows, the promises of every finished operation. Knows nothing of: nodes; the first node that applies an entry reports it.
 * Rule: the decisions of a batch are checked at its end, against the configuration that was committed by then.
 */
import { longOperationKeys } from '../../../src/state-machine/long-operations/keys.ts'
import type { Row, View } from '../../../src/state-machine/base/view.ts'
import { kindOf, type RowKey } from '../../../src/state-machine/base/row-key.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { ApplyBatch } from '../../../cluster/base/types.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { memberIn, membersOf } from '../../../src/state-machine/members/members.ts'
import { isMembership } from '../../../src/state-machine/members/membership.ts'
import { isFinished, unfinishedOperations } from '../../../src/state-machine/long-operations/operations.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'
import type { MembersRecord } from '../../../src/state-machine/members/records.ts'
import type { LongOperation } from '../../../src/state-machine/long-operations/records.ts'
import {
  changeFaults,
  chunkFaults,
  configurationFaults,
  leftoverFaults,
  operationFaults,
} from './member-rules.ts'
import { commandIn, replyIn, rowIn } from './object-rules.ts'
import { TALLY } from './sim-machine.ts'
import type { SimWorld } from './sim-world.ts'
import type { ApplyObserver } from './apply-observer.ts'

export class MemberOracle implements ApplyObserver {
  readonly answers = new Map<string, number>()
  readonly #rows = new Map<string, Row>()
  readonly view: View = {
    get: <R extends object>(key: RowKey<R>) => this.#rows.get(key) as R | undefined,
  }
  readonly #world: SimWorld
  readonly #violate: (broken: string) => void
  #lastIndex = 0
  /** Checked configurations. */
  #judged = 0
  /** By name: from which entry on no configuration holds it. */
  readonly #excluded = new Map<string, number>()
  readonly counts = { started: 0, succeeded: 0, cancelled: 0, failed: 0, left: 0 }

  constructor(world: SimWorld, violate: (broken: string) => void) {
    this.#world = world
    this.#violate = violate
  }

  get members(): MembersRecord {
    return membersOf(this.view)
  }

  /** Those of membership. */
  get unfinished(): readonly LongOperation[] {
    return unfinishedOperations(this.view).filter(({ kind }) => isMembership(kind))
  }

  /** No change of votes is pending, and no node is joining or leaving. */
  get isQuiet(): boolean {
    return this.members.change === null && this.unfinished.length === 0
  }

  took({ index, commands }: ApplyBatch['entries'][number], replies: readonly string[]): void {
    this.#lastIndex = index
    for (const [n, call] of commands.entries()) this.#count(commandIn(call), replyIn(replies[n] ?? ''))
  }

  settled(changes: ReadonlyMap<string, string | null>): void {
    const before = this.members
    const moved = [...changes].filter(([key]) => key !== TALLY).map(([key, value]) => this.#take(key, value))
    const { members } = this
    const faults = moved.flatMap(({ key, was, is }) => {
      const kind = kindOf(key)
      if (kind === 'operation' && is !== undefined)
        return this.#operation(was as LongOperation | undefined, is as LongOperation)
      if (kind !== 'chunk') return []
      return chunkFaults(was as ChunkRecord | undefined, is as ChunkRecord | undefined, goneIn(members))
    })
    if (members !== before) {
      this.#welcome(before, members)
      faults.push(
        ...changeFaults(before, members, this.unfinished, this.#operationOf(before.change)),
        ...this.#leavingNodes(before, members),
      )
    }
    faults.push(...this.configurationFaults())
    for (const fault of faults) this.#violate(`rows as of entry ${this.#lastIndex}: ${fault}`)
  }

  #operationOf(change: string | null): LongOperation | undefined {
    return change === null ? undefined : this.view.get(longOperationKeys.operation(change))
  }

  #take(key: string, value: string | null) {
    const was = this.#rows.get(key)
    const is = value === null ? undefined : rowIn(key, value)
    if (is === undefined) this.#rows.delete(key)
    else this.#rows.set(key, is)
    return { key, was, is }
  }

  finish(): void {
    for (const fault of this.configurationFaults()) this.#violate(`at the end: ${fault}`)
  }

  /** Checks the configurations committed since the last check against the rows. */
  configurationFaults(): readonly string[] {
    const { committedConfigurations: committed } = this.#world.checks
    const faults = committed.slice(this.#judged).flatMap((one) => this.#excludedIn(one))
    this.#judged = committed.length
    const now = committed.findLast(({ index }) => index <= this.#lastIndex)
    if (now === undefined || this.members.members.length === 0) return faults
    const { change } = this.members
    const operation = change === null ? undefined : this.view.get(longOperationKeys.operation(change))
    return [...faults, ...configurationFaults(this.members, now.configuration, operation)]
  }

  #excludedIn({ index, configuration }: { readonly index: number; readonly configuration: Configuration }) {
    const { voters, learners, outgoing } = configuration
    return [...voters, ...learners, ...outgoing]
      .filter((name) => (this.#excluded.get(name) ?? Number.POSITIVE_INFINITY) < index)
      .map((name) => `${name} was excluded, and the configuration at ${index} holds it`)
  }

  #operation(was: LongOperation | undefined, is: LongOperation): readonly string[] {
    if (!isMembership(is.kind)) return []
    if (was === undefined) this.counts.started += 1
    else if (!isFinished(was.status) && isFinished(is.status))
      this.counts[is.status as 'succeeded' | 'cancelled' | 'failed'] += 1
    if (was?.cursor === 'exclude' && is.cursor !== 'exclude' && is.node !== null) this.#exclude(is.node)
    return operationFaults(was, is)
  }

  #exclude(name: string): void {
    if (!this.#excluded.has(name)) this.#excluded.set(name, this.#lastIndex)
  }

  /** A new voter was caught up from the start: entries that its disk lost before that were never acknowledged. */
  #welcome(before: MembersRecord, after: MembersRecord): void {
    const joined = after.members.filter(
      ({ nodeId, phase }) => phase === 'active' && memberIn(before, nodeId)?.phase === 'joining',
    )
    for (const host of this.#world.hosts)
      if (joined.some(({ nodeId, incarnation }) => nodeId === host.id && incarnation === host.incarnation))
        host.isLost = false
  }

  #leavingNodes(before: MembersRecord, after: MembersRecord): readonly string[] {
    const chunks = [...this.#rows]
      .filter(([key]) => kindOf(key) === 'chunk')
      .map(([, row]) => row as ChunkRecord)
    const gone = before.members.filter(
      ({ nodeId }) => !after.members.some((member) => member.nodeId === nodeId),
    )
    const removed = gone.filter(({ nodeId }) => after.departed.some((one) => one.nodeId === nodeId))
    this.counts.left += removed.length
    return removed.flatMap((leavingNode) => leftoverFaults(leavingNode, chunks, goneIn(after)))
  }

  #count(command: Command, reply: Reply): void {
    const what = command.type === 'startMembership' ? command.kind : command.type
    const isNoop = reply.ok && (reply.value as { operation?: unknown } | null)?.operation === null
    const how = `${what} ${isNoop ? 'noop' : reply.ok ? 'ok' : reply.code}`
    this.answers.set(how, (this.answers.get(how) ?? 0) + 1)
  }
}

function goneIn({ members, departed }: MembersRecord): ReadonlySet<string> {
  const lost = members.filter(({ phase }) => phase === 'lost')
  return new Set([...lost, ...departed].map(({ nodeId }) => nodeId))
}
