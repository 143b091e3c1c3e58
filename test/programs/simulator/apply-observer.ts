/** Observes applied entries: each once, in the order of the log. */
import type { ApplyBatch } from '../../../cluster/base/types.ts'

export interface ApplyObserver {
  /** How often each command got each answer: `putObject ok`, `putObject quota_exceeded`. */
  readonly answers: ReadonlyMap<string, number>
  took(entry: ApplyBatch['entries'][number], replies: readonly string[]): void
  /** All entries of a batch were observed; `changes` covers the whole batch, also entries observed before. */
  settled(changes: ReadonlyMap<string, string | null>): void
  /** No more entries follow. */
  finish(): void
}
