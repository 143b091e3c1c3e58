/**
 * Rows in columns. On a narrow screen columns that are not essential are left out, and the rest may be scrolled inside of the table.
 */
import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  /** Left out on narrow screens. */
  readonly isMinor?: true
  readonly isFigure?: true
}

export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  empty,
}: {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly empty: string
}) {
  if (rows.length === 0) return <p class="soft empty">{empty}</p>
  return (
    <div class="wide" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <Heads columns={columns} />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The first row of a table. */
export function Heads<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
  return columns.map((column) => (
    <th key={column.head} scope="col" class={classOf(column)}>
      {column.head}
    </th>
  ))
}

export function Cells<T>({ columns, row }: { readonly columns: readonly Column<T>[]; readonly row: T }) {
  return columns.map((column) => (
    <td key={column.head} class={classOf(column)}>
      {column.cell(row)}
    </td>
  ))
}

function classOf<T>({ isMinor, isFigure }: Column<T>): string {
  return [isMinor === true ? 'minor' : '', isFigure === true ? 'figure' : ''].join(' ').trim()
}
