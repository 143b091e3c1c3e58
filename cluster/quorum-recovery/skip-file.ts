/**
 * The entries that this data directory skips by an order of the operator: `skipped-entries.json`, from the first order on.
 *
 * Layout: docs/formats/recovery.md. Rules: an order is durable before the node is started, and stays: it concerns exactly one entry;
 * a damaged file refuses the start, because a node that forgot an order stops at the entry, and a node that skips another entry would
 * have another state than the others.
 */
import { join } from 'node:path'
import type { EntrySkip } from '../node/base/entry-skips.ts'
import type { LogIndex } from '../raft/types.ts'
import { StartError } from '../base/types.ts'
import { readRecord, writeRecord } from './record-file.ts'

const FORMAT = 1
const FILE = 'skipped-entries.json'
/** Limit of orders in the file. Orders whose entry is already applied are dropped first. */
export const SKIPS_MAX = 64

export class SkipFile {
  readonly #path: string
  readonly #clusterId: string
  #skips: readonly EntrySkip[]

  private constructor(path: string, clusterId: string, skips: readonly EntrySkip[]) {
    this.#path = path
    this.#clusterId = clusterId
    this.#skips = skips
  }

  /** Throws StartError `damaged_skips`. */
  static open(dataDir: string, clusterId: string): SkipFile {
    const path = join(dataDir, FILE)
    try {
      return new SkipFile(path, clusterId, skipsIn(readRecord(path), clusterId))
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  /** In the order of their entries. */
  get skips(): readonly EntrySkip[] {
    return this.#skips
  }

  /** Durable when it returns. If the file is full, orders at or below `appliedIndex` are dropped. Throws StartError. */
  add(skip: EntrySkip, appliedIndex: LogIndex): void {
    const skips = [...this.#skips, skip].toSorted((one, other) => one.index - other.index)
    const spare = skips.length - SKIPS_MAX
    const done = skips.filter(({ index }) => index <= appliedIndex).slice(0, Math.max(0, spare))
    if (done.length < spare) throw full(this.#path)
    const kept = skips.filter((one) => !done.includes(one))
    writeRecord(this.#path, { format: FORMAT, clusterId: this.#clusterId, skips: kept.map(toJson) })
    this.#skips = kept
  }
}

function toJson({ planId, index, term, digest, command }: EntrySkip): object {
  return { planId, index, term, digest, command: Buffer.from(command).toString('base64') }
}

/** Throws for any record that SkipFile did not write. */
function skipsIn(record: unknown, clusterId: string): readonly EntrySkip[] {
  if (record === null) return []
  const { format, skips, ...written } = record as Written
  if (format !== FORMAT) throw new Error('The format is unknown')
  if (written.clusterId !== clusterId) throw new Error(`The file belongs to cluster "${written.clusterId}"`)
  return skips.map(({ planId, index, term, digest, command }) => {
    return { planId, index, term, digest, command: Buffer.from(command, 'base64') }
  })
}

interface Written {
  readonly format: unknown
  readonly clusterId: string
  readonly skips: readonly (Omit<EntrySkip, 'command'> & { readonly command: string })[]
}

function unreadable(path: string, cause: unknown): StartError {
  return new StartError('damaged_skips', `Cannot start: ${path} cannot be understood`, {
    cause,
    hint: 'Copy this file from another node of the cluster: it is the same on all nodes that skip the same entries. See deploy/runbooks/skip-entry.md.',
  })
}

function full(path: string): StartError {
  return new StartError(
    'too_many_skips',
    `Cannot skip one more entry: ${path} holds ${SKIPS_MAX} that are not applied`,
    {
      hint: 'Start the nodes so that they apply the entries that are skipped already, or start a version that can apply them.',
    },
  )
}
