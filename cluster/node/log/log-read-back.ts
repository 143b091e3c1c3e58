/**
 * Reads entries that left memory back from the segments when the core asks for them.
 *
 * Owns: how many were read. Knows nothing of: which peer needs them, whether they still count. Rule: every read is answered.
 */
import type { Input, ReadLog } from '../../raft/types.ts'
import type { Wal } from '../../wal/wal.ts'

export class LogReadBack {
  readonly #wal: Wal
  readonly #submit: (input: Input) => void
  #count = 0

  constructor(wal: Wal, submit: (input: Input) => void) {
    this.#wal = wal
    this.#submit = submit
  }

  /** Entries since the start of this process. */
  get count(): number {
    return this.#count
  }

  async begin({ readId, from, through, bytesMax }: ReadLog): Promise<void> {
    const entries = await this.#wal.read({ from, through, bytesMax })
    this.#count += entries?.length ?? 0
    this.#submit({ type: 'logRead', readId, entries })
  }
}
