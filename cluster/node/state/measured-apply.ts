/**
 * Measures how long the state machine takes for a batch of entries. Knows nothing of: what a batch does.
 */
import type { Clock } from '../../base/clock.ts'
import type { LatencyHistogram } from '../../base/latency-histogram.ts'
import type { StateMachine } from '../../base/types.ts'
import type { EntryTimes } from '../base/entry-times.ts'

type Applied = Pick<StateMachine, 'apply' | 'checkpoint' | 'checksum' | 'cost'>

/** The same machine; a batch that throws is not counted. */
export function measuredApply(
  machine: Applied,
  clock: Clock,
  { times, entries }: { readonly times: LatencyHistogram; readonly entries: EntryTimes | null },
): Applied {
  const { cost } = machine
  return {
    apply: async (batch) => {
      const start = clock.now()
      const replies = await machine.apply(batch)
      times.observe((clock.now() - start) / 1000)
      const [first, last] = [batch.entries[0]?.index, batch.entries.at(-1)?.index]
      if (first !== undefined && last !== undefined) entries?.onApplied(first, last, start)
      return replies
    },
    checkpoint: () => machine.checkpoint(),
    checksum: () => machine.checksum(),
    ...(cost === undefined ? {} : { cost: (command) => cost.call(machine, command) }),
  }
}
