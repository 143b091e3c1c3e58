/**
 * The commands of simulated clients, as bytes and as changes of rows.
 *
 * Owns: their text form and their meaning. Each has an id of its own, so that an effect that comes twice is seen.
 * Knows nothing of: their application. Rule: a command always gets a reply, for any rows.
 */

export interface SimCommand {
  readonly kind: 'put' | 'cas' | 'delete' | 'append' | 'get'
  readonly id: string
  readonly key: string
  /** Of `cas`: the id of the value that must be there, or '-' for none. */
  readonly expected: string
  /** Follows the id in the value, so that values have any length. */
  readonly padding: number
}

export const NONE = '-'
const LETTERS: Readonly<Record<SimCommand['kind'], string>> = {
  put: 'P',
  cas: 'C',
  delete: 'D',
  append: 'A',
  get: 'G',
}
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter, kind as SimCommand['kind']]))

export function encodeCommand({ kind, id, key, expected, padding }: SimCommand): Uint8Array {
  return Buffer.from(`${LETTERS[kind]} ${id} ${key} ${expected} ${'x'.repeat(padding)}`, 'latin1')
}

export function decodeCommand(bytes: Uint8Array): SimCommand {
  const text = textOf(bytes)
  const [letter = '', id = '', key = '', expected = '', padding = ''] = text.split(' ')
  const kind = KINDS.get(letter)
  if (kind === undefined) throw new Error(`no command: '${text}'`)
  return { kind, id, key, expected, padding: padding.length }
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export interface Outcome {
  readonly reply: string
  /** Undefined: no change. Null: the row goes. */
  readonly value: string | null | undefined
}

/** The effect of a command on the row of its key. */
export function perform({ kind, id, expected, padding }: SimCommand, row: string | null): Outcome {
  const current = idOf(row)
  switch (kind) {
    case 'put':
      return { reply: 'ok', value: valueOf(id, padding) }
    case 'cas':
      return current === expected
        ? { reply: 'ok', value: valueOf(id, padding) }
        : { reply: `no ${current}`, value: undefined }
    case 'delete':
      return { reply: 'ok', value: row === null ? undefined : null }
    case 'append': {
      const count = Number(row?.split(' ')[1] ?? 0) + 1
      return { reply: String(count), value: `${id} ${count}` }
    }
    case 'get':
      return { reply: current, value: undefined }
  }
}

/** The value of a row for a reader: the id of the command that wrote it. */
export function idOf(row: string | null): string {
  if (row === null) return NONE
  const end = row.indexOf(' ')
  return end < 0 ? row : row.slice(0, end)
}

function valueOf(id: string, padding: number): string {
  return padding === 0 ? id : `${id} ${'x'.repeat(padding)}`
}
