/**
 * The data of entries as they lie sealed on the disk. docs/formats/sealed-metadata.md
 *
 * Owns: the place that an entry is bound to, and what the log hands out. Knows nothing of: segments, keys in files.
 * Rules: equal entries are sealed to equal bytes, so the log compares an entry from a peer with a lost one as it does without a cipher. Terms, votes, indexes and
 * lengths are readable. Without a cipher everything is as it is.
 */
import type { MetadataCipher } from '../base/metadata-cipher.ts'
import { SEALED_OVERHEAD } from '../base/metadata-cipher.ts'
import type { Entry, EntryKind, EntrySpan } from '../raft/types.ts'
import { WalCorruptError } from './wal-errors.ts'
import type { WalContent } from './wal.ts'

const CONTEXT_BYTES = 17
const KIND_CODES = { noop: 1, command: 2, configuration: 3 } as const satisfies Record<EntryKind, number>

export function sealedEntries(entries: readonly Entry[], cipher: MetadataCipher | null): readonly Entry[] {
  if (cipher === null) return entries
  return entries.map((entry) => ({ ...entry, data: cipher.seal(contextOf(entry), entry.data) }))
}

/** Throws WalCorruptError for an entry that was not sealed with this key. `dir`: where the log lies. */
export function openedEntries(
  entries: readonly Entry[],
  cipher: MetadataCipher | null,
  dir: string,
): readonly Entry[] {
  return cipher === null ? entries : entries.map((entry) => opened(entry, cipher, dir))
}

/** As `openedEntries`. A hole has no data. */
export function openedContent(content: WalContent, cipher: MetadataCipher | null, dir: string): WalContent {
  if (cipher === null) return content
  const holes = new Set(content.holes.map(({ index }) => index))
  const entries = content.entries.map((entry) =>
    holes.has(entry.index) ? entry : opened(entry, cipher, dir),
  )
  if (content.older === undefined) return { ...content, entries }
  return { ...content, older: content.older.map((span) => openedSpan(span, cipher, dir)), entries }
}

function openedSpan(span: EntrySpan, cipher: MetadataCipher, dir: string): EntrySpan {
  const sealed = (span.last - span.first + 1) * SEALED_OVERHEAD
  const configurations = openedEntries(span.configurations, cipher, dir)
  return { ...span, bytes: Math.max(0, span.bytes - sealed), configurations }
}

function opened(entry: Entry, cipher: MetadataCipher, dir: string): Entry {
  const { buffer, byteOffset, byteLength } = entry.data
  const data = cipher.open(contextOf(entry), Buffer.from(buffer, byteOffset, byteLength))
  // In memory of its own, which can be given to another thread.
  if (data !== null) return { ...entry, data: new Uint8Array(data) }
  const what = `entry ${entry.index} was not sealed with the metadata key of this data directory`
  throw new WalCorruptError({ file: dir, offset: 0 }, what)
}

function contextOf({ index, term, kind }: Entry): Buffer {
  const context = Buffer.allocUnsafe(CONTEXT_BYTES)
  context.writeDoubleLE(index, 0)
  context.writeDoubleLE(term, 8)
  context[16] = KIND_CODES[kind]
  return context
}
