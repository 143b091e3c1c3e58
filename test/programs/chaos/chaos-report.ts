/**
 * The report of a run: as text and, with the same content, as JSON. Pure.
 */
import type { RecordedWork } from '../../helpers/recorded-work.ts'
import type { Verdict } from './final-checks.ts'
import type { LedgerWork } from './ledger-work.ts'
import type { ChaosOptions } from './options.ts'
import { type NemesisSummary, type Struck, summarize } from './outages.ts'

export interface ChaosReport {
  readonly seed: number
  readonly nodes: number
  readonly seconds: number
  readonly struck: readonly Struck[]
  readonly requests: Readonly<Record<string, number>>
  /** Failures by code; broken or late requests by the name of the error. */
  readonly failures: Readonly<Record<string, number>>
  readonly nemeses: readonly NemesisSummary[]
  readonly verdicts: readonly Verdict[]
}

interface Seen {
  readonly options: ChaosOptions
  readonly struck: readonly Struck[]
  readonly registers: Pick<RecordedWork, 'operations' | 'failures'>
  readonly ledger: Pick<LedgerWork, 'done' | 'failures' | 'writtenAt'>
  readonly verdicts: readonly Verdict[]
}

export function reportOf({ options, struck, registers, ledger, verdicts }: Seen): ChaosReport {
  const { seed, nodes, seconds } = options
  const { operations } = registers
  const changed = operations.flatMap(({ input, answer }) =>
    input.type === 'get' || answer === null || answer.output.type === 'mismatch' ? [] : [answer.at],
  )
  const writes = [...ledger.writtenAt, ...changed].sort((a, b) => a - b)
  return {
    seed,
    nodes,
    seconds,
    struck,
    requests: {
      registers: operations.length,
      'registers, outcome unknown': operations.filter(({ answer }) => answer === null).length,
      ...Object.fromEntries(ledger.done),
    },
    failures: sums(registers.failures, ledger.failures),
    nemeses: summarize(struck, writes),
    verdicts,
  }
}

export function isGood({ verdicts }: ChaosReport): boolean {
  return verdicts.every(({ faults }) => faults.length === 0)
}

export function reportText(report: ChaosReport): string {
  const { seed, nodes, requests, failures, nemeses, struck, verdicts } = report
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  return [
    `seed ${seed}: ${struck.length} faults on ${nodes} hosts`,
    `answered: ${listed(requests)}`,
    `asked again or given up: ${listed(failures)}`,
    ...nemeses.map(
      ({ nemesis, strikes, withoutWritesMs }) =>
        `${nemesis}: ${strikes} times, at most ${withoutWritesMs} ms without a write anywhere`,
    ),
    ...verdicts.flatMap(({ claim, faults }) =>
      faults.length === 0 ? [`kept: ${claim}`] : [`BROKEN: ${claim}`, ...faults.map((fault) => `  ${fault}`)],
    ),
  ].join('\n')
}

function sums(...counts: readonly ReadonlyMap<string, number>[]): Readonly<Record<string, number>> {
  const all = new Map<string, number>()
  for (const [name, count] of counts.flatMap((one) => [...one])) all.set(name, (all.get(name) ?? 0) + count)
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}
