/**
 * What users see of buckets and objects after everything that took effect, and whether the rows say the same.
 *
 * Owns: a copy of the rows, a model of each tenant. Knows nothing of: nodes; whoever applies an entry first tells of it.
 * Rule: every answer must be the one of the model, in the order of the log; the rows are compared every few batches and at the end.
 */
import assert from 'node:assert/strict'
import type { Command, Reply } from '../../src/state-machine/commands.ts'
import type { TenantRecord } from '../../src/state-machine/records.ts'
import { MapWorld, recounted } from '../state-machine/map-world.ts'
import { VersionsModel } from '../state-machine/versions-model.ts'
import { checkRows } from '../state-machine/versions-rows.ts'
import { ObjectInvariants } from './object-invariants.ts'
import { commandIn, replyIn, rowIn } from './object-rules.ts'
import { TALLY } from './sim-machine.ts'
import type { Witness } from './witness.ts'

/** All rows are looked at. Batches. */
const COMPARE_EVERY = 16

export class ObjectOracle implements Witness {
  /** The rows, and the time of the last entry. */
  readonly world = new MapWorld()
  readonly models = new Map<string, VersionsModel>()
  readonly answers = new Map<string, number>()
  readonly #invariants = new ObjectInvariants()
  readonly #violate: (broken: string) => void
  #done: { readonly command: Command; readonly reply: Reply }[] = []
  #batches = 0

  constructor(violate: (broken: string) => void) {
    this.#violate = violate
  }

  took({ index, time, commands }: Parameters<Witness['took']>[0], replies: readonly string[]): void {
    this.world.time = time
    for (const [n, call] of commands.entries()) {
      const command = commandIn(call)
      const reply = replyIn(replies[n] ?? '')
      this.#done.push({ command, reply })
      this.#count(command, reply)
      this.#insist(`entry ${index}`, () => this.#judge(command, reply))
    }
  }

  settled(changes: ReadonlyMap<string, string | null>): void {
    const { rows, time } = this.world
    const moved = [...changes].flatMap(([key, value]) => {
      if (key === TALLY) return []
      const before = rows.get(key)
      const after = value === null ? undefined : rowIn(key, value)
      if (after === undefined) rows.delete(key)
      else rows.set(key, after)
      return [{ key, before, after }]
    })
    const batch = { changes: moved, done: this.#done, time, state: this.world }
    this.#insist('a batch', () => this.#invariants.check(batch))
    this.#done = []
    this.#batches += 1
    if (this.#batches % COMPARE_EVERY === 0) this.#compare()
  }

  finish(): void {
    this.#compare()
  }

  #compare(): void {
    this.#insist('the rows', () => {
      checkRows(this.world, this.models)
      assert.deepEqual(recounted(this.world), [])
    })
  }

  #count({ type }: Command, reply: Reply): void {
    const isReplayed = reply.ok && (reply.value as { replayed?: boolean } | null)?.replayed === true
    const how = `${type} ${isReplayed ? 'replayed' : reply.ok ? 'ok' : reply.code}`
    this.answers.set(how, (this.answers.get(how) ?? 0) + 1)
  }

  #judge(command: Command, reply: Reply): void {
    if (command.type === 'createTenant') return this.#judgeTenant(command.id, reply)
    // Whoever comes second is refused, and nobody minds.
    if (command.type === 'openSession') return
    const ofOne =
      'tenantId' in command && command.tenantId !== null ? [this.#modelOf(command.tenantId)] : null
    for (const model of ofOne ?? this.models.values()) model.take(command, reply, this.world.time)
  }

  #judgeTenant(id: string, reply: Reply): void {
    assert.equal(reply.ok, !this.models.has(id), `tenant "${id}" is made once`)
    if (reply.ok) this.models.set((reply.value as TenantRecord).id, new VersionsModel())
  }

  #modelOf(tenantId: string): VersionsModel {
    const model = this.models.get(tenantId)
    assert(model, `nobody asks for tenant "${tenantId}" before it is there`)
    return model
  }

  #insist(what: string, holds: () => void): void {
    try {
      holds()
    } catch (error) {
      this.#violate(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
