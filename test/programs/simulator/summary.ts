/**
 * Totals over many seeds, as evidence of their coverage.
 *
 * Owns: sums and extremes of the figures. Knows nothing of: the meaning of a figure.
 */
import type { SimReport } from './pool.ts'

interface Column {
  sum: number
  least: number
  most: number
}

export class SimSummary {
  readonly #columns = new Map<string, Column>()
  readonly #started = performance.now()
  #seeds = 0
  #cpuMs = 0
  failures = 0

  add({ figures, violation, cpuMs }: SimReport): void {
    this.#seeds += 1
    this.#cpuMs += cpuMs
    if (violation !== null) this.failures += 1
    for (const [name, value] of Object.entries(figures)) {
      const column = this.#columns.get(name) ?? { sum: 0, least: value, most: value }
      column.sum += value
      column.least = Math.min(column.least, value)
      column.most = Math.max(column.most, value)
      this.#columns.set(name, column)
    }
  }

  sum(figure: string): number {
    return this.#columns.get(figure)?.sum ?? 0
  }

  line(of: number): string {
    const seconds = (performance.now() - this.#started) / 1000
    const events = this.sum('events') + this.sum('recoveryEvents')
    const perSecond = Math.round(events / Math.max(seconds, 0.001))
    const perCpuSecond = Math.round(events / Math.max(this.#cpuMs / 1000, 0.001))
    return `sim: ${this.#seeds} of ${of} seeds, ${events} events in ${seconds.toFixed(1)} s (${perSecond} a second, ${perCpuSecond} a second of processor time), ${this.failures} violations`
  }

  table(): string {
    const rows = [...this.#columns].map(([name, { sum, least, most }]) =>
      [name, shown(sum), shown(least), shown(sum / this.#seeds), shown(most)].map(padded).join(''),
    )
    return `${['', 'sum', 'least', 'mean', 'most'].map(padded).join('')}\n${rows.join('\n')}\n`
  }
}

const padded = (text: string, column: number): string => (column === 0 ? text.padEnd(18) : text.padStart(14))

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1)
}
