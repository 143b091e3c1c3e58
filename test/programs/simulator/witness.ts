/** Somebody who is told what took effect, each entry once, in the order of the log. */
import type { ApplyBatch } from '../../../cluster/base/types.ts'

export interface Witness {
  /** How often each command was answered how: `putObject ok`, `putObject quota_exceeded`. */
  readonly answers: ReadonlyMap<string, number>
  took(entry: ApplyBatch['entries'][number], replies: readonly string[]): void
  /** All entries of a batch were told; this is what it changed, those of its entries included that were told before. */
  settled(changes: ReadonlyMap<string, string | null>): void
  /** Nothing more will come. */
  finish(): void
}
