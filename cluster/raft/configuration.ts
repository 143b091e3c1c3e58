/**
 * The members of the group, according to the log.
 *
 * Owns: the bytes of a configuration entry and the history of configurations in the log.
 * Knows nothing of: progress, votes, addresses.
 * Rule: the latest configuration in the log is in force, committed or not [thesis 4.1]; truncating the log brings the
 * one before it back.
 *
 * Bytes: version, then three lists (voters, learners, outgoing). A list is a count, a string is a count of UTF-16
 * code units and the units; every number has two bytes, the high one first. In version 2 a note of the driver follows the lists.
 */
import { assert } from './assert.ts'
import type { Configuration, Entry, LogIndex, NodeId } from './types.ts'

const FORMAT_VERSION = 1
const FORMAT_VERSION_WITH_NOTE = 2
const UINT16_MAX = 0xffff

/** `note`: opaque to the core, for the state machine that applies the entry. */
export function encodeConfiguration(
  configuration: Configuration,
  note: Uint8Array | null = null,
): Uint8Array {
  const bytes: number[] = [note === null ? FORMAT_VERSION : FORMAT_VERSION_WITH_NOTE]
  const write = (value: number): void => {
    assert(value <= UINT16_MAX, 'a configuration number has two bytes')
    bytes.push(value >>> 8, value & 0xff)
  }
  for (const list of [configuration.voters, configuration.learners, configuration.outgoing]) {
    write(list.length)
    for (const nodeId of list) {
      write(nodeId.length)
      for (let i = 0; i < nodeId.length; i += 1) write(nodeId.charCodeAt(i))
    }
  }
  return Uint8Array.from(note === null ? bytes : [...bytes, ...note])
}

export function decodeConfiguration(data: Uint8Array): Configuration {
  return decodeNoted(data).configuration
}

/** Null: the entry carries no note. */
export function noteOf(data: Uint8Array): Uint8Array | null {
  return decodeNoted(data).note
}

interface Noted {
  readonly configuration: Configuration
  readonly note: Uint8Array | null
}

function decodeNoted(data: Uint8Array): Noted {
  const isNoted = data[0] === FORMAT_VERSION_WITH_NOTE
  assert(isNoted || data[0] === FORMAT_VERSION, `configuration format ${data[0] ?? 'none'} is unknown`)
  let offset = 1
  const read = (): number => {
    const [high, low] = [data[offset], data[offset + 1]]
    assert(high !== undefined && low !== undefined, 'configuration bytes end too early')
    offset += 2
    return high * 256 + low
  }
  const readString = (): NodeId => {
    let text = ''
    for (let left = read(); left > 0; left -= 1) text += String.fromCharCode(read())
    return text
  }
  const readList = (): readonly NodeId[] => {
    const list: NodeId[] = []
    for (let left = read(); left > 0; left -= 1) list.push(readString())
    return list
  }
  const configuration = { voters: readList(), learners: readList(), outgoing: readList() }
  assert(isNoted || offset === data.length, 'bytes follow the configuration')
  return { configuration, note: isNoted ? data.slice(offset) : null }
}

/** All members that receive the log, without duplicates. */
export function membersOf(configuration: Configuration): readonly NodeId[] {
  return [...new Set([...configuration.voters, ...configuration.outgoing, ...configuration.learners])]
}

/** A member of either half votes, campaigns and counts [thesis 4.3]. */
export function isVoter(configuration: Configuration, nodeId: NodeId): boolean {
  return configuration.voters.includes(nodeId) || configuration.outgoing.includes(nodeId)
}

/** A change of more than one vote is under way [thesis 4.3]. */
export function isJoint(configuration: Configuration): boolean {
  return configuration.outgoing.length > 0
}

interface Step {
  readonly index: LogIndex
  readonly configuration: Configuration
}

export class ConfigurationHistory {
  /** Rising indexes. The first is in force at the applied index, the last is in force for counting. */
  #steps: [Step, ...Step[]]

  /** `index`: of the entry that brought the configuration; 0 for the initial configuration of the group. */
  constructor(index: LogIndex, configuration: Configuration) {
    this.#steps = [{ index, configuration }]
  }

  /** The index of the entry that brought `current`. */
  get index(): LogIndex {
    return (this.#steps.at(-1) ?? this.#steps[0]).index
  }

  get current(): Configuration {
    return (this.#steps.at(-1) ?? this.#steps[0]).configuration
  }

  /** The configuration that a snapshot may carry: it is never an uncommitted one. */
  get applied(): Configuration {
    return this.#steps[0].configuration
  }

  /** The configuration in force at `index`, and all that were appended after it. */
  since(index: LogIndex): readonly Configuration[] {
    const later = this.#steps.findIndex((step) => step.index > index)
    return this.#steps.slice(later < 0 ? -1 : Math.max(0, later - 1)).map((step) => step.configuration)
  }

  appended(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind !== 'configuration') continue
      this.#steps.push({ index: entry.index, configuration: decodeConfiguration(entry.data) })
    }
  }

  truncatedFrom(index: LogIndex): void {
    assert(this.#steps[0].index < index, 'an applied configuration cannot be truncated')
    const [first, ...later] = this.#steps
    this.#steps = [first, ...later.filter((step) => step.index < index)]
  }

  appliedTo(index: LogIndex): void {
    for (let next = this.#steps[1]; next !== undefined && next.index <= index; next = this.#steps[1]) {
      this.#steps = [next, ...this.#steps.slice(2)]
    }
  }

  /** A snapshot replaced the log. */
  restart(index: LogIndex, configuration: Configuration): void {
    this.#steps = [{ index, configuration }]
  }
}
