/**
 * The StateMachine port as a simulation has it: rows in memory with the behaviour of LevelDB with batches that are not flushed.
 *
 * Owns: atomic batches, their duration, checkpoints, the state after a crash and after a power cut. Knows nothing of: the log.
 * Rules: rows are seen, and confirmed, only once they are written; a batch in flight at a crash may be present or absent. A power cut takes
 * any number of the latest batches since the last checkpoint, never one before another.
 */
import { createHash } from 'node:crypto'
import {
  type ApplyBatch,
  type OpenedState,
  StateDamagedError,
  type StateBlock,
  type StateBlockRequest,
  type StateCut,
  type StateMachine,
  type StateSource,
} from '../../../cluster/base/types.ts'
import type { MachineRules, Performed } from './machine-rules.ts'
import type { Random } from './random.ts'
import { SimRows } from './sim-rows.ts'

/** A batch that no checkpoint has made durable: what was there before it. */
interface Unflushed {
  readonly rows: ReadonlyMap<string, string | null>
  readonly record: Uint8Array | null
  readonly isInstalled: boolean
}

/** The state that survives a crash. */
export class SimState {
  rows = new SimRows()
  record: Uint8Array | null = null
  /** Nothing was applied since an install. */
  isInstalled = false
  /** In their order. */
  unflushed: Unflushed[] = []
  fault: string | null = null
  /** A row is not what was written; not every reader finds it. */
  isDamaged = false
  /** Times that a row was damaged. */
  damages = 0
  /** Rows of an install that was cut short, verified. */
  pulled: (readonly [string, string])[] = []
  /** The next batch fails with EIO. */
  failsApply = false
  faultsMet = 0
}

/** The host loses power. Returns the number of batches that it takes. */
export function loseUnflushed(state: SimState, below: (bound: number) => number): number {
  const { unflushed } = state
  if (unflushed.length === 0) return 0
  const lost = unflushed.splice(below(unflushed.length + 1))
  for (const { rows, record, isInstalled } of lost.toReversed()) {
    for (const [key, value] of rows) state.rows.set(key, value)
    state.record = record
    state.isInstalled = isInstalled
  }
  // The rest has reached the disk.
  state.unflushed = []
  return lost.length
}

export interface AppliedBatch extends Performed {
  readonly batch: ApplyBatch
}

export interface SimMachineParts {
  readonly state: SimState
  readonly rules: MachineRules
  readonly random: Random
  /** How long the next batch or flush takes. ms */
  readonly flushMs: () => number
  readonly after: (ms: number, kind: string, run: () => void) => void
  /** Asked before every effect; false: the process is gone. */
  readonly isAlive: () => boolean
  readonly blockBytes: number
  readonly onApplied: (applied: AppliedBatch) => void
  /** `isRebuild`: in place of a state that was in use and turned out to be damaged. */
  readonly onInstalled: (isRebuild: boolean) => void
  /** Rows of the state that is replaced are as the source has them. */
  readonly onReused: () => void
  /** Sometimes applies a batch twice. Only to show that the checks detect it. */
  readonly doesTwice: boolean
}

/** The row that counts the commands that took effect, and the time of the last. */
export const TALLY = '#'
const DAMAGE = 'a row is not what was written'
/** Share of those who read. */
const MEETS_DAMAGE = 0.3
export const NOTHING_TO_SNAPSHOT = 'a snapshot is taken of something'
const encoder = new TextEncoder()
/** One for each use: a shared promise keeps every waiter in memory forever. */
const never = (): Promise<never> => new Promise(() => undefined)

export class SimMachine implements StateMachine {
  readonly #parts: SimMachineParts
  /** The write that makes the pending state durable. */
  #underWay: (() => void) | null = null
  #onDamaged: (error: StateDamagedError) => void = () => undefined
  /** Why the state is quarantined, durable or not. */
  #withdrawn: string | null = null

  constructor(parts: SimMachineParts) {
    this.#parts = parts
  }

  async open(onDamaged: (error: StateDamagedError) => void = () => undefined): Promise<OpenedState> {
    const { state } = this.#parts
    this.#onDamaged = onDamaged
    // LevelDB writes what it recovers to a table.
    state.unflushed = []
    // Every row is read, for no stop counts as a clean one.
    if (state.isDamaged) state.fault ??= DAMAGE
    const { record, fault, isInstalled } = state
    return { record: fault === null ? record : null, fault, isInstalled }
  }

  /** As they are now. */
  get rows(): SimRows {
    return this.#parts.state.rows
  }

  get effects(): number {
    return effectsIn(this.#parts.state.rows)
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    const { state, isAlive, onApplied } = this.#parts
    if (!isAlive()) return never()
    this.#assertTrusted()
    const { replies, changes } = this.#perform(this.#parts.doesTwice ? doubled(batch) : batch)
    await this.#durably('state written', () => {
      if (state.failsApply) {
        state.failsApply = false
        state.faultsMet += 1
        throw new Error('EIO: simulated state disk')
      }
      const before = new Map([...changes.keys()].map((key) => [key, state.rows.get(key)]))
      state.unflushed.push({ rows: before, record: state.record, isInstalled: state.isInstalled })
      for (const [key, value] of changes) state.rows.set(key, value)
      state.record = batch.record
      state.isInstalled = false
      onApplied({ batch, replies, changes })
    })
    return replies.map((entry) => entry.map((reply) => Buffer.from(reply, 'latin1')))
  }

  async checkpoint(): Promise<void> {
    const { state, isAlive, after, flushMs } = this.#parts
    if (!isAlive()) return never()
    this.#assertTrusted(false)
    const last = state.unflushed.at(-1)
    await new Promise<void>((resolve) => after(flushMs(), 'state flushed', resolve))
    // An install may have replaced them all.
    if (last !== undefined) state.unflushed.splice(0, state.unflushed.indexOf(last) + 1)
    this.#assertTrusted(false)
  }

  checksum(): Uint8Array {
    return this.#parts.state.rows.checksum
  }

  async verify(): Promise<string | null> {
    const { rows, isDamaged } = this.#parts.state
    this.#assertTrusted(false)
    if (isDamaged) return this.#tell(DAMAGE).message
    return rows.recounted() === rows.digest ? null : 'the checksum is not that of the rows'
  }

  /** What a reader of the service sees without the machine: false where it finds damage, or found it before. */
  isReadable(): boolean {
    try {
      this.#assertTrusted()
      return true
    } catch {
      return false
    }
  }

  async quarantine(why: string): Promise<void> {
    this.#withdrawn ??= why
    await this.#durably('state quarantined', () => {
      this.#parts.state.fault ??= why
    })
  }

  async snapshot(): Promise<StateCut> {
    const { state, blockBytes } = this.#parts
    this.#assertTrusted(false)
    if (state.record === null) throw new Error(NOTHING_TO_SNAPSHOT)
    const rows = state.rows.sorted()
    return {
      record: state.record,
      checksum: state.rows.checksum,
      block: async (request) => {
        this.#assertTrusted()
        return blockOf(rows, request, blockBytes)
      },
      release: async () => undefined,
    }
  }

  async install(source: StateSource): Promise<Uint8Array> {
    const { state, isAlive, onInstalled } = this.#parts
    if (!isAlive()) return never()
    const rows = new SimRows(await this.#pull(source))
    if (!isAlive()) return never()
    if (Buffer.compare(rows.checksum, source.checksum) !== 0) {
      state.pulled = []
      throw new Error('a snapshot has the checksum of its source')
    }
    await this.#durably('state switched', () => {
      state.rows = rows
      state.record = source.record
      state.isInstalled = true
      state.unflushed = []
      state.fault = null
      state.isDamaged = false
      state.pulled = []
      const isRebuild = this.#withdrawn !== null
      this.#withdrawn = null
      onInstalled(isRebuild)
    })
    return source.record
  }

  async close(): Promise<void> {
    this.#parts.state.unflushed = []
  }

  /** The process dies: pending writes may still have reached the disk. */
  crash(): void {
    const { state, random } = this.#parts
    if (this.#underWay !== null && !state.failsApply && random.chance(0.5)) this.#underWay()
    this.#underWay = null
  }

  /** With the row that counts the effects. */
  #perform({ entries }: ApplyBatch): Performed {
    const { rules, state } = this.#parts
    const { replies, changes } = rules.perform(entries, state.rows)
    const last = entries.at(-1)
    if (last === undefined) return { replies, changes }
    const done = entries.reduce((sum, { commands }) => sum + commands.length, 0)
    const tally = `${effectsIn(state.rows) + done} ${last.time}`
    return { replies, changes: new Map([...changes, [TALLY, tally]]) }
  }

  #assertTrusted(isReading = true): void {
    const { state, random } = this.#parts
    const why = state.fault ?? this.#withdrawn
    if (why !== null) throw new StateDamagedError(why)
    if (isReading && state.isDamaged && random.chance(MEETS_DAMAGE)) throw this.#tell(DAMAGE)
  }

  #tell(why: string): StateDamagedError {
    const error = new StateDamagedError(why)
    this.#withdrawn = why
    this.#onDamaged(error)
    return error
  }

  /**
   * Blocks that were verified before a break stay, also those of another source, as long as they are the same there; so do rows of
   * the state that is replaced.
   */
  async #pull(source: StateSource): Promise<readonly (readonly [string, string])[]> {
    const { state, random, onReused } = this.#parts
    const gathered = new Map(state.pulled)
    const base = state.rows.sorted().filter(([key]) => !gathered.has(key))
    const kept = [...gathered, ...base].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const rows: (readonly [string, string])[] = []
    for (let after = ''; ; ) {
      const held = kept.filter(([key]) => key > after).slice(0, 1 + random.below(8))
      const last = held.at(-1)
      const request = {
        after: encoder.encode(after),
        held:
          last === undefined ? null : { through: encoder.encode(last[0]), digest: digestOf(packRows(held)) },
      }
      const block = await source.block(request)
      const got = block.rows === null ? held : unpackRows(block.rows)
      if (Buffer.compare(digestOf(packRows(got)), block.digest) !== 0)
        throw new Error('a block has its digest')
      if (block.rows === null && held.some(([key]) => !gathered.has(key))) onReused()
      rows.push(...got)
      after = Buffer.from(block.through).toString()
      const reached = after
      state.pulled = [...rows, ...[...gathered].filter(([key]) => key > reached)]
      if (block.isEnd) return rows
    }
  }

  #durably(kind: string, write: () => void): Promise<void> {
    const { after, flushMs } = this.#parts
    this.#underWay = write
    return new Promise((resolve, reject) => {
      after(flushMs(), kind, () => {
        this.#underWay = null
        try {
          write()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
  }
}

/** One batch in eight. */
function doubled(batch: ApplyBatch): ApplyBatch {
  const [first] = batch.entries
  return first !== undefined && first.index % 8 === 0
    ? { ...batch, entries: [...batch.entries, first] }
    : batch
}

function effectsIn(rows: SimRows): number {
  return Number(rows.get(TALLY)?.split(' ')[0] ?? 0)
}

function blockOf(
  rows: readonly (readonly [string, string])[],
  { after, held }: StateBlockRequest,
  bytesMax: number,
): StateBlock {
  const from = Buffer.from(after).toString()
  const rest = rows.filter(([key]) => key > from)
  if (held !== null) {
    const through = Buffer.from(held.through).toString()
    const same = rest.filter(([key]) => key <= through)
    const digest = digestOf(packRows(same))
    if (same.at(-1)?.[0] === through && Buffer.compare(digest, held.digest) === 0)
      return { rows: null, digest, through: held.through, isEnd: same.length === rest.length }
  }
  let bytes = 0
  let count = 0
  for (const [key, value] of rest) {
    bytes += key.length + value.length
    if (count > 0 && bytes > bytesMax) break
    count += 1
  }
  const sent = packRows(rest.slice(0, count))
  const through = encoder.encode(rest[count - 1]?.[0] ?? from)
  return { rows: sent, digest: digestOf(sent), through, isEnd: count === rest.length }
}

function packRows(rows: readonly (readonly [string, string])[]): Uint8Array {
  return encoder.encode(JSON.stringify(rows))
}

function unpackRows(bytes: Uint8Array): readonly (readonly [string, string])[] {
  return JSON.parse(Buffer.from(bytes).toString()) as [string, string][]
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}
