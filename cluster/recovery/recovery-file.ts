/**
 * To which recovery this data directory belongs: `recovery.json`, from the first one that it took part in or joined after.
 *
 * Layout: two lines, the record as JSON and the SHA-256 of that line in hex; docs/formats/recovery.md.
 * Rules: replaced whole, in one go and on the calling thread, because nothing may be said before it is durable, and it happens once in
 * the life of a group; a damaged file refuses the start, for a node that forgot its epoch could be led by those it was parted from.
 */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EpochFloor } from '../node/epoch-floor.ts'
import { StartError } from '../types.ts'

const FORMAT = 1
const FILE = 'recovery.json'

export interface RecoveryMark {
  readonly epoch: number
  /** The plan that was applied here; null: the directory joined a group that had been brought back before. */
  readonly planId: string | null
}

export class RecoveryFile implements EpochFloor {
  readonly #path: string
  #mark: RecoveryMark

  private constructor(path: string, mark: RecoveryMark) {
    this.#path = path
    this.#mark = mark
  }

  /** Throws StartError when it cannot be understood. */
  static open(dataDir: string): RecoveryFile {
    const path = join(dataDir, FILE)
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (cause) {
      const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
      if (isMissing) return new RecoveryFile(path, { epoch: 0, planId: null })
      throw unreadable(path, cause)
    }
    try {
      return new RecoveryFile(path, parse(text))
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  get epoch(): number {
    return this.#mark.epoch
  }

  get mark(): RecoveryMark {
    return this.#mark
  }

  raise(epoch: number): void {
    if (epoch > this.#mark.epoch) this.write({ epoch, planId: null })
  }

  /** Durable when it returns. */
  write({ epoch, planId }: RecoveryMark): void {
    const line = JSON.stringify({ format: FORMAT, epoch, planId })
    const temporary = `${this.#path}.tmp`
    rmSync(temporary, { force: true })
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(file, `${line}\n${digestOf(line)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, this.#path)
    syncDirectory(dirname(this.#path))
    this.#mark = { epoch, planId }
  }
}

/** Throws for whatever this file did not write. */
function parse(text: string): RecoveryMark {
  const [line = '', digest] = text.split('\n')
  if (digest !== digestOf(line)) throw new Error('The digest is not that of the record')
  const { format, epoch, planId } = JSON.parse(line) as RecoveryMark & { readonly format: unknown }
  if (format !== FORMAT) throw new Error('The format is not known')
  return { epoch, planId }
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

function unreadable(path: string, cause: unknown): StartError {
  return new StartError('damaged_recovery', `Cannot start: ${path} cannot be understood`, {
    cause,
    hint: 'Restore this file from a backup, or move the whole data directory away and let the node join anew under another name.',
  })
}
