/**
 * Copies that may be leftovers: written by this process, and not settled by any row yet.
 *
 * Owns: which names these are, and when each is due for a check. Knows nothing of: rows, disks.
 * Rules: a name stays until the caller settles it. A name that does not fit is never dropped silently: `isFull` says that only a walk
 * over the disk finds it.
 */
import { fileNameOf } from '../blobs/base/blob-name.ts'
import type { BlobName } from '../base/types.ts'

/** About 20 MB of names. */
const NAMES_MAX = 65_536
/** A check costs a few row lookups. An upload commits within seconds; one whose session no client ends may wait for days. */
const FIRST_LOOK_MS = 10_000
const LOOK_MS_MAX = 3_600_000

interface Candidate {
  readonly name: BlobName
  dueAt: number
  waitMs: number
  isPinned: boolean
}

export class FreshCopies {
  readonly #max: number
  /** In the order in which they were added. */
  readonly #candidates = new Map<string, Candidate>()
  #isFull = false

  constructor(max: number = NAMES_MAX) {
    this.#max = max
  }

  /** At least one name did not fit since `begin`. */
  get isFull(): boolean {
    return this.#isFull
  }

  get names(): readonly BlobName[] {
    return [...this.#candidates.values()].map(({ name }) => name)
  }

  /** Call when a walk over the disk starts: it finds the names that did not fit until now. */
  begin(): void {
    this.#isFull = false
  }

  /** Call for a copy that is being written, or that was found and is not settled. */
  add(name: BlobName, now: number): void {
    const key = fileNameOf(name)
    if (this.#candidates.has(key)) return
    if (this.#candidates.size >= this.#max) {
      this.#isFull = true
      return
    }
    const { id, birth } = name
    this.#candidates.set(key, {
      name: { id, birth },
      dueAt: now + FIRST_LOOK_MS,
      waitMs: FIRST_LOOK_MS,
      isPinned: false,
    })
  }

  /** Names that are due, at most `limit`; each is due again later, after a wait twice as long. */
  due(now: number, limit: number): readonly BlobName[] {
    const due: BlobName[] = []
    for (const candidate of this.#candidates.values()) {
      if (due.length >= limit) break
      if (candidate.dueAt > now) continue
      candidate.waitMs = Math.min(LOOK_MS_MAX, 2 * candidate.waitMs)
      candidate.dueAt = now + candidate.waitMs
      due.push(candidate.name)
    }
    return due
  }

  /** Call before the drop row of a copy is ended. Until `unpin` no row settles the name, because a late end may remove a later drop row. */
  pin(name: BlobName, now: number): void {
    this.add(name, now)
    const candidate = this.#candidates.get(fileNameOf(name))
    if (candidate !== undefined) candidate.isPinned = true
  }

  /** Call when the end of the drop row is applied: the copy is checked once more. */
  unpin(name: BlobName, now: number): void {
    const candidate = this.#candidates.get(fileNameOf(name))
    if (candidate === undefined) return
    candidate.isPinned = false
    candidate.waitMs = FIRST_LOOK_MS
    candidate.dueAt = now + FIRST_LOOK_MS
  }

  /** Call when the copy is gone, or a row counts on it: from here on only a drop row ends it. */
  settle(name: BlobName): void {
    const key = fileNameOf(name)
    if (this.#candidates.get(key)?.isPinned === false) this.#candidates.delete(key)
  }
}
