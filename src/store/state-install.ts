/**
 * Pulls a state from a source, block by block, until it is whole and proven.
 *
 * Owns: what to ask for next, and every check of what comes. Knows nothing of: directories, which state is current.
 * Rules: nothing that fails a check is written; it resolves only when every row was read back and all of them add up to
 * the checksum of the source. On any doubt it throws, and what was proven so far stays for the next attempt.
 */
import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { STATE_BLOCK_BYTES_MAX, type StateBlock, type StateSource } from '../../cluster/index.ts'
import { type HeldRange, IncomingDamagedError, IncomingState } from './incoming-state.ts'
import { faultInFiles } from './level-files.ts'
import { rowsOf, SnapshotDamagedError } from './row-block.ts'
import { openRow } from './row-codec.ts'
import type { RowSum } from './row-sum.ts'
import { isStateKey } from './state-rows.ts'

/** Rounds in which damage of what was gathered is mended by pulling it again. */
const ROUNDS_MAX = 3

/** Fills the directory, going on with what an earlier install left there. Rejects with the error of the source when a pull fails. */
export async function pullInto(
  location: string,
  source: StateSource,
  onStep: (step: string) => void,
): Promise<void> {
  try {
    await pullOnce(location, source, onStep)
  } catch (error) {
    if (!(error instanceof IncomingDamagedError)) throw error
    await rm(location, { recursive: true, force: true })
    await pullOnce(location, source, onStep)
  }
}

async function pullOnce(
  location: string,
  source: StateSource,
  onStep: (step: string) => void,
): Promise<void> {
  const incoming = await IncomingState.open(location)
  onStep('incoming opened')
  try {
    const sum = await pullUntilWhole(incoming, source, () => onStep('block written'))
    if (!sum.bytes().equals(source.checksum)) {
      throw damaged('its rows do not add up to the checksum that the source gives; ask another node')
    }
    await incoming.seal({ record: source.record, sum })
    onStep('sealed')
  } finally {
    await incoming.close()
  }
  // Rows were read back; what helps to find them was not.
  const fault = await faultInFiles(location)
  if (fault !== null) throw new IncomingDamagedError(`Cannot install a state: ${fault}`)
}

async function pullUntilWhole(
  incoming: IncomingState,
  source: StateSource,
  onBlock: () => void,
): Promise<RowSum> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const end = await pullBlocks(incoming, source, onBlock)
    const sum = await incoming.readBack(end)
    if (sum !== null) return sum
  }
  throw new Error(
    `Cannot install a state: rows were not read back as they were written, ${ROUNDS_MAX} times over; check the disk`,
  )
}

/** Gives the key that the last block speaks of. */
async function pullBlocks(
  incoming: IncomingState,
  source: StateSource,
  onBlock: () => void,
): Promise<Uint8Array> {
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const held = await incoming.held(after)
    const block = await source.block({ after, held })
    checkBlock(block, { after, held })
    await incoming.replace(after, block)
    onBlock()
    if (block.isEnd) return block.through
    after = block.through
  }
}

/** Throws SnapshotDamagedError or RowDamagedError. */
function checkBlock(
  { rows, digest, through, isEnd }: StateBlock,
  { after, held }: { readonly after: Uint8Array; readonly held: HeldRange | null },
): void {
  const step = Buffer.compare(through, after)
  if (isEnd ? step < 0 : step <= 0) throw damaged('a block leads back instead of on')
  if (rows === null) {
    if (held === null) throw damaged('a block without rows came for rows that are not held')
    if (!held.digest.equals(digest) || !held.through.equals(through)) {
      throw damaged('a block says "the same" of other rows than those that are held')
    }
    return
  }
  if (!hash('sha256', rows, 'buffer').equals(digest)) throw damaged('the digest of a block does not agree')
  checkRows(rows, { after, through })
}

function checkRows(
  bytes: Uint8Array,
  { after, through }: { readonly after: Uint8Array; readonly through: Uint8Array },
): void {
  let last = after
  let count = 0
  for (const { key, value } of rowsOf(bytes)) {
    count++
    if (Buffer.compare(key, last) <= 0) throw damaged('its rows do not ascend')
    if (Buffer.compare(key, through) > 0) throw damaged('a block holds rows beyond its end')
    if (!isStateKey(key)) throw damaged('a block holds a key that is no row of a state')
    openForeign(key, value)
    last = key
  }
  if (bytes.length > STATE_BLOCK_BYTES_MAX && count > 1)
    throw damaged('a block is larger than a block may be')
}

/** A damaged row of a peer says nothing about the state of this node. */
function openForeign(key: Buffer, value: Buffer): void {
  try {
    openRow(key, value)
  } catch (cause) {
    throw new SnapshotDamagedError('Cannot install a state: a row of it is damaged', { cause })
  }
}

function damaged(what: string): SnapshotDamagedError {
  return new SnapshotDamagedError(`Cannot install a state: ${what}`)
}
