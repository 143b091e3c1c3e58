/**
 * The users' view of buckets and objects after every applied entry, and its comparison with the rows.
 *
 * Owns: a copy of the rows, a model of each tenant. Knows nothing of: nodes; the first node that applies an entry reports it.
 * Rule: every answer must be the one of the model, in the order of the log; the rows are compared every few batches and at the end.
 */
import assert from 'node:assert/strict'
import type { Command, Reply, ReplyValues } from '../../../src/state-machine/commands.ts'
import { MARK_NAME } from '../../../src/state-machine/sites/mark.ts'
import type { TenantRecord } from '../../../src/state-machine/tenants/records.ts'
import { MapWorld, recounted } from '../../state-machine/map-world.ts'
import { VersionsModel } from '../../state-machine/versions-model.ts'
import { checkRows } from '../../state-machine/versions-rows.ts'
import { ObjectInvariants } from './object-invariants.ts'
import { commandIn, replyIn, rowIn } from './object-rules.ts'
import { TALLY } from './sim-machine.ts'
import type { ApplyObserver } from './apply-observer.ts'

/** They change nothing that users see, and their answers follow from rows that the model does not have. */
const NOT_OF_OBJECTS: readonly Command['type'][] = [
  'openSession',
  'startOperation',
  'advanceOperation',
  'setOperationStatus',
]
/** All rows are checked this often. Batches. */
const COMPARE_EVERY = 16

export class ObjectOracle implements ApplyObserver {
  /** The rows, and the confirmed time of the last entry: irreversible expiry is judged by it. */
  readonly world = new MapWorld()
  readonly models = new Map<string, VersionsModel>()
  readonly answers = new Map<string, number>()
  /** The rows as they are written. */
  readonly #texts = new Map<string, string>()
  readonly #invariants = new ObjectInvariants()
  readonly #violate: (broken: string) => void
  #done: { readonly command: Command; readonly reply: Reply }[] = []
  #batches = 0

  constructor(violate: (broken: string) => void) {
    this.#violate = violate
  }

  took(entry: Parameters<ApplyObserver['took']>[0], replies: readonly string[]): void {
    const { index, time, confirmedTime, commands } = entry
    this.world.time = confirmedTime
    for (const [n, call] of commands.entries()) {
      const command = commandIn(call)
      const reply = replyIn(replies[n] ?? '')
      this.#done.push({ command, reply })
      this.#count(command, reply)
      this.#retry(`entry ${index}`, () => this.#judge(command, reply, time))
    }
  }

  settled(changes: ReadonlyMap<string, string | null>): void {
    const { rows, time } = this.world
    const moved = [...changes].flatMap(([key, value]) => {
      // Entries of the batch may have been observed before.
      if (key === TALLY || (this.#texts.get(key) ?? null) === value) return []
      if (value === null) this.#texts.delete(key)
      else this.#texts.set(key, value)
      const before = rows.get(key)
      const after = value === null ? undefined : rowIn(key, value)
      if (after === undefined) rows.delete(key)
      else rows.set(key, after)
      return [{ key, before, after }]
    })
    const batch = { changes: moved, done: this.#done, time, state: this.world }
    this.#retry('a batch', () => this.#invariants.check(batch))
    this.#done = []
    this.#batches += 1
    if (this.#batches % COMPARE_EVERY === 0) this.#compare()
  }

  finish(): void {
    this.#compare()
  }

  #compare(): void {
    this.#retry('the rows', () => {
      checkRows(this.world, this.models)
      assert.deepEqual(recounted(this.world), [])
    })
  }

  #count({ type }: Command, reply: Reply): void {
    const isReplayed = reply.ok && (reply.value as { replayed?: boolean } | null)?.replayed === true
    const how = `${type} ${isReplayed ? 'replayed' : reply.ok ? 'ok' : reply.code}`
    this.#add(how)
    if (type !== 'applyLifecycleRule' || !reply.ok) return
    for (const { kind } of (reply.value as ReplyValues['applyLifecycleRule']).done)
      this.#add(`${type} ${kind}`)
  }

  #add(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
  }

  #judge(command: Command, reply: Reply, madeAt: number): void {
    if (command.type === 'createTenant') return this.#judgeTenant(command.id, reply)
    // The second of two racing sessions is refused, as expected.
    if (NOT_OF_OBJECTS.includes(command.type) || isLateReplica(command, reply)) return
    const ofOne =
      'tenantId' in command && command.tenantId !== null ? [this.#modelOf(command.tenantId)] : null
    for (const model of ofOne ?? this.models.values()) model.take(command, reply, this.world.time, madeAt)
  }

  #judgeTenant(id: string, reply: Reply): void {
    assert.equal(reply.ok, !this.models.has(id), `tenant "${id}" is made once`)
    if (reply.ok) this.models.set((reply.value as TenantRecord).id, new VersionsModel())
  }

  #modelOf(tenantId: string): VersionsModel {
    const model = this.models.get(tenantId)
    assert(model, `no command names tenant "${tenantId}" before it exists`)
    return model
  }

  #retry(what: string, holds: () => void): void {
    try {
      holds()
    } catch (error) {
      this.#violate(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

/** Whether it is late is judged by its order, where replicas are made. */
function isLateReplica(command: Command, reply: Reply): boolean {
  if (reply.ok || reply.code !== 'precondition_failed') return false
  if (command.type === 'deleteObject') return command.replicaOf !== undefined
  return command.type === 'putObject' && MARK_NAME in command.metadata
}
