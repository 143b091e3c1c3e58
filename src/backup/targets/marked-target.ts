/**
 * A target with a marker: before anything else it is looked whether the place is the one that was set.
 *
 * Owns: the marker. Knows nothing of: what else is stored. Rule: a directory that is not mounted, or another disk under the same path, has no marker, so it
 * is refused and not filled; the same holds for a bucket that was emptied or made again.
 */
import { randomUUID } from 'node:crypto'
import {
  type BackupTarget,
  TargetCorrupt,
  type TargetEntry,
  type TargetRange,
  TargetRefused,
} from './target.ts'

const PROBE_BYTES = 64

const markerName = (markerId: string): string => `target-${markerId}`

export class MarkedTarget implements BackupTarget {
  readonly #inner: BackupTarget
  readonly #markerId: string
  readonly #name: string
  #isKnown = false

  /** `name`: of the target, for messages. */
  constructor(inner: BackupTarget, { name, markerId }: { readonly name: string; readonly markerId: string }) {
    this.#inner = inner
    this.#name = name
    this.#markerId = markerId
  }

  get description(): string {
    return `${this.#name} (${this.#inner.description})`
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    await this.#find()
    await this.#inner.put(name, bytes, size)
  }

  async *get(name: string, range?: TargetRange): AsyncIterable<Uint8Array> {
    await this.#find()
    yield* this.#inner.get(name, range)
  }

  async head(name: string): Promise<number | undefined> {
    await this.#find()
    return this.#inner.head(name)
  }

  async *list(prefix: string): AsyncIterable<TargetEntry> {
    await this.#find()
    yield* this.#inner.list(prefix)
  }

  async remove(name: string): Promise<void> {
    await this.#find()
    await this.#inner.remove(name)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #find(): Promise<void> {
    if (this.#isKnown) return
    if ((await this.#inner.head(markerName(this.#markerId))) === undefined)
      throw new TargetRefused(
        `${this.description} is not the place that was set as backup target "${this.#name}": its marker is missing; mount the right file system on each node, or set the target again if its place was emptied on purpose`,
      )
    this.#isKnown = true
  }
}

export async function mark(target: BackupTarget, markerId: string): Promise<void> {
  const text = Buffer.from(`A backup target of Holdfast. Do not remove this file.\n`)
  await target.put(markerName(markerId), once(text), text.length)
}

/** Writes, reads back, lists and removes: what a backup and its removal need. Throws TargetError. */
export async function probe(target: BackupTarget): Promise<void> {
  const name = `probe-${randomUUID()}`
  const bytes = Buffer.from(randomUUID().padEnd(PROBE_BYTES, '.'))
  await target.put(name, once(bytes), bytes.length)
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of target.get(name)) pieces.push(Uint8Array.from(piece))
    if (!Buffer.concat(pieces).equals(bytes))
      throw new TargetCorrupt(`${target.description} gives back other bytes than were written to it`)
    let isListed = false
    for await (const entry of target.list(name)) isListed ||= entry.name === name
    if (!isListed) throw new TargetCorrupt(`${target.description} does not list what it has just taken`)
  } finally {
    await target.remove(name)
  }
  if ((await target.head(name)) !== undefined)
    throw new TargetCorrupt(`${target.description} keeps what was removed from it`)
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
