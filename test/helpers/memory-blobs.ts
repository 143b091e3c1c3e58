/**
 * Blobs in memory, on named nodes, with copies that a test can damage.
 *
 * An adapter of the Blobs port for tests of the layers above it. Keeps to the port: a birth is new every time, bytes are
 * the caller's until write() resolves, faults may come in mid-stream.
 */
import { HedgedReading } from '../../cluster/blobs/replication/blob-reading.ts'
import { Hedge } from '../../cluster/blobs/peers/hedge.ts'
import {
  BlobDamagedError,
  BlobMissingError,
  type BlobCopy,
  type BlobName,
  type BlobReading,
  type BlobRef,
  type Blobs,
  type BlobToWrite,
  type WrittenBlob,
} from '../../cluster/index.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

export interface Report {
  readonly id: string
  readonly nodeId: string
  readonly fault: 'missing' | 'damaged'
}

/** A blob or a chunk: the rows of both name a copy in the same way. */
interface Named {
  readonly id: string
  readonly birth: string
}

interface MemoryBlobsOptions {
  readonly nodes?: readonly string[]
  /** Sizes of the pieces that a read gives, to cover every split of frames. */
  readonly pieceBytes?: number
  /** Forget the bytes at once: for streams larger than memory. */
  readonly forget?: boolean
}

export class MemoryBlobs implements Blobs {
  readonly reports: Report[] = []
  readonly written: BlobName[] = []
  pieceBytes: number
  /** Awaited by every write, before it takes the bytes. */
  beforeWrite: () => Promise<void> = async () => {}
  writesNow = 0
  writesPeak = 0
  readonly #nodes: readonly string[]
  readonly #forget: boolean
  readonly #disks = new Map<string, Map<string, Buffer>>()
  /** By node: the byte at which each read fails, and the error. */
  readonly #faults = new Map<string, { readonly afterBytes: number; readonly error: Error }>()
  #sequence = 0

  constructor({
    nodes = ['n1', 'n2', 'n3'],
    pieceBytes = 64 * 1024,
    forget = false,
  }: MemoryBlobsOptions = {}) {
    this.#nodes = nodes
    this.#forget = forget
    this.pieceBytes = pieceBytes
    for (const node of nodes) this.#disks.set(node, new Map())
  }

  get copiesToAck(): number {
    return Math.min(2, this.#nodes.length)
  }

  nextSession(): string {
    this.#sequence += 1
    return `memory${this.#sequence}`
  }

  async write(blob: BlobToWrite): Promise<WrittenBlob> {
    this.writesNow += 1
    this.writesPeak = Math.max(this.writesPeak, this.writesNow)
    try {
      await this.beforeWrite()
      this.written.push({ id: blob.id, birth: blob.birth })
      if (!this.#forget)
        for (const disk of this.#disks.values()) disk.set(nameOf(blob), Buffer.from(blob.bytes))
      blob.onSpent?.()
      return { replicas: this.#nodes, missing: [] }
    } finally {
      this.writesNow -= 1
    }
  }

  *copies(ref: BlobRef): Iterable<BlobCopy> {
    for (const nodeId of ref.replicas) {
      yield { nodeId, read: (start, end) => this.#read({ nodeId, ref }, start, end) }
    }
  }

  reading(ref: BlobRef): BlobReading {
    const clock = new VirtualClock()
    const hedge = new Hedge({ delayMinMs: 1, delayMaxMs: 1, shareMax: 0 })
    return new HedgedReading({
      copies: [...this.copies(ref)],
      clock,
      hedge,
      onFault: ({ nodeId }, fault) => {
        if (fault instanceof BlobMissingError) this.report(ref, nodeId, 'missing')
        if (fault instanceof BlobDamagedError) this.report(ref, nodeId, 'damaged')
      },
    })
  }

  report(ref: BlobRef, nodeId: string, fault: Report['fault']): void {
    this.reports.push({ id: ref.id, nodeId, fault })
  }

  /** The stored bytes on `nodeId`: a test changes them to damage the copy. */
  bytesOn(nodeId: string, blob: Named): Buffer {
    const bytes = this.#disks.get(nodeId)?.get(nameOf(blob))
    if (bytes === undefined) throw new Error(`No copy of '${blob.id}' on '${nodeId}'`)
    return bytes
  }

  put(nodeId: string, blob: Named, bytes: Buffer): void {
    this.#disks.get(nodeId)?.set(nameOf(blob), bytes)
  }

  lose(nodeId: string, blob: Named): void {
    this.#disks.get(nodeId)?.delete(nameOf(blob))
  }

  /** Every read from this node fails after this many bytes. */
  failAfter(nodeId: string, afterBytes: number, error: Error): void {
    this.#faults.set(nodeId, { afterBytes, error })
  }

  async *#read(at: { nodeId: string; ref: BlobRef }, start: number, end: number): AsyncGenerator<Uint8Array> {
    const bytes = this.#disks.get(at.nodeId)?.get(nameOf(at.ref))
    if (bytes === undefined) throw new BlobMissingError(`No copy of '${at.ref.id}' on '${at.nodeId}'`)
    const fault = this.#faults.get(at.nodeId)
    const stop = Math.min(end, bytes.length)
    for (let offset = start; offset < stop; offset += this.pieceBytes) {
      if (fault !== undefined && offset - start >= fault.afterBytes) throw fault.error
      // A copy: the reader may change it.
      yield Buffer.from(bytes.subarray(offset, Math.min(offset + this.pieceBytes, stop)))
    }
  }
}

function nameOf(blob: Named): string {
  return `${blob.id}.${blob.birth}`
}
