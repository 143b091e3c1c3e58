/**
 * The driver of backups and prunes in a process of a simulation, step by step as the service has them.
 *
 * Owns: the steps, over rows and a modelled target. Knows nothing of: what a chunk holds; its copies are there as long as its row is.
 * Rules: the cursor moves by compare and set behind what is in the target; the manifest comes last. The driver of the service compresses on other threads, which a simulation
 * does not have: the commands, the hold and what they decide are real.
 */
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { unfinishedOperations } from '../../../src/state-machine/long-operations/operations.ts'
import type { LongOperation } from '../../../src/state-machine/long-operations/records.ts'
import type { BackupStore, StoredCut, StoredName } from './backup-store.ts'
import { rowIn } from './object-rules.ts'
import type { SimReader } from './sim-reader.ts'
import type { SimRows } from './sim-rows.ts'

const STEP_CHUNKS = 1
const NO_COUNTS = {}

export interface DriverParts {
  readonly name: string
  readonly isJobRunner: () => boolean
  readonly readBarrier: () => Promise<void>
  readonly reader: SimReader
  /** Null: they are not to be read now. */
  readonly rows: () => SimRows | null
  readonly propose: (command: Command) => Promise<Reply>
  readonly store: BackupStore
  /** The way to the target and back. Throws where it does not answer. */
  readonly travel: (what: string, effect: () => void) => Promise<void>
}

export class BackupDriver {
  readonly #parts: DriverParts
  #attempts = 0

  constructor(parts: DriverParts) {
    this.#parts = parts
  }

  async round(): Promise<void> {
    const { isJobRunner, reader } = this.#parts
    if (!isJobRunner()) return
    const open = unfinishedOperations(reader).filter(
      ({ status }) => status === 'queued' || status === 'running',
    )
    const operation = open.find(({ kind }) => kind === 'backup' || kind === 'backupPrune')
    if (operation?.kind === 'backup') await this.#step(operation)
    else if (operation !== undefined) await this.#prune(operation)
  }

  async #step(operation: LongOperation): Promise<void> {
    const [step = '', attempt = '', done = ''] = operation.cursor.split('/')
    if (step === '') return this.#cut(operation)
    const cut = this.#parts.store.cutOf(attempt)
    if (cut === null) throw new Error('the cursor names a cut that is in the target')
    if (step === 'chunks') return this.#copy(operation, cut, Number(done))
    return this.#end(operation, cut)
  }

  async #cut(operation: LongOperation): Promise<void> {
    const { readBarrier, rows: readable, store, travel, name } = this.#parts
    await readBarrier()
    const rows = readable()
    if (rows === null) return
    this.#attempts += 1
    const attempt = `${name}.${this.#attempts}`
    const cut: StoredCut = { attempt, rows: new Map(rows.sorted()), chunks: chunksIn(rows) }
    await travel('cut of a backup', () => store.keepCut(cut))
    await this.#advance(operation, `chunks/${attempt}/0`)
  }

  async #copy(operation: LongOperation, cut: StoredCut, done: number): Promise<void> {
    const { store, travel, rows: readable } = this.#parts
    const step = cut.chunks.slice(done, done + STEP_CHUNKS)
    const rows = readable()
    if (rows === null) return
    const present = new Set(chunksIn(rows, true))
    const sent = step.filter((name) => !store.chunks.has(name) && present.has(name))
    await travel('chunks of a backup', () => {
      for (const name of sent) store.chunks.add(name)
    })
    const next = done + step.length
    const cursor = next >= cut.chunks.length ? `end/${cut.attempt}` : `chunks/${cut.attempt}/${next}`
    await this.#advance(operation, cursor)
  }

  async #end({ operationId }: LongOperation, cut: StoredCut): Promise<void> {
    const { store, travel, propose } = this.#parts
    await travel('manifest of a backup', () => void store.manifests.set(operationId, cut))
    await propose({ type: 'setOperationStatus', operationId, action: 'finish', error: null })
  }

  async #prune({ operationId }: LongOperation): Promise<void> {
    const { store, propose, readBarrier, reader } = this.#parts
    await readBarrier()
    const isOwn = unfinishedOperations(reader).some((one) => one.operationId === operationId)
    if (!isOwn) return
    store.prune()
    await propose({ type: 'setOperationStatus', operationId, action: 'finish', error: null })
  }

  async #advance({ operationId, cursor: from }: LongOperation, cursor: string): Promise<void> {
    const { propose } = this.#parts
    const phase = 'copying chunks'
    const reply = await propose({
      type: 'advanceOperation',
      operationId,
      from,
      cursor,
      phase,
      counted: NO_COUNTS,
    })
    if (reply.ok || !/no longer held/.test(reply.message)) return
    await propose({ type: 'setOperationStatus', operationId, action: 'fail', error: reply.message })
  }
}

/** `all`: also those that nothing refers to any more. */
function chunksIn(rows: SimRows, all = false): readonly StoredName[] {
  const { start, end } = chunkRanges.chunks()
  return rows
    .sorted()
    .filter(([key]) => key >= start && key < end)
    .map(([key, value]) => rowIn(key, value) as ChunkRecord)
    .filter(({ references }) => all || references > 0)
    .map(nameOf)
}

export function nameOf({ tenantId, id, checksum }: ChunkRecord): StoredName {
  return `${tenantId} ${id} ${checksum}`
}
