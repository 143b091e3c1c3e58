/**
 * Reads a stream of server-sent events. [WHATWG HTML 9.2.6]
 *
 * Owns: lines, fields and the bound of an event. Knows nothing of: connections; who reads connects again, with the last id.
 * Rule: an event that the stream ends in the middle of is none.
 */
import { HoldfastError } from './errors.ts'

/** What a stream says when something has changed. */
export interface ServerEvent {
  /** Of this event, or of the last one that had an id; '' without. */
  readonly id: string
  /** 'message' where the stream names none. */
  readonly event: string
  /** JSON in every event of a node. */
  readonly data: string
}

/** Those of a node have a few hundred. */
const EVENT_CHARS_MAX = 64 * 1024

/** Throws HoldfastError for an event that is longer than any of a node, and what the pieces throw. */
export async function* eventsOf(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  let id = ''
  let event = ''
  let data: string[] = []
  let chars = 0
  for await (const line of linesOf(pieces)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') }
      event = ''
      data = []
      chars = 0
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') {
      chars += value.length + 1
      if (chars > EVENT_CHARS_MAX) throw tooLong()
      data.push(value)
    } else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
  }
}

const tooLong = (): HoldfastError => new HoldfastError('The stream has a longer event than any of a node')

/** Each ends with CR LF, LF or CR. What follows the last end is no line. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true })
    // An LF may follow a CR at the end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > EVENT_CHARS_MAX) throw tooLong()
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1)
}
