/**
 * How many copies each member holds, and of how many chunks it holds the only one, counted from the rows.
 *
 * Owns: the last count of this node and its age. Knows nothing of: members, disks. Rules: a caller waits a moment and no longer; a
 * count begins at the earliest when REST times as long as the last one took has passed, so it never costs more than a small part of
 * a processor, regardless of how many callers there are.
 */
import type { Logger } from '../../../cluster/index.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { Page, RowReader } from '../../store/reads/state-reader.ts'
import { chunkRanges } from '../../state-machine/chunks/keys.ts'

export interface HeldCopies {
  readonly replicas: number
  readonly bytes: number
  /** Chunks without another listed copy. */
  readonly lastCopies: number
}

export interface ReplicaCounts {
  /** By node; a node that holds nothing is absent. */
  readonly held: ReadonlyMap<string, HeldCopies>
  /** Its end, ms since 1970. Each chunk was looked at once, as it was at some moment of the count. */
  readonly countedAt: number
}

export interface ReplicaCounterParts {
  readonly state: Pick<RowReader, 'page'>
  /** ms since 1970 */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  readonly logger: Logger
}

const PAGE = 1_000
/** Enough for some ten thousand chunks. */
const WAIT_MS = 250
const REST = 50

export class ReplicaCounter {
  readonly #parts: ReplicaCounterParts
  #last: ReplicaCounts | null = null
  #counting: Promise<void> | null = null
  #restsUntil = 0

  constructor(parts: ReplicaCounterParts) {
    this.#parts = parts
  }

  /** The latest that is there within a moment; null: nothing was counted yet, or the rows cannot be read. */
  async look(): Promise<ReplicaCounts | null> {
    const { now, wait } = this.#parts
    if (this.#counting === null && now() >= this.#restsUntil) this.#counting = this.#count()
    if (this.#counting !== null) await Promise.race([this.#counting, wait(WAIT_MS)])
    return this.#last
  }

  /** A count that fails leaves the last one, with its age. */
  async #count(): Promise<void> {
    const { state, now } = this.#parts
    const startedAt = now()
    try {
      const held = new Map<string, Counting>()
      for (let after: string | null = ''; after !== null; ) {
        const page: Page<ChunkRecord> = await state.page(chunkRanges.chunks(), {
          after,
          limit: PAGE,
        })
        for (const chunk of page.items) take(held, chunk)
        after = page.next
      }
      this.#last = { held, countedAt: now() }
    } catch (err) {
      // The state is being replaced, or closed: the caller sees how old the last count is.
      this.#parts.logger.warn({ err }, 'copies of the members not counted')
    } finally {
      this.#counting = null
      this.#restsUntil = now() + REST * (now() - startedAt)
    }
  }
}

type Counting = { -readonly [F in keyof HeldCopies]: HeldCopies[F] }

function take(
  held: Map<string, Counting>,
  { replicas, sealedSize }: Pick<ChunkRecord, 'replicas' | 'sealedSize'>,
): void {
  for (const node of replicas) {
    const figures = held.get(node) ?? { replicas: 0, bytes: 0, lastCopies: 0 }
    figures.replicas++
    figures.bytes += sealedSize
    if (replicas.length === 1) figures.lastCopies++
    held.set(node, figures)
  }
}
