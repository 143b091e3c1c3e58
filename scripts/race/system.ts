/**
 * What the race needs of a system: three nodes with their processes, and how its requests are written.
 *
 * Knows nothing of: rows, time. Rule: a system that has no such operation says null, and the row shows a dash for it.
 */
import type { RaceRequest } from './race-socket.ts'

/** How a system is asked. Keys are of the letters `a-z0-9/`; nothing needs to be escaped. */
export interface Dialect {
  readonly put: (key: string, body: Buffer | Iterable<Buffer>, bytes: number) => RaceRequest
  readonly get: (key: string) => RaceRequest
  readonly head: ((key: string) => RaceRequest) | null
  readonly delete: (key: string) => RaceRequest
  /** 1,000 keys after this one, and which keys an answer names, in its order. */
  readonly list: ((after: string) => RaceRequest) | null
  readonly keysOf: (answer: Buffer) => readonly string[]
  /** The object in the answer to a GET. */
  readonly objectOf: (answer: Buffer) => Buffer
  /** Whether the body of the answer to a GET is the object itself, so that its length can be compared always. */
  readonly isPlain: boolean
  readonly objectBytesMax: number
}

export interface RaceSystem {
  readonly name: string
  /** Of what is raced: a version or a commit. */
  readonly version: string
  /** What is on the disk when an answer leaves. */
  readonly durability: string
  readonly endpoints: readonly string[]
  readonly pids: readonly number[]
  /** A folder on the disk of the nodes. */
  readonly folder: string
  /** The requests for one node, after `open`. */
  readonly dialect: (node: number) => Dialect
  /** Logs in and makes what the requests need. */
  readonly open: () => Promise<void>
  readonly stop: () => Promise<void>
}

export const LIST_KEYS = 1000

interface HeadParts {
  readonly method: string
  readonly path: string
  readonly host: string
  /** Lines with their ends. */
  readonly headers: string
  /** Of the body; null: the method has none. */
  readonly bytes: number | null
}

export function headOf({ method, path, host, headers, bytes }: HeadParts): string {
  const length = bytes === null ? '' : `content-length: ${bytes}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${headers}${length}\r\n`
}
