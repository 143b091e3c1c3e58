/**
 * Pulls a state from a source, block by block, until it is whole and proven.
 *
 * Owns: what to request next, and every check of received rows. Knows nothing of: directories, which state is current.
 * Rules: rows that fail a check are not written; it resolves only when every row was read back and all of them add up to
 * the checksum of the source. On any doubt it throws, and proven rows stay for the next attempt.
 */
import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import {
  type MetadataCipher,
  STATE_BLOCK_BYTES_MAX,
  type StateBlock,
  type StateSource,
} from '../../../cluster/index.ts'
import { BlockDraft, type WriteBlock } from './block-draft.ts'
import { type HeldRange, IncomingDamagedError, IncomingState } from './incoming-state.ts'
import { faultInFiles } from '../level/level-files.ts'
import { OwnRows } from './own-rows.ts'
import { rowsOf, SnapshotDamagedError } from '../rows/row-block.ts'
import { openRow } from '../rows/row-codec.ts'
import type { RowSum } from '../rows/row-sum.ts'
import { type Database, isStateKey } from '../rows/state-rows.ts'

export interface PullOptions {
  /** Called after each durable step, with its name. */
  readonly onStep: (step: string) => void
  /** Whether large values may lie beside LevelDB. */
  readonly separates: boolean
  /** Of the rows on the disk; null: they lie there as they are. */
  readonly cipher: MetadataCipher | null
  /** The state that is replaced, if it can be read: rows that the source has as well are not transferred. */
  readonly own?: Database | null
}

interface Pull {
  readonly incoming: IncomingState
  readonly source: StateSource
  readonly own: Database | null
  readonly onBlock: () => void
}

/** Rounds in which damaged rows are pulled again. */
const ROUNDS_MAX = 3

/** Fills the directory, continuing with the rows of an earlier install. Rejects with the error of the source when a pull fails. */
export async function pullInto(location: string, source: StateSource, options: PullOptions): Promise<void> {
  try {
    await pullOnce(location, source, options)
  } catch (error) {
    if (!(error instanceof IncomingDamagedError)) throw error
    await rm(location, { recursive: true, force: true })
    await pullOnce(location, source, options)
  }
}

async function pullOnce(location: string, source: StateSource, options: PullOptions): Promise<void> {
  const { onStep, own = null } = options
  const incoming = await IncomingState.open(location, options.separates, options.cipher)
  onStep('incoming opened')
  try {
    const sum = await pullUntilWhole({ incoming, source, own, onBlock: () => onStep('block written') })
    if (!sum.bytes().equals(source.checksum)) {
      throw damaged('its rows do not add up to the checksum that the source gives; ask another node')
    }
    await incoming.seal({ record: source.record, sum })
    onStep('sealed')
  } finally {
    await incoming.close()
  }
  // The rows were read back; the files that lead to them were not.
  const fault = await faultInFiles(location)
  if (fault !== null) throw new IncomingDamagedError(`Cannot install a state: ${fault}`)
}

async function pullUntilWhole(pull: Pull): Promise<RowSum> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const end = await pullBlocks(pull)
    const sum = await pull.incoming.readBack(end)
    if (sum !== null) return sum
  }
  throw new Error(
    `Cannot install a state: rows were not read back as they were written, ${ROUNDS_MAX} times over; check the disk`,
  )
}

/** Returns the last key that the block covers. */
async function pullBlocks({ own, ...pull }: Pull): Promise<Uint8Array> {
  if (own === null) return pullOnto(pull, null)
  const rows = new OwnRows(own)
  try {
    return await pullOnto(pull, rows)
  } finally {
    await rows.close()
  }
}

async function pullOnto(
  { incoming, source, onBlock }: Omit<Pull, 'own'>,
  own: OwnRows | null,
): Promise<Uint8Array> {
  const write: WriteBlock = async (from, block) => {
    await incoming.replace(from, block)
    onBlock()
  }
  const draft = new BlockDraft(write)
  try {
    return await pullEach({ incoming, source, write }, own, draft)
  } catch (error) {
    // Earlier blocks are proven, and are not pulled again.
    await draft.flush()
    throw error
  }
}

async function pullEach(
  { incoming, source, write }: Omit<Pull, 'own' | 'onBlock'> & { readonly write: WriteBlock },
  own: OwnRows | null,
  draft: BlockDraft,
): Promise<Uint8Array> {
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const gathered = await incoming.held(after)
    const range = gathered === null && own !== null ? await own.after(after) : null
    const held = gathered ?? (range && { ...range, bytes: range.rows.length })
    const block = await source.block({ after, held })
    checkBlock(block, { after, held })
    if (range !== null) own?.adapt(block.rows === null)
    const rows = block.rows ?? range?.rows
    // A block gathered earlier is cut where the new rows end, so that the next step finds the rest of it.
    if (own === null || gathered !== null || rows === undefined) {
      await draft.flush()
      await write(after, block)
    } else await draft.add({ ...block, after, rows })
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

/** A damaged row of a peer does not mean that the state of this node is damaged. */
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
