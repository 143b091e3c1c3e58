/**
 * What an edge thread and the thread of the state say to each other: plain data, and bytes.
 *
 * Owns: names and shapes. Knows nothing of: who handles them, how they travel. Rules: messages of one side arrive in the order in which
 * they were sent; a message about a request or a connection that its receiver has forgotten means nothing.
 */
import type { ServerOptions } from 'node:https'
import type { ShownCertificate } from '../client-certificate.ts'

/** Of a body, in flight between the threads before its reader asks. Bytes */
export const FIRST_CREDIT_BYTES = 64 * 1024
/** Of one body, in flight or waiting on either side. Bytes; one piece more may come. */
export const CREDIT_BYTES = 256 * 1024
/** What a reader took is reported in steps. Bytes */
export const CREDIT_STEP_BYTES = 64 * 1024

/** Given to an edge thread at its start. */
export interface EdgeSetup {
  readonly listen: { readonly host: string; readonly port: number }
  /** Null: plain HTTP. */
  readonly tls: ServerOptions | null
  readonly connectionsMax: number
  readonly trustedProxies: readonly string[]
  readonly proxyProtocol: boolean
}

export interface Connected {
  readonly kind: 'connected'
  readonly connection: number
  readonly remoteAddress: string
  readonly remotePort: number
  readonly isEncrypted: boolean
  /** As the PROXY protocol says, or that of the other side. */
  readonly client: string
  /** That the client proved to have; null: none. */
  readonly certificate: ShownCertificate | null
}

export interface Asked {
  readonly kind: 'asked'
  readonly connection: number
  readonly request: number
  readonly method: string
  readonly url: string
  readonly httpVersion: string
  /** Names and values in turns, as lines: none of them holds the end of a line. */
  readonly rawHeaders: string
  /** The same as Node.js makes of them: names in lower case, repeated ones combined. */
  readonly headers: string
  readonly keepsAlive: boolean
  /** The client sends its body when it gets "100 Continue". */
  readonly isWaiting: boolean
  /** What has come of the body. */
  readonly bytes: Uint8Array | null
  /** No more of it comes. */
  readonly isComplete: boolean
  /** As `rawHeaders`. */
  readonly trailers: string
}

export type ToState =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The last connection is closed. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'log'; readonly fields: object; readonly message: string }
  | Connected
  | { readonly kind: 'closed'; readonly connection: number }
  | Asked
  | { readonly kind: 'piece'; readonly request: number; readonly bytes: Uint8Array }
  | { readonly kind: 'complete'; readonly request: number; readonly trailers: string }
  /** The system took so many bytes of the answer. */
  | { readonly kind: 'taken'; readonly request: number; readonly bytes: number }
  /** The connection is done with the answer. */
  | { readonly kind: 'answered'; readonly request: number; readonly isFinished: boolean }
  /** Something came that is no request. */
  | {
      readonly kind: 'unclear'
      readonly connection: number
      readonly code: string | null
      readonly message: string
    }

export interface Head {
  readonly status: number
  /** As `Asked.rawHeaders`; a name is repeated for each of its values. */
  readonly fields: string
  readonly keepsAlive: boolean
}

export interface AnswerPart {
  readonly kind: 'answer'
  readonly request: number
  /** With the first part alone. */
  readonly head: Head | null
  readonly bytes: Uint8Array | null
  readonly isEnd: boolean
  /** The connection ends with this answer, once the rest of the request has come. */
  readonly isLingering: boolean
}

export type ToEdge =
  | AnswerPart
  | { readonly kind: 'continue'; readonly request: number }
  /** The reader of the body takes so many bytes more. */
  | { readonly kind: 'credit'; readonly request: number; readonly bytes: number }
  | { readonly kind: 'destroy'; readonly connection: number }
  /** The last words on a connection. */
  | { readonly kind: 'say'; readonly connection: number; readonly text: string }
  | { readonly kind: 'certificate'; readonly options: ServerOptions }
  | { readonly kind: 'closeIdle' }
  | { readonly kind: 'stop' }

export const asLines = (texts: readonly string[]): string => texts.join('\n')

export const fromLines = (lines: string): string[] => (lines === '' ? [] : lines.split('\n'))
