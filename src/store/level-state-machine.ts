/**
 * The StateMachine port on LevelDB: the pure state machine with a disk under it that is not trusted.
 *
 * Owns: one synced write per apply batch with record and running checksum inside, snapshots, the switch to an installed
 * state. Knows nothing of: what commands mean, what the record says.
 * Rules: rows, checksum and record become durable together or not at all; after a failed write nothing is applied any
 * more, for LevelDB's errors are sticky and what is on disk is uncertain; after damage nothing is, until an install.
 */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import {
  type ApplyBatch,
  type Logger,
  type OpenedState,
  StateDamagedError,
  type StateCut,
  type StateMachine,
  type StateSource,
} from '../../cluster/index.ts'
import { apply } from '../state-machine/state-machine.ts'
import { BatchView } from './batch-view.ts'
import { removeCleanStop, writeCleanStop } from './clean-stop.ts'
import { decodeCommand, encodeReply } from './command-codec.ts'
import { OpenState, StateHandle } from './open-state.ts'
import { rowHash } from './row-sum.ts'
import { takeCut } from './state-cut.ts'
import { StateDirectory } from './state-directory.ts'
import { pullInto } from './state-install.ts'
import { StateOpening } from './state-opening.ts'
import { type BatchOperation, sealOperations, type StateSeal } from './state-seal.ts'
import { verifyState } from './state-verification.ts'

export interface LevelStateMachineOptions {
  /** Absolute; created when absent. docs/formats/row.md lists what is in it. */
  readonly dir: string
  readonly logger: Logger
  /** Called after each durable step of an install, with its name: tests cut the power there. */
  readonly onInstallStep?: (step: string) => void
}

export class LevelStateMachine implements StateMachine {
  /** Through which readers reach whatever state is current. */
  readonly handle: StateHandle = new StateHandle()
  /** Resolves when a row turned out not to be what was written, whoever read it. The state is distrusted by then. */
  readonly damaged: Promise<StateDamagedError>
  readonly #directory: StateDirectory
  readonly #logger: Logger
  readonly #onInstallStep: (step: string) => void
  #reportDamage: (error: StateDamagedError) => void = () => {}
  #seal: StateSeal | null = null
  #writing = false
  #isClosed = false
  #failure: Error | null = null
  /** Marks of distrust, one after the other. Never rejects. */
  #marking: Promise<void> = Promise.resolve()

  constructor({ dir, logger, onInstallStep = () => {} }: LevelStateMachineOptions) {
    this.#directory = new StateDirectory(dir)
    this.#logger = logger.child({ room: 'store' })
    this.#onInstallStep = onInstallStep
    this.damaged = new Promise((resolve) => (this.#reportDamage = resolve))
  }

  async open(): Promise<OpenedState> {
    const opening = new StateOpening({
      directory: this.#directory,
      logger: this.#logger,
      onDamage: (error, state) => this.#onDamage(error, state),
    })
    const opened = await opening.open()
    if ('fault' in opened) {
      this.#logger.error({ fault: opened.fault }, 'state must not be used')
      this.handle.swap(null, opened.fault)
      return { record: null, fault: opened.fault }
    }
    this.#seal = opened.seal
    this.handle.swap(opened.state)
    return { record: opened.seal.record, fault: null }
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    return await this.#exclusively(async () => {
      this.#assertTrusted()
      const state = this.handle.current
      const view = new BatchView(state)
      const replies = batch.entries.map((entry) => applyEntry(view, entry))
      await this.#write(state, view, batch.record)
      return replies
    })
  }

  checksum(): Uint8Array {
    return this.#sealed.sum.bytes()
  }

  async verify(): Promise<string | null> {
    this.#assertTrusted()
    const state = this.handle.current
    const fault = await verifyState(state, (rows) => {
      this.#logger.info({ rows }, 'state is being verified')
    })
    if (fault !== null) this.#onDamage(new StateDamagedError(`Cannot trust the state: ${fault}`), state)
    return fault
  }

  async distrust(why: string): Promise<void> {
    this.#failure ??= new StateDamagedError(`Cannot use the state, it is distrusted: ${why}`)
    await this.#mark(why)
  }

  async snapshot(): Promise<StateCut> {
    this.#assertTrusted()
    return takeCut(this.handle.current)
  }

  async install(source: StateSource): Promise<Uint8Array> {
    return await this.#exclusively(async () => {
      await pullInto(this.#directory.incoming, source, this.#onInstallStep)
      assert(!this.#isClosed, 'an install ends before the state is closed')
      const name = await this.#directory.nameIncoming()
      this.#onInstallStep('named')
      const { state, seal } = await this.#openInstalled(name)
      assert(seal.record !== null, 'an installed state has a machine record')
      await this.#switchTo(name, state)
      const old = this.handle.swap(state)
      this.#seal = seal
      this.#failure = null
      await this.#retire(old, state)
      this.#logger.info({ state: name }, 'installed a snapshot')
      return seal.record
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const state = this.handle.swap(null)
    await this.#marking
    if (state === null) return
    const isClean = this.#failure === null && !this.#writing
    await state.close()
    if (!isClean) return
    try {
      await writeCleanStop(this.#directory.path, basename(state.location), this.#sealed)
    } catch (err) {
      this.#logger.warn({ err }, 'clean stop could not be noted: the next start verifies every row')
    }
  }

  get #sealed(): StateSeal {
    this.#assertTrusted()
    assert(this.#seal !== null, 'the state is used after it was opened')
    return this.#seal
  }

  async #write(state: OpenState, view: BatchView, record: Uint8Array): Promise<void> {
    const sum = this.#sealed.sum.copy()
    const operations: BatchOperation[] = []
    for (const { key, before, after } of view.changes()) {
      if (before !== null) sum.subtract(rowHash(key, before))
      if (after !== null) sum.add(rowHash(key, after))
      operations.push(after === null ? { type: 'del', key } : { type: 'put', key, value: after })
    }
    const seal = { record, sum }
    await this.#fatal(() => state.write([...operations, ...sealOperations(seal)]))
    this.#seal = seal
    await state.lease(() => state.repairs.follow(view.written))
  }

  async #openInstalled(name: string): Promise<{ readonly state: OpenState; readonly seal: StateSeal }> {
    const location = this.#directory.locationOf(name)
    const state = await OpenState.open({
      location,
      create: false,
      onDamage: (error, state) => this.#onDamage(error, state),
    })
    try {
      const seal = state.seal()
      assert(seal !== null, 'an installed state has a seal')
      await state.repairs.load()
      return { state, seal }
    } catch (cause) {
      await state.close()
      throw new Error('Cannot switch to the installed state: it cannot be read', { cause })
    }
  }

  /** Before anybody reads the new state: what was said of the old one is void, what is found in the new one is not. */
  async #switchTo(name: string, state: OpenState): Promise<void> {
    try {
      await this.#fatal(async () => {
        await this.#directory.makeCurrent(name)
        this.#onInstallStep('made current')
        await this.#marking
        await this.#directory.endDistrust()
        await removeCleanStop(this.#directory.path)
        this.#onInstallStep('trusted again')
      })
    } catch (error) {
      await state.close()
      throw error
    }
  }

  /** The new state stands already: what fails here is tidied at the next start. */
  async #retire(old: OpenState | null, current: OpenState): Promise<void> {
    try {
      await old?.close()
      await current.removeNotes()
      await this.#directory.removeAllBut(basename(current.location))
      this.#onInstallStep('old state removed')
    } catch (err) {
      this.#logger.warn({ err }, 'old state could not be removed')
    }
  }

  /** Of a state that is in use; while one is being opened or installed the caller deals with it. */
  #onDamage(error: StateDamagedError, state: OpenState): void {
    if (this.handle.usable !== state || this.#failure instanceof StateDamagedError) return
    this.#failure = error
    this.#logger.fatal({ err: error }, 'state is damaged')
    this.#mark(error.message).then(
      () => this.#reportDamage(error),
      (err: unknown) => {
        this.#logger.error({ err }, 'state could not be marked as distrusted')
        this.#reportDamage(error)
      },
    )
  }

  #mark(why: string): Promise<void> {
    const marked = this.#marking.then(() => this.#directory.distrust(why))
    this.#marking = marked.catch(() => {})
    return marked
  }

  #assertTrusted(): void {
    if (this.#failure instanceof StateDamagedError) throw this.#failure
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

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    assert(!this.#writing, 'apply and install are called one at a time')
    if (this.#failure !== null && !(this.#failure instanceof StateDamagedError)) throw this.#failure
    this.#writing = true
    try {
      return await work()
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
