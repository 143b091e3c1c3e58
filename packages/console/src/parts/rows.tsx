/**
 * A long list of rows of one height: only those on the screen are in the page.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Cells, type Column, Heads } from './table.tsx'

/** CSS pixels; the style says the same. */
const ROW_HEIGHT = 44
/** Above and below what is seen. */
const SPARE = 10

export function Rows<T>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  onEnd,
}: {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly empty: ComponentChildren
  /** The last rows come into sight. */
  readonly onEnd: () => void
}) {
  const { view, seen, look } = useSight(rows.length, onEnd)
  if (rows.length === 0) return <p class="soft empty">{empty}</p>
  const to = Math.min(seen.to, rows.length)
  return (
    <div class="long" ref={view} onScroll={look} role="region" aria-label={label} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <Heads columns={columns} />
          </tr>
        </thead>
        <tbody>
          <Gap rows={seen.from} />
          {rows.slice(seen.from, to).map((row, n) => (
            <tr key={keyOf(row)} aria-rowindex={seen.from + n + 2}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
          <Gap rows={rows.length - to} />
        </tbody>
      </table>
    </div>
  )
}

/** Which rows are in sight. */
function useSight(rows: number, onEnd: () => void) {
  const view = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ from: 0, to: 60 })
  const look = (): void => {
    const shown = view.current
    if (shown === null) return
    const first = Math.floor(shown.scrollTop / ROW_HEIGHT)
    const from = Math.max(0, first - SPARE)
    setSeen({ from, to: first + Math.ceil(shown.clientHeight / ROW_HEIGHT) + SPARE })
  }
  const isAtEnd = seen.to >= rows
  useEffect(look, [rows])
  useEffect(() => {
    if (isAtEnd) onEnd()
  }, [isAtEnd, rows])
  return { view, seen, look }
}

function Gap({ rows }: { readonly rows: number }) {
  return rows <= 0 ? null : <tr class="gap" aria-hidden="true" style={{ height: `${rows * ROW_HEIGHT}px` }} />
}
