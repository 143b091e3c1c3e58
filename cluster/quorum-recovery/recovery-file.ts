/**
 * The recovery epoch of this data directory: `recovery.json`, from the first recovery that it took part in or joined after.
 *
 * Layout: docs/formats/recovery.md. Rules: durable before any message of that epoch is sent, and written once for each epoch; a damaged
 * file refuses the start, because a node that forgot its epoch could follow the nodes from which a recovery separated it.
 */
import { join } from 'node:path'
import type { EpochFloor } from '../node/base/epoch-floor.ts'
import { StartError } from '../base/types.ts'
import { readRecord, writeRecord } from './record-file.ts'

const FORMAT = 1
const FILE = 'recovery.json'

export interface RecoveryMark {
  readonly epoch: number
  /** The plan that was applied here; null: the directory joined a group that had been recovered before. */
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
    try {
      return new RecoveryFile(path, markIn(readRecord(path)))
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
    writeRecord(this.#path, { format: FORMAT, epoch, planId })
    this.#mark = { epoch, planId }
  }
}

/** Throws for any record that RecoveryFile did not write. */
function markIn(record: unknown): RecoveryMark {
  if (record === null) return { epoch: 0, planId: null }
  const { format, epoch, planId } = record as RecoveryMark & { readonly format: unknown }
  if (format !== FORMAT) throw new Error('The format is unknown')
  return { epoch, planId }
}

function unreadable(path: string, cause: unknown): StartError {
  return new StartError('damaged_recovery', `Cannot start: ${path} cannot be understood`, {
    cause,
    hint: 'Restore this file from a backup, or move the whole data directory away and let the node join again under another name.',
  })
}
