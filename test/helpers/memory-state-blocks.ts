/**
 * Blocks of rows for the state machine in memory: serving them, and pulling them until all are present.
 *
 * Owns: an implementation of the StateSource port that is independent of src/. Knows nothing of: what rows mean.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { StateBlock, StateBlockRequest, StateSource } from '../../cluster/base/types.ts'
import { frameRow, rowsOf } from '../../src/store/rows/row-block.ts'

export interface MemoryBlocks {
  readonly rows: Map<string, string>
  /** By the key after which a block begins. */
  readonly blocks: Map<string, { readonly through: string; readonly digest: Uint8Array }>
}

type Rows = ReadonlyMap<string, string>
/** Exclusive and inclusive; null: no end. */
interface Range {
  readonly after: string
  readonly through: string | null
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export function newBlocks(): MemoryBlocks {
  return { rows: new Map(), blocks: new Map() }
}

export function readBlock(rows: Rows, request: StateBlockRequest, bytesMax: number): StateBlock {
  const { held } = request
  const after = text(request.after)
  const following = keysIn(rows, { after, through: null })
  const bound = held === null ? null : text(held.through)
  const wanted = keysIn(rows, { after, through: bound })
  const taken = wanted.slice(0, countWithin(rows, wanted, bytesMax))
  const bytes = framed(rows, taken)
  const digest = digestOf(bytes)
  const isFull = taken.length < wanted.length
  const isEnd = taken.length === following.length
  const through = held !== null && !isFull ? held.through : Buffer.from(taken.at(-1) ?? after)
  const isSame = held !== null && !isFull && digest.equals(held.digest)
  return { rows: isSame ? null : bytes, digest, through, isEnd }
}

/** `durable` makes one change that a power cut does or does not see. */
export async function pullBlocks(
  incoming: MemoryBlocks,
  source: StateSource,
  durable: (change: () => void) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; ) {
    const held = heldAt(incoming, after)
    const block = await source.block({ after: Buffer.from(after), held })
    check(block, after, held)
    await durable(() => replace(incoming, after, block))
    if (block.isEnd) return
    after = text(block.through)
  }
}

function heldAt({ rows, blocks }: MemoryBlocks, after: string): StateBlockRequest['held'] {
  const block = blocks.get(after)
  if (block === undefined || compare(block.through, after) <= 0) return null
  const found = digestOf(framed(rows, keysIn(rows, { after, through: block.through })))
  return found.equals(block.digest) ? { through: Buffer.from(block.through), digest: block.digest } : null
}

function check(block: StateBlock, after: string, held: StateBlockRequest['held']): void {
  const step = compare(text(block.through), after)
  assert(block.isEnd ? step >= 0 : step > 0, 'a block leads on')
  if (block.rows === null) {
    assert(held !== null && digestsAgree(held.digest, block.digest), 'equal to the held rows')
    assert(Buffer.compare(held.through, block.through) === 0, 'as far as the held rows')
    return
  }
  assert(digestsAgree(digestOf(block.rows), block.digest), 'the digest is that of the rows')
  let last = after
  for (const { key } of rowsOf(block.rows)) {
    assert(compare(key.toString(), last) > 0, 'rows ascend')
    assert(Buffer.compare(key, block.through) <= 0, 'rows end where the block says')
    last = key.toString()
  }
}

function digestsAgree(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function replace(incoming: MemoryBlocks, after: string, block: StateBlock): void {
  const { rows, blocks } = incoming
  const end = text(block.through)
  if (block.rows !== null) {
    const rest = clear(incoming, { after, through: block.isEnd ? null : end })
    for (const { key, value } of rowsOf(block.rows)) rows.set(key.toString(), value.toString())
    blocks.set(after, { through: end, digest: block.digest })
    if (rest !== null) {
      const digest = digestOf(framed(rows, keysIn(rows, { after: end, through: rest })))
      blocks.set(end, { through: rest, digest })
    }
  } else if (block.isEnd) {
    clear(incoming, { after: end, through: null })
  }
}

/** Where the last block that begins in the range ends, if that is beyond it. */
function clear({ rows, blocks }: MemoryBlocks, range: Range): string | null {
  const { through } = range
  let rest: string | null = null
  for (const [begin, block] of blocks) {
    if (compare(begin, range.after) < 0 || (through !== null && compare(begin, through) >= 0)) continue
    blocks.delete(begin)
    if (through !== null && compare(block.through, through) > 0) rest = block.through
  }
  for (const key of keysIn(rows, range)) rows.delete(key)
  return rest
}

function keysIn(rows: Rows, { after, through }: Range): string[] {
  return [...rows.keys()]
    .filter((key) => compare(key, after) > 0 && (through === null || compare(key, through) <= 0))
    .toSorted(compare)
}

function framed(rows: Rows, keys: readonly string[]): Buffer {
  return Buffer.concat(keys.map((key) => frameRow(Buffer.from(key), Buffer.from(rows.get(key) ?? ''))))
}

/** At least one. */
function countWithin(rows: Rows, keys: readonly string[], bytesMax: number): number {
  let bytes = 0
  const full = keys.findIndex((key, i) => {
    bytes += framed(rows, [key]).length
    return bytes > bytesMax && i > 0
  })
  return full < 0 ? keys.length : full
}
