/**
 * Opens the state that a stop left on disk, or finds the reason why it may not be used.
 *
 * Owns: which checks are due, and the quarantine of a state that fails one. Knows nothing of: applying, installing.
 * Rules: damage is never thrown, and a state with a fault keeps it until an install replaces it. Only errors that are independent
 * of the state are thrown: files that cannot be reached, another process, another format.
 */
import { StartError, type Logger, type MetadataCipher } from '../../../cluster/index.ts'
import { changedSince, type CleanStop, faultInSeal, readCleanStop, removeCleanStop } from './clean-stop.ts'
import { damageIn, hasReadError, isLocked, isRefusal, reasonOf } from '../rows/state-errors.ts'
import { checkFiles, type FileCheck } from '../level/level-files.ts'
import { cutTornLogs } from '../level/level-tail.ts'
import { type OnDamage, OpenState } from '../rows/open-state.ts'
import { RowSum } from '../rows/row-sum.ts'
import type { StateDirectory } from './state-directory.ts'
import { sealOperations, type StateSeal } from '../rows/state-seal.ts'
import { verifyState } from './state-verification.ts'

export interface StateOpeningParts {
  readonly directory: StateDirectory
  readonly cipher: MetadataCipher | null
  readonly logger: Logger
  readonly onDamage: OnDamage
  /** Of tables that are read whole before the state is opened after a clean stop. Bytes. */
  readonly wholeBytesMax: number
}

interface Fault {
  readonly fault: string
  /** The disk failed to read the files. */
  readonly isUnreadable?: boolean
}

/** About 600,000 objects, and half a second of an SSD. */
export const WHOLE_BYTES_MAX: number = 256 * 1024 * 1024

export type Opening = Opened | Fault

export interface Opened {
  readonly state: OpenState
  readonly seal: StateSeal
  /** Tables whose rows were not read yet, file number to size (table-check.ts). */
  readonly unread: ReadonlyMap<number, number>
  /** No value file was read yet. */
  readonly isValueUnread: boolean
}

export class StateOpening {
  readonly #parts: StateOpeningParts

  constructor(parts: StateOpeningParts) {
    this.#parts = parts
  }

  /** Throws StartError. */
  async open(): Promise<Opening> {
    const { directory, logger } = this.#parts
    const status = await directory.status()
    if (status.kind === 'fresh') return await this.#create()
    const { name } = status
    if (name !== null) await directory.unnameUnfinished(name)
    if (status.kind === 'fault') return { fault: status.fault }
    const opening = await this.#openAt(status.name)
    if ('fault' in opening) {
      // A disk that cannot be read does not prove damage of the rows: the next start may find them whole.
      if (opening.isUnreadable !== true) await directory.quarantine(opening.fault)
      return opening
    }
    // Only now: if the pointer were wrong, the leftovers would be the only state.
    const leftovers = await directory.removeAllBut(name)
    if (leftovers.length > 0) logger.info({ leftovers }, 'removed old states')
    return opening
  }

  async #create(): Promise<Opening> {
    const { directory, cipher, onDamage } = this.#parts
    const name = await directory.beginFirst()
    const location = directory.locationOf(name)
    try {
      const { separates } = directory
      const state = await OpenState.open({ location, create: true, separates, cipher, onDamage })
      const seal = { record: null, sum: new RowSum() }
      // From here on a state without a checksum row is a damaged one.
      await state.write(sealOperations(seal))
      await state.countValues(null)
      await state.checkpoint()
      await directory.makeCurrent(name)
      return { state, seal, unread: new Map(), isValueUnread: false }
    } catch (cause) {
      throw directory.unusable('a first one cannot be made', cause)
    }
  }

  async #openAt(name: string): Promise<Opening> {
    const { directory } = this.#parts
    const stop = await readCleanStop(directory.path, name)
    const { fault, unread, isUnreadable = false } = await this.#checkFiles(name, stop)
    if (fault !== null) return { fault, isUnreadable }
    // From here on a crash is an unclean stop.
    await removeCleanStop(directory.path)
    const state = await this.#openExisting(name)
    if ('fault' in state) return state
    const checked = await this.#checked(state, { stop, unread })
    if ('fault' in checked) await state.close()
    return checked
  }

  /**
   * Before LevelDB opens them: it may do anything with a damaged file, including end the process. After a clean stop a
   * large state is not read whole: a bit that has flipped in its rows since then is treated like one that flips while the node runs.
   */
  async #checkFiles(name: string, stop: CleanStop | null): Promise<FileCheck & Pick<Fault, 'isUnreadable'>> {
    const { directory, wholeBytesMax } = this.#parts
    const location = directory.locationOf(name)
    const none = new Map<number, number>()
    try {
      const changed = stop === null ? null : await changedSince(stop, location)
      if (changed !== null) return { fault: changed, unread: none }
      if (stop === null) await this.#cut(location)
      return await checkFiles(location, stop === null ? Infinity : wholeBytesMax)
    } catch (error) {
      const damage = damageIn(error)
      if (damage === null) throw directory.unusable(`${name} cannot be read`, error)
      return { fault: damage.message, unread: none, isUnreadable: hasReadError(error) }
    }
  }

  /** A power cut may have taken any part of what was not flushed: the log of the group holds it, and it is applied again. */
  async #cut(location: string): Promise<void> {
    const cut = await cutTornLogs(location)
    if (cut !== null) this.#parts.logger.warn(cut, 'end of the state was not whole, and is applied again')
  }

  async #openExisting(name: string): Promise<OpenState | { readonly fault: string }> {
    const { directory, cipher, onDamage } = this.#parts
    try {
      const location = directory.locationOf(name)
      const { separates } = directory
      return await OpenState.open({ location, create: false, separates, cipher, onDamage })
    } catch (cause) {
      if (isLocked(cause)) throw locked(directory.path, cause)
      if (isRefusal(cause)) throw directory.unusable(`${name} cannot be opened`, cause)
      return { fault: `LevelDB cannot open ${name}: ${reasonOf(cause)}` }
    }
  }

  async #checked(
    state: OpenState,
    { stop, unread }: Pick<Opened, 'unread'> & { readonly stop: CleanStop | null },
  ): Promise<Opening> {
    try {
      const seal = state.seal()
      if (seal === null) return { fault: 'its checksum row is missing' }
      const fault = stop === null ? await this.#verify(state) : faultInSeal(seal, stop)
      if (fault !== null) return { fault }
      await state.repairs.load()
      await state.removeNotes()
      await state.countValues(stop?.values ?? null)
      await state.checkpoint()
      return { state, seal, unread, isValueUnread: stop !== null && !state.db.rows.files.isEmpty }
    } catch (error) {
      const damage = damageIn(error)
      if (damage !== null) return { fault: damage.message }
      await state.close()
      throw this.#parts.directory.unusable('it cannot be read', error)
    }
  }

  async #verify(state: OpenState): Promise<string | null> {
    const { logger } = this.#parts
    logger.info({ location: state.location }, 'stop was not clean: every row of the state is verified')
    const fault = await verifyState(state, (rows) => logger.info({ rows }, 'state is being verified'))
    if (fault === null) logger.info({}, 'state is verified')
    return fault
  }
}

function locked(path: string, cause: unknown): StartError {
  return new StartError('state_locked', `Cannot open the state in ${path}: another process has it open`, {
    hint: 'Stop the other process. One data directory belongs to one node.',
    cause,
  })
}
