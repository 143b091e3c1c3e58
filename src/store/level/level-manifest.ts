/**
 * Which tables and logs a LevelDB directory consists of: its manifest, a log of edits, names them.
 *
 * Owns: reading CURRENT and the manifest. Knows nothing of: what is in a table or a log.
 * Rule: an edit that was being written when the power failed does not count; any other that does not verify is damage.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteReader, UnreadableError } from './level-bytes.ts'
import { readLog } from './level-log.ts'

const EDIT = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLog: 9,
} as const

export interface LiveFiles {
  /** File number to size. */
  readonly tables: ReadonlyMap<number, number>
  /** Logs from this number on hold the rows that are in no table yet. */
  readonly firstLog: number
}

interface Edited {
  readonly tables: Map<number, number>
  firstLog: number
}

/** Throws UnreadableError, and errors of the system. */
export async function liveFiles(location: string): Promise<LiveFiles> {
  const manifest = (await readFile(join(location, 'CURRENT'), 'utf8')).trimEnd()
  if (!/^MANIFEST-[0-9]+$/.test(manifest)) throw new UnreadableError('CURRENT names no manifest')
  const { entries, isDamaged } = readLog(await readFile(join(location, manifest)))
  if (isDamaged) throw new UnreadableError('an edit of the manifest is damaged')
  const files: Edited = { tables: new Map(), firstLog: 0 }
  for (const entry of entries) applyEdit(files, entry)
  return files
}

function applyEdit(files: Edited, entry: Buffer): void {
  const reader = new ByteReader(entry)
  while (reader.left > 0) {
    const tag = reader.varint()
    switch (tag) {
      case EDIT.comparator:
        reader.string()
        break
      case EDIT.logNumber:
        files.firstLog = reader.varint()
        break
      case EDIT.nextFile:
      case EDIT.lastSequence:
      case EDIT.previousLog:
        reader.varint()
        break
      case EDIT.compactPointer:
        reader.varint()
        reader.string()
        break
      case EDIT.deletedFile:
        reader.varint()
        files.tables.delete(reader.varint())
        break
      case EDIT.newFile:
        addTable(files, reader)
        break
      default:
        throw new UnreadableError(`the manifest holds an edit of unknown kind ${tag}`)
    }
  }
}

function addTable({ tables }: Edited, reader: ByteReader): void {
  reader.varint()
  const number = reader.varint()
  tables.set(number, reader.varint())
  reader.string()
  reader.string()
}
