/** Rows of a map as workers read them: single rows, and pages without a bound. */
import type { KeyRange, RowKey } from '../../src/state-machine/base/row-key.ts'
import type { RowPage, RowReader } from '../../src/store/reads/state-reader.ts'
import type { MapWorld } from '../state-machine/map-world.ts'

export function mapReader({ rows }: Pick<MapWorld, 'rows'>): RowReader {
  return {
    get: <R extends object>(key: RowKey<R>) => rows.get(key) as R | undefined,
    page: async <R extends object>({ start, end }: KeyRange<R>): Promise<RowPage<R>> => {
      const found = [...rows].filter(([key]) => key >= start && key < end)
      return { items: found.map(([, row]) => row as R), names: found.map(([key]) => key), next: null }
    },
  }
}
