/**
 * The output of commands: JSON for programs, columns for people.
 *
 * Rule: only the result goes to standard output; notes go to standard error.
 */

/** One value a line, so that a program can read a listing while it arrives. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Columns as wide as their widest cell; the last column is not padded. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(rows)) printLine(line)
}

export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length)
  return rows.map((row) =>
    row.map((cell, n) => (n === row.length - 1 ? cell : cell.padEnd(widths[n] ?? 0))).join('  '),
  )
}

/** Name and value, one pair a line; null values are left out. */
export function printFacts(facts: Readonly<Record<string, unknown>>): void {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined)
  printTable(
    known.map(([name, value]) => [
      name,
      typeof value === 'string' ? printable(value) : JSON.stringify(value),
    ]),
  )
}

/** Quotes and escapes a text with control characters: a key or a name may contain some that move the cursor or break a line. */
export function printable(text: string): string {
  return /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text)
    ? text
    : JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped)
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `1536` -> `1.5 KiB`. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Empty for a bucket without versions. */
export function versionText({ versionId }: { readonly versionId: string }): string {
  return versionId === 'null' ? '' : `version ${versionId}  `
}
