/**
 * The StateMachine port on LevelDB: the pure state machine with a disk under it.
 *
 * Owns: one synced write per apply batch with the machine's record inside, snapshots, and the switch to an installed
 * state. Knows nothing of: what commands mean, what the record says.
 * Rules: rows and record become durable together or not at all; after a failed write nothing is applied any more, for
 * LevelDB's errors are sticky and what is on disk is uncertain.
 */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import type { ApplyBatch, Logger, StateMachine, StateSnapshot } from '../../cluster/index.ts'
import { apply } from '../state-machine/state-machine.ts'
import { BatchView } from './batch-view.ts'
import { decodeCommand, encodeReply } from './command-codec.ts'
import { MACHINE_RECORD_KEY, OpenState, StateHandle } from './open-state.ts'
import { encodeRow, keyBytes, sealRow } from './row-codec.ts'
import { StateDirectory } from './state-directory.ts'
import { fillFromStream } from './state-install.ts'
import { takeSnapshot } from './state-snapshot.ts'

export interface LevelStateMachineOptions {
  /** Absolute; created when absent. Holds CURRENT and state-<n>. */
  readonly dir: string
  readonly logger: Logger
}

type BatchOperation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }

export class LevelStateMachine implements StateMachine {
  /** Through which readers reach whatever state is current. */
  readonly handle: StateHandle = new StateHandle()
  readonly #directory: StateDirectory
  readonly #logger: Logger
  #writing = false
  #failure: Error | null = null

  constructor({ dir, logger }: LevelStateMachineOptions) {
    this.#directory = new StateDirectory(dir)
    this.#logger = logger.child({ room: 'store' })
  }

  async open(): Promise<Uint8Array | null> {
    const current = await this.#directory.current()
    const state = current === null ? await this.#create() : await this.#openAt(current)
    this.handle.swap(state)
    return this.#recordOf(state)
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    return await this.#exclusively(async (state) => {
      const view = new BatchView(state)
      const replies = batch.entries.map((entry) => applyEntry(view, entry))
      await this.#write(state, view, batch.record)
      return replies
    })
  }

  async snapshot(): Promise<StateSnapshot> {
    return takeSnapshot(this.handle.current)
  }

  async install(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    return await this.#exclusively(async (old) => {
      const oldName = basename(old.location)
      const name = await this.#directory.prepareNext(oldName)
      const state = await this.#fill(name, stream)
      const record = state.machineRecord()
      assert(record !== null, 'an installed state has a machine record')
      await this.#fatal(() => this.#directory.makeCurrent(name))
      this.handle.swap(state)
      await this.#retire(old, oldName)
      this.#logger.info({ state: name }, 'installed a snapshot')
      return record
    })
  }

  async close(): Promise<void> {
    await this.handle.swap(null)?.close()
  }

  async #create(): Promise<OpenState> {
    await this.#removeLeftovers(null)
    const name = await this.#directory.prepareNext(null)
    const state = await OpenState.open(this.#directory.locationOf(name), { create: true })
    await this.#directory.makeCurrent(name)
    return state
  }

  async #openAt(name: string): Promise<OpenState> {
    const state = await this.#openExisting(name)
    // Only now: if the pointer were wrong, the leftovers would be all that is left.
    await this.#removeLeftovers(name)
    return state
  }

  #recordOf(state: OpenState): Uint8Array | null {
    try {
      return state.machineRecord()
    } catch (cause) {
      throw this.#directory.unusable('its machine record is damaged', cause)
    }
  }

  async #openExisting(name: string): Promise<OpenState> {
    try {
      return await OpenState.open(this.#directory.locationOf(name), { create: false })
    } catch (cause) {
      throw this.#directory.unusable(`${name} cannot be opened`, cause)
    }
  }

  async #removeLeftovers(current: string | null): Promise<void> {
    const leftovers = await this.#directory.removeLeftovers(current)
    if (leftovers.length > 0) this.#logger.info({ leftovers }, 'removed unfinished states')
  }

  async #write(state: OpenState, view: BatchView, record: Uint8Array): Promise<void> {
    const operations: BatchOperation[] = Array.from(view.written, ([name, row]) => {
      const key = keyBytes(name)
      return row === null ? { type: 'del', key } : { type: 'put', key, value: encodeRow(key, row) }
    })
    operations.push({ type: 'put', key: MACHINE_RECORD_KEY, value: sealRow(MACHINE_RECORD_KEY, record) })
    await this.#fatal(() => state.db.batch(operations, { sync: true }))
    await state.repairs.follow(view.written)
  }

  async #fill(name: string, stream: AsyncIterable<Uint8Array>): Promise<OpenState> {
    const location = this.#directory.locationOf(name)
    const fresh = await OpenState.open(location, { create: true })
    try {
      await fillFromStream(fresh.db, stream)
      await fresh.repairs.load()
      return fresh
    } catch (cause) {
      await fresh.close()
      await this.#directory.remove(name)
      throw cause
    }
  }

  /** The new state stands already: what fails here is tidied at the next start. */
  async #retire(old: OpenState, name: string): Promise<void> {
    try {
      await old.close()
      await this.#directory.remove(name)
    } catch (err) {
      this.#logger.warn({ err, state: name }, 'old state could not be removed')
    }
  }

  /** A write whose outcome on disk is uncertain once it failed. */
  async #fatal(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      this.#failure = new Error('Cannot write the state: the disk refused', { cause })
      throw this.#failure
    }
  }

  async #exclusively<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    assert(!this.#writing, 'apply and install are called one at a time')
    if (this.#failure !== null) throw this.#failure
    this.#writing = true
    try {
      return await work(this.handle.current)
    } finally {
      this.#writing = false
    }
  }
}

function applyEntry(view: BatchView, entry: ApplyBatch['entries'][number]): readonly Uint8Array[] {
  const { index, time, commands } = entry
  return commands.map((bytes, ordinal) => {
    const { writes, reply } = apply(view, decodeCommand(bytes), { index, time, ordinal })
    view.write(writes)
    return encodeReply(reply)
  })
}
