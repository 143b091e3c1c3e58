/**
 * The segmented log as a Wal without its thread: every batch is flushed before `append` returns.
 */
import type { Entry, LogBase } from '../../cluster/raft/types.ts'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { Wal, WalBatch, WalContent, WalEvents, WalRepair, WalRange } from '../../cluster/wal/wal.ts'

export class DirectWal implements Wal {
  readonly #log: SegmentedLog
  #events: WalEvents | null = null

  constructor(log: SegmentedLog) {
    this.#log = log
  }

  async open(events: WalEvents): Promise<WalContent> {
    this.#events = events
    return this.#log.open()
  }

  async repair(repair: WalRepair): Promise<WalContent> {
    return this.#log.repair(repair)
  }

  append(batch: WalBatch): void {
    this.#log.append([batch])
    this.#events?.onDurable(batch.sequence)
  }

  async read(range: WalRange): Promise<readonly Entry[] | null> {
    return this.#log.read(range)
  }

  compact(base: LogBase): void {
    this.#log.compact(base)
  }

  async close(): Promise<void> {
    this.#log.close()
  }
}
