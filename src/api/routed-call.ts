/**
 * What the handler of a route gets of its request.
 *
 * Rule: what few handlers ask for is made when one asks: the body and the signal of a request take as long to make as a small answer.
 */
import type { FastifyRequest } from 'fastify'
import type { ClientCertificate } from '../access/base/principal.ts'
import type { BodySource } from '../content/content.ts'
import { clientAddress } from './admission/client-address.ts'
import type { AuditNote } from './audit-note.ts'
import { clientCertificate } from './client-certificate.ts'
import type { Exchange } from './exchange.ts'
import { sharedTurns } from './piece-turns.ts'
import type { RequestAudit } from './request-audit.ts'
import type { AnyCall } from './route.ts'

interface Asking {
  readonly request: FastifyRequest
  readonly exchange: Exchange
  readonly audit: RequestAudit
}

export class RoutedCall implements AnyCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly #asking: Asking
  #bytes: BodySource | null = null

  /** `read`: validated. */
  constructor(
    asking: Asking,
    read: Pick<AnyCall, 'query' | 'body'> & { readonly params: Readonly<Record<string, string>> },
  ) {
    this.#asking = asking
    this.params = read.params
    this.query = read.query
    this.body = read.body
  }

  get requestId(): string {
    return this.#asking.request.id
  }

  get method(): string {
    return this.#asking.request.method
  }

  get headers(): AnyCall['headers'] {
    return this.#asking.request.headers
  }

  get clientAddress(): string {
    return clientAddress(this.#asking.request)
  }

  get clientCertificate(): ClientCertificate | null {
    return clientCertificate(this.#asking.request)
  }

  get bytes(): BodySource {
    this.#bytes ??= this.#asking.exchange.passingBytes()
    return this.#bytes
  }

  get trailers(): AnyCall['trailers'] {
    const { request } = this.#asking
    return () => request.raw.trailers
  }

  get inTurns(): AnyCall['inTurns'] {
    const { exchange } = this.#asking
    return (pieces) => sharedTurns(pieces, exchange)
  }

  get signal(): AbortSignal {
    return this.#asking.exchange.signal
  }

  get note(): (note: AuditNote) => void {
    const { audit } = this.#asking
    return (note) => audit.note(note)
  }
}
