/**
 * A route of the S3 API as data: what the dispatch finds, the page of compatibility lists and the tests walk through.
 *
 * Owns: the shape of a route, of what its handler gets and gives. Rule: a handler is a translation; it reads the call, runs the operation that the
 * native API runs too, and dresses the outcome. No decision lives in it.
 */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import type { Claims, TrailingClaims } from '../../../content/checksums.ts'
import type { BodySource } from '../../../content/content.ts'
import type { DataOperation, Operation } from '../../../operations/base/operation.ts'
import type { Services } from '../../../operations/base/services.ts'
import type { AuditNote } from '../../audit-note.ts'
import type { ProblemCode } from '../../problem.ts'
import type { Answer, Method } from '../../route.ts'
import type { S3Code } from './s3-codes.ts'
import type { ReadElement } from '../xml/read-xml.ts'

/** What the path names: nothing, a bucket, or a bucket and a key. */
export type S3Level = 'service' | 'bucket' | 'object'

/** The bytes of an upload: decoded from aws-chunked, proved by signature and digests before their end is reached. */
export interface S3Bytes {
  readonly source: BodySource
  /** Of the plain bytes; null: the client did not say. */
  readonly length: number | null
  readonly claimed: Claims
  readonly trailing: TrailingClaims | undefined
}

export interface S3Call {
  readonly requestId: string
  readonly method: string
  /** '' where the path names none. */
  readonly bucket: string
  /** Decoded; '' where the path names none. */
  readonly key: string
  /** Decoded parameters of the query; those of a presigned URL are left out. */
  readonly query: Readonly<Record<string, string>>
  /** Header values are as Node gives them: one character a byte. */
  readonly headers: IncomingHttpHeaders
  /** The root of an XML body; null: the body is empty, or the route takes none. */
  readonly xml: ReadElement | null
  /** The value of a JSON body; undefined: the body is empty, or the route takes none. */
  readonly json: unknown
  /** Only of routes that take bytes. The client is asked to send them when the first byte is read. */
  readonly bytes: S3Bytes
  /** Gives pieces that this node reads itself in turns with the work of other callers, for as long as the request may take. */
  readonly inTurns: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  /** What the audit log is to record of this request and cannot know by itself. */
  readonly note: (note: AuditNote) => void
}

type S3RouteBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes' }
  | { readonly kind: 'json'; readonly bytesMax: number; readonly namesMax: number }
  | {
      readonly kind: 'xml'
      /** Name of the root element. */
      readonly root: string
      readonly isRequired: boolean
      readonly bytesMax: number
      readonly elementsMax: number
    }

export interface S3Facts {
  /** S3's name of the action, such as `PutObject`. */
  readonly action: string
  readonly method: Method
  readonly level: S3Level
  /** Parameters of the query that make a request this action, such as `uploads`; none: without any such parameter. */
  readonly marks?: readonly string[]
  /** A parameter that has to have this value too, such as `list-type` = `2`. */
  readonly markValue?: { readonly name: string; readonly value: string }
  /** A header that makes a request this action, such as `x-amz-copy-source`. */
  readonly markHeader?: string
  /** Further parameters that it takes. */
  readonly parameters?: readonly string[]
  /** Headers `x-amz-...` that it takes beside those of every request; a name that ends with `-` takes all that begin so. */
  readonly headers?: readonly string[]
  readonly body?: S3RouteBody
  /** Its `x-amz-checksum-` headers claim digests of the object that it makes, and none of its body. */
  readonly claimsObject?: true
  /** It stores bytes that do not come in its body, and counts as an upload. */
  readonly isUpload?: true
  /** It may take longer than clients wait for the beginning of an answer: see late-answer.ts. */
  readonly isSlow?: true
  /** 200 unless said otherwise. */
  readonly status?: number
  /** Refusals that S3 has another code for here than elsewhere, such as `MalformedPolicy`. */
  readonly codes?: Partial<Record<ProblemCode, S3Code>>
  /** Why it answers less than S3 does; for the page of compatibility. */
  readonly note?: string
}

export interface S3Route extends S3Facts {
  readonly operation: Operation
  readonly marks: readonly string[]
  readonly parameters: readonly string[]
  readonly headers: readonly string[]
  readonly body: S3RouteBody
  readonly status: number
  readonly handle: (services: Services, principal: AccessKeyPrincipal, call: S3Call) => Promise<Answer>
}

/** Of routes that are slow, for the page of compatibility. */
export const LATE_NOTE =
  'From the tenth second on the answer is a document that has started; an error then stands in it, as in S3.'

/** `operation`: the one that decides; what a handler calls beside it authorizes by itself. */
export function s3Route(
  operation: DataOperation<never, unknown>,
  facts: S3Facts,
  handle: S3Route['handle'],
): S3Route {
  const { marks = [], parameters = [], headers = [], body = { kind: 'none' }, status = 200 } = facts
  assert(marks.length > 0 || facts.markValue === undefined, 'a value belongs to a mark')
  return { ...facts, operation, marks, parameters, headers, body, status, handle }
}

/** What is known of S3 and not done here: a request for it is refused by its name. */
export interface S3Refused {
  readonly action: string
  readonly method: Method
  readonly level: S3Level
  readonly marks: readonly string[]
  /** The end of a sentence that begins with "<action> is not supported: ". */
  readonly why: string
}
