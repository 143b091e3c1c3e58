/**
 * The StateMachine port on LevelDB: the pure state machine over a disk that is not trusted.
 *
 * Owns: one atomic write per apply batch with record and running checksum inside, checkpoints, snapshots, the switch to an installed
 * state. Knows nothing of: what commands mean, what the record says.
 * Rules: rows, checksum and record of a batch are in the state together or not at all, and never without the batch before. After a failed
 * write nothing more is applied, because LevelDB's errors are sticky and the content of the disk is uncertain. After damage nothing is
 * applied or read until an install.
 * A damaged state is replaced as a whole: a flipped bit spoils a block of many rows, and no row is known good.
 */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import type { View } from '../../state-machine/base/view.ts'
import {
  type ApplyBatch,
  cipherOf,
  type Logger,
  type MetadataCipher,
  type OpenedState,
  StateDamagedError,
  type StateCut,
  type StateMachine,
  type StateSource,
} from '../../../cluster/index.ts'
import type { Proposal } from '../../state-machine/commands.ts'
import { commandCost } from '../../state-machine/command-cost.ts'
import { applyEntry } from './apply-entry.ts'
import { BatchView } from './batch-view.ts'
import { removeCleanStop, writeCleanStop } from '../state/clean-stop.ts'
import { decodeCommand } from '../../commands/command-codec.ts'
import { writeRefusal } from '../rows/state-errors.ts'
import { OpenState, StateHandle } from '../rows/open-state.ts'
import { rowHash } from '../rows/row-sum.ts'
import { takeCut } from '../snapshots/state-cut.ts'
import { StateDirectory } from '../state/state-directory.ts'
import { isJustInstalled, removeInstalled, writeInstalled } from '../state/installed-mark.ts'
import { pullInto } from '../snapshots/state-install.ts'
import { type Opened, StateOpening, WHOLE_BYTES_MAX } from '../state/state-opening.ts'
import type { BatchOperation } from '../rows/separated-rows.ts'
import { sealOperations, type StateSeal } from '../rows/state-seal.ts'
import { verifyState } from '../state/state-verification.ts'
import { TableCheck } from '../state/table-check.ts'
import { Turns } from '../rows/turns.ts'

/** Builds of an earlier level know nothing of value files. */
const VALUE_FILES_LEVEL = 4
const NO_ROWS: View = { get: () => undefined }

export interface LevelStateMachineOptions {
  /** Absolute; created when absent. docs/formats/row.md lists what is in it. */
  readonly dir: string
  readonly logger: Logger
  /** The key of the data directory; null or absent: the rows lie in LevelDB as they are. */
  readonly metadataKey?: Uint8Array | null
  /** Called after each durable step of an install, with its name: tests cut the power there. */
  readonly onInstallStep?: (step: string) => void
  /** Absent: WHOLE_BYTES_MAX. */
  readonly wholeBytesMax?: number
}

export class LevelStateMachine implements StateMachine {
  /** Through which readers reach the current state. */
  readonly handle: StateHandle = new StateHandle()
  readonly #directory: StateDirectory
  readonly #cipher: MetadataCipher | null
  readonly #logger: Logger
  readonly #onInstallStep: (step: string) => void
  readonly #wholeBytesMax: number
  #onDamaged: (error: StateDamagedError) => void = () => {}
  /** A damaged state that was in use: it is no longer read, and it is closed when another takes its place. */
  #withdrawn: OpenState | null = null
  #seal: StateSeal | null = null
  /** Commands whose cost was asked for: their apply is next, and decodes them no second time. */
  readonly #decoded = new WeakMap<Uint8Array, Proposal>()
  #isInstalled = false
  #writing = false
  #isClosed = false
  #check: TableCheck | null = null
  #failure: Error | null = null
  /** Writes of the quarantine marker, one after the other. Never rejects. */
  #marking: Promise<void> = Promise.resolve()

  constructor(options: LevelStateMachineOptions) {
    const { dir, logger, onInstallStep = () => {}, wholeBytesMax = WHOLE_BYTES_MAX } = options
    this.#cipher = cipherOf(options.metadataKey, 'rows')
    this.#wholeBytesMax = wholeBytesMax
    this.#directory = new StateDirectory(dir, this.#cipher?.id ?? null)
    this.#logger = logger.child({ component: 'store' })
    this.#onInstallStep = onInstallStep
  }

  async open(onDamaged: (error: StateDamagedError) => void = () => {}): Promise<OpenedState> {
    this.#onDamaged = onDamaged
    const opening = new StateOpening({
      directory: this.#directory,
      cipher: this.#cipher,
      logger: this.#logger,
      wholeBytesMax: this.#wholeBytesMax,
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
    if (opened.unread.size > 0 || opened.isValueUnread) this.#check = this.#checkTables(opened)
    const { path } = this.#directory
    this.#isInstalled = await isJustInstalled(path, basename(opened.state.location))
    return { record: opened.seal.record, fault: null, isInstalled: this.#isInstalled }
  }

  /** True when the tables that were left unread at the start have been read, or there are none. */
  get tablesChecked(): Promise<void> {
    return this.#check?.done ?? Promise.resolve()
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    return await this.#exclusively(async () => {
      this.#assertTrusted()
      const state = this.handle.current
      const view = new BatchView(state)
      const turns = new Turns()
      const replies: (readonly Uint8Array[])[] = []
      for (const entry of batch.entries) replies.push(await this.#decide(view, entry, turns))
      await this.#endInstalled()
      await this.#separate(state, batch)
      await this.#write(state, { view, turns }, batch.record)
      return replies
    })
  }

  /** A state that cannot be read now is not looked up: the estimate is lower then. */
  cost(command: Uint8Array): number {
    const state = this.handle.usable
    const view: View = state === null ? NO_ROWS : { get: (key) => state.read(key) }
    if (command.length === 0) return 0
    const proposal = this.#decode(command)
    this.#decoded.set(command, proposal)
    return commandCost(view, proposal)
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
    // Another read found damage first: the state is already withdrawn or replaced.
    if (fault === null || this.handle.usable !== state) return null
    this.#onDamage(new StateDamagedError(`Cannot trust the state: ${fault}`), state)
    return fault
  }

  async quarantine(why: string): Promise<void> {
    this.#withdraw(new StateDamagedError(`Cannot use the state, it is quarantined: ${why}`))
    await this.#mark(why)
  }

  async checkpoint(): Promise<void> {
    this.#assertTrusted()
    const state = this.handle.current
    await this.#fatal(() => state.lease(() => state.checkpoint()))
    this.#assertTrusted()
  }

  async snapshot(): Promise<StateCut> {
    this.#assertTrusted()
    return takeCut(this.handle.current)
  }

  async install(source: StateSource): Promise<Uint8Array> {
    return await this.#exclusively(async () => {
      const own = this.handle.usable?.db ?? null
      const { incoming, separates } = this.#directory
      await pullInto(incoming, source, { onStep: this.#onInstallStep, separates, cipher: this.#cipher, own })
      assert(!this.#isClosed, 'an install ends before the state is closed')
      const name = await this.#directory.nameIncoming()
      this.#onInstallStep('named')
      const { state, seal } = await this.#openInstalled(name)
      assert(seal.record !== null, 'an installed state has a machine record')
      await this.#switchTo(name, state)
      const old = this.handle.swap(state) ?? this.#withdrawn
      this.#withdrawn = null
      this.#seal = seal
      this.#failure = null
      await this.#retire(old, state)
      this.#logger.info({ state: name }, 'installed a snapshot')
      return seal.record
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const state = this.handle.swap(null) ?? this.#withdrawn
    this.#withdrawn = null
    await this.#check?.stop()
    await this.#marking
    if (state === null) return
    const isClean = this.#failure === null && !this.#writing
    try {
      // Before the files are hashed: a power cut after the stop must find them as they are.
      if (isClean) await state.checkpoint()
    } catch (cause) {
      this.#failure = writeRefusal(cause)
    }
    await state.close()
    if (!isClean || this.#failure !== null) return
    try {
      const values = state.db.rows.files.counts
      await writeCleanStop(this.#directory.path, basename(state.location), { seal: this.#sealed, values })
    } catch (err) {
      this.#logger.warn({ err }, 'clean stop could not be noted: the next start verifies every row')
    }
  }

  #decode(command: Uint8Array): Proposal {
    return this.#decoded.get(command) ?? decodeCommand(command)
  }

  get #sealed(): StateSeal {
    this.#assertTrusted()
    assert(this.#seal !== null, 'the state is used after it was opened')
    return this.#seal
  }

  /** Called when the log knows of the install: before that nothing is applied. */
  async #endInstalled(): Promise<void> {
    if (!this.#isInstalled) return
    await this.#fatal(() => removeInstalled(this.#directory.path))
    this.#isInstalled = false
  }

  /** Large values leave LevelDB once no node of the cluster may be a build any more that cannot follow a pointer. */
  async #separate({ db: { rows }, location }: OpenState, { entries }: ApplyBatch): Promise<void> {
    const level = entries.at(-1)?.featureLevel ?? 0
    if (rows.isOn || level < VALUE_FILES_LEVEL) return
    await this.#fatal(() => this.#directory.separate(basename(location)))
    rows.isOn = true
  }

  /** Other work has its turns between commands; decisions of a batch are not visible before it is written. */
  async #decide(
    view: BatchView,
    entry: ApplyBatch['entries'][number],
    turns: Turns,
  ): Promise<readonly Uint8Array[]> {
    const replies: Uint8Array[] = []
    let touched = view.touched
    for (const reply of applyEntry(view, entry, (command) => this.#decode(command))) {
      replies.push(reply)
      if (turns.isOver(view.touched - touched)) await turns.end()
      touched = view.touched
    }
    return replies
  }

  async #write(
    state: OpenState,
    { view, turns }: { readonly view: BatchView; readonly turns: Turns },
    record: Uint8Array,
  ): Promise<void> {
    const sum = this.#sealed.sum.copy()
    const operations: BatchOperation[] = []
    for (const [name, row] of view.written) {
      const { key, before, after } = view.changeOf(name, row)
      if (before !== null) sum.subtract(rowHash(key, before))
      if (after !== null) sum.add(rowHash(key, after))
      if (after === null) operations.push({ type: 'del', key })
      else operations.push({ type: 'put', key, value: after, isNew: before === null })
      if (turns.isOver(1)) await turns.end()
    }
    // A reader may have found damage during the turns of other work.
    this.#assertTrusted()
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
      separates: this.#directory.separates,
      cipher: this.#cipher,
      onDamage: (error, state) => this.#onDamage(error, state),
    })
    try {
      const seal = state.seal()
      assert(seal !== null, 'an installed state has a seal')
      await state.repairs.load()
      await state.countValues(null)
      await state.checkpoint()
      return { state, seal }
    } catch (cause) {
      await state.close()
      throw new Error('Cannot switch to the installed state: it cannot be read', { cause })
    }
  }

  /** Runs before the new state is read: reports about the old state are void, damage found in the new one is not. */
  async #switchTo(name: string, state: OpenState): Promise<void> {
    try {
      await this.#fatal(async () => {
        await writeInstalled(this.#directory.path, name)
        this.#onInstallStep('noted')
        await this.#directory.makeCurrent(name)
        this.#isInstalled = true
        this.#onInstallStep('made current')
        await this.#marking
        await this.#directory.endQuarantine()
        await removeCleanStop(this.#directory.path)
        this.#onInstallStep('trusted again')
      })
    } catch (error) {
      await state.close()
      throw error
    }
  }

  /** The new state is already in place: the next start tidies what fails here. */
  async #retire(old: OpenState | null, current: OpenState): Promise<void> {
    try {
      await this.#check?.stop()
      this.#check = null
      await old?.close()
      await current.removeNotes()
      await this.#directory.removeAllBut(basename(current.location))
      this.#onInstallStep('old state removed')
    } catch (err) {
      this.#logger.warn({ err }, 'old state could not be removed')
    }
  }

  /** For the state in use; while one is being opened or installed the caller handles damage. Reported once: then it is no longer in use. */
  #onDamage(error: StateDamagedError, state: OpenState): void {
    if (this.handle.usable !== state) return
    this.#logger.error({ err: error }, 'state is damaged')
    this.#withdraw(error)
    // A failure shows when the node, which is notified now, marks the state as well.
    void this.#mark(error.message).catch(() => {})
    this.#onDamaged(error)
  }

  /** From here on it is neither read nor applied to. */
  #withdraw(damage: StateDamagedError): void {
    this.#failure ??= damage
    this.#withdrawn ??= this.handle.swap(null, damage.message)
  }

  #checkTables({ state, unread: tables, isValueUnread }: Opened): TableCheck {
    const onFault = (fault: string): void =>
      this.#onDamage(new StateDamagedError(`Cannot trust the state: ${fault}`), state)
    const values = isValueUnread ? state.db.rows : null
    return new TableCheck({ location: state.location, tables, values, logger: this.#logger, onFault })
  }

  #mark(why: string): Promise<void> {
    const marked = this.#marking.then(() => this.#directory.quarantine(why))
    this.#marking = marked.catch(() => {})
    return marked
  }

  #assertTrusted(): void {
    if (this.#failure instanceof StateDamagedError) throw this.#failure
  }

  /** A write: when it fails, its outcome on disk is uncertain. Damage that it found is handled otherwise: the state is replaced. */
  async #fatal(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      if (cause instanceof StateDamagedError) throw cause
      this.#failure = writeRefusal(cause)
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
