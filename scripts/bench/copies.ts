/**
 * Copies of blobs in memory, for benchmarks that do not measure disks.
 *
 * Owns: the bytes. Rule: a read returns the written bytes.
 */
import type { BlobCopy, BlobReading, BlobRef, Blobs, BlobToWrite, WrittenBlob } from '../../cluster/index.ts'

export class CopiesInMemory implements Omit<Blobs, 'nextSession'> {
  readonly copiesToAck = 2
  /** The bytes of one copy of each blob. */
  bytes = 0
  readonly #nodes: readonly string[]
  readonly #held = new Map<string, Buffer>()

  constructor(copies: number) {
    this.#nodes = Array.from({ length: copies }, (_, n) => `n${n + 1}`)
  }

  get blobs(): number {
    return this.#held.size
  }

  async write({ id, birth, bytes }: BlobToWrite): Promise<WrittenBlob> {
    this.#held.set(`${id}.${birth}`, Buffer.from(bytes))
    this.bytes += bytes.length
    return { replicas: this.#nodes, missing: [] }
  }

  *copies(ref: BlobRef): Iterable<BlobCopy> {
    for (const nodeId of ref.replicas) yield { nodeId, read: (start, end) => this.#pieces(ref, start, end) }
  }

  reading(ref: BlobRef): BlobReading {
    const copies = [...this.copies(ref)]
    return {
      faults: [],
      next: async (start, end) => {
        const copy = copies.shift()
        return copy === undefined ? null : { copy, pieces: copy.read(start, end) }
      },
    }
  }

  report(): void {}

  async *#pieces({ id, birth }: BlobRef, start: number, end: number): AsyncGenerator<Uint8Array> {
    const bytes = this.#held.get(`${id}.${birth}`)
    if (bytes === undefined) throw new Error(`There is no ${id}`)
    yield Buffer.from(bytes.subarray(start, end))
  }
}
