/**
 * Plain bytes of versions in a backup.
 *
 * Owns: the way from a version to its pieces, and from a piece to its bytes. Knows nothing of: where they go. Rules: bytes count only when the sealed ones have the
 * digest in their name, open under the key of their tenant, and are those of the id that the manifest of the object names; a reader holds one piece.
 */
import type { ChunkId } from '../../state-machine/base/record-ids.ts'
import { bodyKeys } from '../../state-machine/bodies/keys.ts'
import { PARTS_PER_PAGE } from '../../state-machine/bodies/bodies.ts'
import { LINKS_PER_PAGE } from '../../state-machine/bodies/manifests.ts'
import type { BodyRecord, ObjectPart, PieceRecord } from '../../state-machine/bodies/records.ts'
import { chunkKeys } from '../../state-machine/chunks/keys.ts'
import type { ChunkLink, ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { CUSTOMER_KEY_VERSION, keyVersionOf } from '../../state-machine/tenants/data-keys.ts'
import type { KeyRing } from '../../content/key-ring.ts'
import { SealBrokenError, frameCountOf } from '../../content/frame-cipher.ts'
import { openFrames } from '../../content/frame-layout.ts'
import { openInline } from '../../content/read-content.ts'
import { layoutBytesOf, layoutOf } from '../../content/sealing.ts'
import type { BackupReader } from '../read/backup-reader.ts'
import { damageOf } from '../read/backup-reader.ts'
import { once } from '../run/sealed-files.ts'
import type { BackupRows } from './backup-rows.ts'

/** The backup does not have these bytes, or they are not what was stored. */
export class PieceMissing extends Error {
  override readonly name = 'PieceMissing'
}

/** Bytes that have an id: a chunk, or a body in the rows. */
export type Piece = ChunkLink & { readonly sealed?: Uint8Array; readonly keyVersion?: number }

export interface SourceBodiesParts {
  readonly reader: Pick<BackupReader, 'chunk' | 'nameOf'>
  readonly rows: BackupRows
  readonly tenant: TenantRecord
  readonly ring: KeyRing
}

/** Where the rows of a body are: the id of its version or part, in this bucket of the backup. */
export interface BodyAt {
  readonly bucketId: string
  readonly id: string
  readonly size: number
}

export class SourceBodies {
  readonly #parts: SourceBodiesParts

  constructor(parts: SourceBodiesParts) {
    this.#parts = parts
  }

  /** Throws TargetError, PieceMissing. */
  async *pieces(at: BodyAt, body: BodyRecord): AsyncGenerator<Piece> {
    if (body.kind !== 'parts') return yield* this.#piecesOf(at, body)
    for await (const { partId: id, size, body: piece } of this.objectParts(at, body.count))
      yield* this.#piecesOf({ ...at, id, size }, piece)
  }

  /** In their order, from part number `first` on, counted from 0. Throws TargetError, PieceMissing. */
  async *objectParts({ bucketId, id }: BodyAt, count: number, first = 0): AsyncGenerator<ObjectPart> {
    for (let page = Math.floor(first / PARTS_PER_PAGE); page * PARTS_PER_PAGE < count; page++) {
      const row = await this.#parts.rows.get(bodyKeys.partPage(bucketId, id, page))
      if (row === undefined) throw new PieceMissing('a page of its parts is not in the backup')
      yield* row.parts.slice(Math.max(0, first - page * PARTS_PER_PAGE))
    }
  }

  /** Throws TargetError when the target is away, PieceMissing. */
  async plain(piece: Piece): Promise<Buffer> {
    const plain = piece.sealed === undefined ? await this.#chunk(piece) : this.#inline(piece, piece.sealed)
    if (this.idOf(plain) !== piece.id)
      throw new PieceMissing(`${piece.id} opens to other bytes than its id names`)
    return plain
  }

  /** Throws TargetError, PieceMissing. */
  async row(id: ChunkId): Promise<ChunkRecord> {
    const { tenant, rows } = this.#parts
    const row = await rows.get(chunkKeys.chunk(tenant.id, id))
    if (row === undefined) throw new PieceMissing(`chunk ${id} has no row in the backup`)
    return row
  }

  /** Throws TargetError when the target is away, PieceMissing. */
  async sealed(row: ChunkRecord): Promise<Buffer> {
    const { reader } = this.#parts
    try {
      return await reader.chunk(row)
    } catch (cause) {
      const what = damageOf(cause)
      if (what === null) throw cause
      throw new PieceMissing(`${reader.nameOf(row)} is ${what}`, { cause })
    }
  }

  /** By which equal bytes of the tenant of the backup are known. */
  idOf(plain: Uint8Array): ChunkId {
    return this.#parts.ring.present.keys.chunkIdOf(plain)
  }

  async *#piecesOf({ bucketId, id, size }: BodyAt, body: PieceRecord): AsyncGenerator<Piece> {
    const { rows } = this.#parts
    if (body.kind === 'inline') {
      const row = await rows.get(bodyKeys.inlineBody(bucketId, id))
      if (row === undefined) throw new PieceMissing('its bytes are not in the rows of the backup')
      yield { id: body.chunkId, size, sealed: row.sealed, keyVersion: keyVersionOf(row) }
    } else if (body.kind === 'chunks')
      for (let page = 0; page * LINKS_PER_PAGE < body.count; page++) {
        const row = await rows.get(bodyKeys.manifestPage(bucketId, id, page))
        if (row === undefined) throw new PieceMissing('a page of its chunks is not in the backup')
        yield* row.links
      }
  }

  #inline({ id, size, keyVersion = 1 }: Piece, sealed: Uint8Array): Buffer {
    const keys = this.#parts.ring.of(keyVersion)
    if (keys === undefined) throw new PieceMissing('the key of its bytes is not in the backup')
    try {
      return Buffer.concat([...openInline({ keys, chunkId: id, size, sealed }, { start: 0, end: size })])
    } catch (cause) {
      throw new PieceMissing('its bytes in the rows do not open', { cause })
    }
  }

  async #chunk({ id }: Piece): Promise<Buffer> {
    const { ring } = this.#parts
    const row = await this.row(id)
    const version = keyVersionOf(row)
    if (version === CUSTOMER_KEY_VERSION) throw new PieceMissing('only its client has the key')
    const keys = ring.of(version)
    if (keys === undefined) throw new PieceMissing(`the key of chunk ${id} is not in the backup`)
    const sealed = await this.sealed(row)
    const { size, sealedSize } = row
    const chunk = { keys, id, size, sealedSize }
    const plain: Buffer[] = []
    try {
      const layout = layoutOf(chunk, sealed.subarray(0, layoutBytesOf(chunk)))
      const frames = once(Uint8Array.from(sealed.subarray(layout.offsetOf(0))))
      const span = { first: 0, end: frameCountOf(size) }
      for await (const frame of openFrames(frames, layout, span)) plain.push(Buffer.from(frame))
    } catch (cause) {
      if (!(cause instanceof SealBrokenError)) throw cause
      throw new PieceMissing(`chunk ${id} does not open`, { cause })
    }
    return Buffer.concat(plain)
  }
}
