/**
 * Which of the directories `state-<n>` is the state, and whether it may be used: the marker files beside them decide.
 *
 * Owns: the pointer, the quarantine, the numbering, and the removal of files that a crash left behind. Knows nothing of: rows.
 * Rules: the pointer is switched by rename between two fsyncs, after what it points to is durable and verified. A
 * missing pointer beside states is damage, never a fresh start.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError, syncDirectory } from '../../../cluster/index.ts'
import { readMarker, removeMarker, writeMarker } from './marker-file.ts'

/** Of rows, markers and layout together. 1 had no checksum over all rows, 2 no versions, 3 a row for each part of an upload, 4 no rows of locked versions and no lists of keys, 5 no value files. */
export const STATE_FORMAT = 6
/** The same without value files: a build that knows no later format may still open it. A state is of this format until its first value leaves LevelDB. */
export const PLAIN_STATE_FORMAT = 5
/** Everything in it is sealed with a metadata key: builds that know no such key refuse it. */
export const SEALED_STATE_FORMAT = 7
/** Those that this build opens. */
export const STATE_FORMATS: ReadonlySet<unknown> = new Set([
  PLAIN_STATE_FORMAT,
  STATE_FORMAT,
  SEALED_STATE_FORMAT,
])

export const POINTER = 'CURRENT'
/** Exists from before the first state is made until the pointer names it. */
const CREATING = 'CREATING'
export const QUARANTINED = 'DISTRUSTED'
const INCOMING = 'incoming'
const NAME = /^state-([1-9][0-9]{0,14})$/
const FIRST_FORMAT = /^state-[1-9][0-9]*\n?$/
const DRAFT = /\.new$/

/** The content of the directory. */
export type Found =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'state'; readonly name: string }
  /** `name`: of the quarantined state, if it is known. */
  | { readonly kind: 'fault'; readonly name: string | null; readonly fault: string }

export class StateDirectory {
  readonly #dir: string
  /** Of the metadata key; null: states are not sealed. */
  readonly #keyId: string | null
  #format: number

  constructor(dir: string, keyId: string | null = null) {
    this.#dir = dir
    this.#keyId = keyId
    this.#format = keyId === null ? PLAIN_STATE_FORMAT : SEALED_STATE_FORMAT
  }

  get path(): string {
    return this.#dir
  }

  /** Whether values may lie beside LevelDB. */
  get separates(): boolean {
    return this.#format >= STATE_FORMAT
  }

  /** From here on values may lie beside LevelDB, and only builds that know it open the state. Durable when it resolves. */
  async separate(current: string): Promise<void> {
    await writeMarker(this.#dir, POINTER, { format: STATE_FORMAT, state: current })
    this.#format = STATE_FORMAT
  }

  locationOf(name: string): string {
    return join(this.#dir, name)
  }

  /** Where an install gathers rows until they are a state. */
  get incoming(): string {
    return this.locationOf(INCOMING)
  }

  /** Creates the directory. Throws StartError when it cannot be read, or was written in a format of another build. */
  async status(): Promise<Found> {
    try {
      await mkdir(this.#dir, { recursive: true })
      const pointer = await this.#pointer()
      if (pointer.kind !== 'state') return pointer
      const fault = await this.#quarantined(pointer.name)
      return fault === null ? pointer : { kind: 'fault', name: pointer.name, fault }
    } catch (cause) {
      if (cause instanceof StartError) throw cause
      throw this.unusable('it cannot be read', cause)
    }
  }

  unusable(what: string, cause?: unknown): StartError {
    const hint = `Let this user read and write ${this.#dir}, make room on its disk, and start the node again.`
    return new StartError('state_unusable', `Cannot open the state in ${this.#dir}: ${what}`, { hint, cause })
  }

  /** The first state is about to be made; after a crash before `makeCurrent` the start begins again. */
  async beginFirst(): Promise<string> {
    await writeMarker(this.#dir, CREATING, { format: this.#format })
    await this.removeAllBut(null)
    return 'state-1'
  }

  /** Durable when it resolves. If it throws, either state may be current after a restart. */
  async makeCurrent(name: string): Promise<void> {
    await syncDirectory(this.locationOf(name))
    const sealed = this.#keyId === null ? {} : { metadataKey: this.#keyId }
    await writeMarker(this.#dir, POINTER, { format: this.#format, state: name, ...sealed })
    await removeMarker(this.#dir, CREATING)
  }

  /** Gives the gathered rows the name of a state. It is not the current one yet. */
  async nameIncoming(): Promise<string> {
    const name = `state-${(await this.#highest()) + 1}`
    await rename(this.incoming, this.locationOf(name))
    await syncDirectory(this.#dir)
    return name
  }

  /** A state that got its name and never became current becomes gathered rows again: they need not be transferred again. */
  async unnameUnfinished(current: string): Promise<void> {
    const later = (await this.#states()).filter((name) => numberOf(name) > numberOf(current))
    const [name] = later
    if (name === undefined || later.length > 1 || (await exists(this.incoming))) return
    await rename(this.locationOf(name), this.incoming)
    await syncDirectory(this.#dir)
  }

  /** Quarantines every state that exists now, not later ones. */
  async quarantine(why: string): Promise<void> {
    await writeMarker(this.#dir, QUARANTINED, { through: await this.#highest(), why })
  }

  /** Once a newer state is current, the quarantine of older ones is void. */
  async endQuarantine(): Promise<void> {
    await removeMarker(this.#dir, QUARANTINED)
  }

  async remove(location: string): Promise<void> {
    await rm(location, { recursive: true, force: true })
  }

  /** Old states whose removal was cut short, and drafts of markers. Returns their names. */
  async removeAllBut(current: string | null): Promise<readonly string[]> {
    const names = await readdir(this.#dir)
    const leftovers = names.filter((name) => name !== current && (NAME.test(name) || DRAFT.test(name)))
    for (const name of leftovers) await this.remove(this.locationOf(name))
    return leftovers
  }

  async #pointer(): Promise<Found> {
    const pointer = await readMarker(this.#dir, POINTER)
    if (pointer.found === 'nothing') return await this.#withoutPointer()
    if (pointer.found === 'damaged') {
      if (FIRST_FORMAT.test(pointer.text)) throw this.#foreign(1)
      return { kind: 'fault', name: null, fault: `${POINTER} is damaged` }
    }
    const { format, state, metadataKey } = pointer.value
    if (!STATE_FORMATS.has(format)) throw this.#foreign(format)
    if (typeof state !== 'string' || !NAME.test(state)) throw this.#foreign(format)
    requireKey(this.#dir, format === SEALED_STATE_FORMAT ? String(metadataKey) : null, this.#keyId)
    this.#format = Number(format)
    return { kind: 'state', name: state }
  }

  async #withoutPointer(): Promise<Found> {
    const isStarted = (await readMarker(this.#dir, CREATING)).found !== 'nothing'
    if (isStarted || (await this.#states()).length === 0) return { kind: 'fresh' }
    return { kind: 'fault', name: null, fault: `${POINTER} is missing although there are states` }
  }

  async #quarantined(name: string): Promise<string | null> {
    const marker = await readMarker(this.#dir, QUARANTINED)
    if (marker.found === 'nothing') return null
    if (marker.found === 'damaged') return `it was quarantined before, and ${QUARANTINED} is damaged`
    const { through, why } = marker.value
    return Number(through) >= numberOf(name) ? String(why) : null
  }

  async #states(): Promise<readonly string[]> {
    return (await readdir(this.#dir)).filter((name) => NAME.test(name))
  }

  async #highest(): Promise<number> {
    return Math.max(0, ...(await this.#states()).map(numberOf))
  }

  #foreign(format: unknown): StartError {
    const message = `Cannot open the state in ${this.#dir}: it has format ${String(format)}, this build has ${STATE_FORMAT}`
    return new StartError('state_format_foreign', message, {
      hint: 'Start the build that wrote it; or, with the other nodes up, move it away and let this node fetch it again.',
    })
  }
}

/** `found`: the key that the state is sealed with; null: it is not. */
function requireKey(dir: string, found: string | null, expected: string | null): void {
  if (found === expected) return
  const which =
    found === null
      ? 'it is not sealed, and this data directory has a metadata key'
      : expected === null
        ? 'it is sealed, and this data directory has no metadata key'
        : `it is sealed with metadata key ${found}, this data directory has ${expected}`
  throw new StartError('metadata_key_mismatch', `Cannot open the state in ${dir}: ${which}`, {
    hint: 'Put back the files metadata-key and state of this data directory as they belong together; or, with the other nodes up, move the whole data directory away and let this node join again. Nothing was changed.',
  })
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0)
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return false
    throw cause
  }
}
