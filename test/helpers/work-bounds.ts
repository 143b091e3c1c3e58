/**
 * The bounds of work for an operation: how they are written, compared and made again.
 *
 * Owns: what a figure is called and which margin its bound has. Knows nothing of: how figures are measured.
 */
/** How an operation is called that comes alone, one after the other; all others come at once. */
export const ALONE = ' alone'

/** Each is the sum over three nodes, divided by the operations. */
export const FIGURES = {
  flushes:
    'flushes: fsync and fdatasync of files (log, packs, spool of the audit log) and writes to LevelDB that wait for the disk',
  messages: 'Raft messages between nodes',
  calls: 'system calls that write to files and sockets',
  entries: 'entries of the log',
  rowsWritten: 'rows written to LevelDB',
  rowsRead: 'rows read from LevelDB',
  barriers: 'read barriers',
  heapKiB: 'KiB allocated on the heap of the main threads',
  bufferKiB: 'KiB of buffers allocated outside the heap',
} as const

export type Figure = keyof typeof FIGURES
export type Figures = Readonly<Record<Figure, number>>
/** By the name of the operation, alone or at once. */
export type Bounds = Readonly<Record<string, Figures>>

/** Above what was measured when the table was made: a share, and a constant for what runs beside the operations, more of it beside each one that comes alone. */
interface Margin {
  readonly times: number
  readonly plusAlone: number
  readonly plusAtOnce: number
}

/** Rows of the audit log are sealed at intervals: a slow machine seals more often beside as many operations. */
const MARGINS: Readonly<Record<Figure, Margin>> = {
  flushes: { times: 1.25, plusAlone: 4, plusAtOnce: 1 },
  messages: { times: 1.25, plusAlone: 6, plusAtOnce: 1 },
  calls: { times: 1.25, plusAlone: 15, plusAtOnce: 3 },
  entries: { times: 1.1, plusAlone: 0.6, plusAtOnce: 0.2 },
  rowsWritten: { times: 1.1, plusAlone: 7, plusAtOnce: 2 },
  rowsRead: { times: 1.25, plusAlone: 40, plusAtOnce: 12 },
  barriers: { times: 1, plusAlone: 0.1, plusAtOnce: 0.1 },
  heapKiB: { times: 1.5, plusAlone: 300, plusAtOnce: 50 },
  bufferKiB: { times: 1.5, plusAlone: 40, plusAtOnce: 20 },
}

export const figureNames = Object.keys(FIGURES) as readonly Figure[]

/** A sentence for each figure above its bound, and for each that has none. */
export function excesses(measured: Bounds, bounds: Bounds, table: string): readonly string[] {
  return Object.entries(measured).flatMap(([operation, figures]) =>
    figureNames
      .filter((figure) => !(figures[figure] <= (bounds[operation]?.[figure] ?? Number.NaN)))
      .map((figure) => {
        const bound = bounds[operation]?.[figure]
        return `${operation}: ${FIGURES[figure]}: ${figures[figure]} for an operation, at most ${bound ?? 'nothing is set'} ('${figure}' in ${table})`
      }),
  )
}

/** What the table says from now on. */
export function boundsFor(measured: Bounds): Bounds {
  const bound = (operation: string, figure: Figure, value: number): number => {
    const { times, plusAlone, plusAtOnce } = MARGINS[figure]
    return rounded(value * times + (operation.endsWith(ALONE) ? plusAlone : plusAtOnce))
  }
  return Object.fromEntries(
    Object.entries(measured).map(([operation, figures]) => [
      operation,
      Object.fromEntries(
        figureNames.map((figure) => [figure, bound(operation, figure, figures[figure])]),
      ) as Record<Figure, number>,
    ]),
  )
}

/** Figure by figure. */
export function leastOf(one: Figures, other: Figures): Figures {
  return Object.fromEntries(
    figureNames.map((figure) => [figure, Math.min(one[figure], other[figure])]),
  ) as Record<Figure, number>
}

/** Figure by figure, and never below zero. */
export function without(all: Figures, background: Figures): Figures {
  return Object.fromEntries(
    figureNames.map((figure) => [figure, rounded(Math.max(0, all[figure] - background[figure]))]),
  ) as Record<Figure, number>
}

export const rounded = (value: number): number => Math.round(100 * value) / 100
