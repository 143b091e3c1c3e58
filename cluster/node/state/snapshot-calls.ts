/**
 * The three calls by which one node reads the state of another: open a cut, request its blocks, close it.
 *
 * Layouts (docs/formats/peer-protocol.md):
 *   snapshot.open   nil -> { id, index, term, checksum }, body = the machine record of the cut
 *   snapshot.block  { id, after, held: null or [through, digest] } -> { digest, through, isEnd, hasRows }, body = the rows
 *   snapshot.close  { id } -> nil
 * Knows nothing of: rows. Rule: every message is checked for its shape before it is used.
 */
import { assert } from '../../base/assert.ts'
import type { LogBase } from '../../raft/types.ts'
import { PeerRefusedError } from '../../transport/transport.ts'
import type { StateBlock, StateBlockRequest } from '../../base/types.ts'

export const SNAPSHOT_METHODS = {
  open: 'snapshot.open',
  block: 'snapshot.block',
  close: 'snapshot.close',
} as const

/** A row may be larger than the intended size of a block; no block may be larger than this. Bytes. */
export const BLOCK_BYTES_MAX: number = 16 * 1024 * 1024
export const RECORD_BYTES_MAX: number = 4 * 1024 * 1024

export interface OpenedCut {
  readonly id: string
  /** The last entry that the cut contains. */
  readonly base: LogBase
  readonly checksum: Uint8Array
}

export function encodeOpened({ id, base, checksum }: OpenedCut): unknown {
  return { id, index: base.index, term: base.term, checksum }
}

export function decodeOpened(header: unknown): OpenedCut {
  const { id, index, term, checksum } = fieldsOf(header)
  assert(typeof id === 'string' && id.length > 0, 'an open snapshot has an id')
  assert(typeof index === 'number' && typeof term === 'number', 'an open snapshot names its last entry')
  assert(checksum instanceof Uint8Array, 'an open snapshot has a checksum')
  return { id, base: { index, term }, checksum: Uint8Array.from(checksum) }
}

export function encodeBlockRequest(id: string, { after, held }: StateBlockRequest): unknown {
  return { id, after, held: held && [held.through, held.digest] }
}

/** Throws PeerRefusedError. */
export function decodeBlockRequest(header: unknown): StateBlockRequest & { readonly id: string } {
  const { id, after, held } = fieldsOf(header)
  const [through, digest]: unknown[] = Array.isArray(held) ? held : []
  const isHeld = through instanceof Uint8Array && digest instanceof Uint8Array
  if (typeof id !== 'string' || !(after instanceof Uint8Array) || (held !== null && !isHeld))
    throw new PeerRefusedError('bad_request', 'A block is asked for by an id, a key and what is held')
  return { id, after, held: isHeld ? { through, digest } : null }
}

export function decodeId(header: unknown): string {
  const { id } = fieldsOf(header)
  if (typeof id !== 'string') throw new PeerRefusedError('bad_request', 'A snapshot is named by its id')
  return id
}

export function encodeBlock({ rows, digest, through, isEnd }: StateBlock): unknown {
  return { digest, through, isEnd, hasRows: rows !== null }
}

export function decodeBlock(header: unknown, body: Uint8Array): StateBlock {
  const { digest, through, isEnd, hasRows } = fieldsOf(header)
  assert(digest instanceof Uint8Array && through instanceof Uint8Array, 'a block has a digest and an end')
  assert(typeof isEnd === 'boolean' && typeof hasRows === 'boolean', 'a block states what it is')
  return {
    rows: hasRows ? body : null,
    digest: Uint8Array.from(digest),
    through: Uint8Array.from(through),
    isEnd,
  }
}

function fieldsOf(header: unknown): Readonly<Partial<Record<string, unknown>>> {
  return typeof header === 'object' && header !== null ? { ...header } : {}
}
