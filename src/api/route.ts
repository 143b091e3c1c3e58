/**
 * A route as data: what the servers mount, the OpenAPI documents describe and the tests walk through.
 *
 * Owns: the shape of a route and of what its handler gets and gives. Knows nothing of fastify.
 * Rule: a handler is an adapter; it reads the call, runs one operation, dresses the outcome. No decision lives in it.
 */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TObject, TSchema, TSchemaOptions } from 'typebox'
import type {
  AccessKeyPrincipal,
  AdminTokenPrincipal,
  ClientCertificate,
  Principal,
} from '../access/base/principal.ts'
import type { SignedUrlPrincipal } from '../access/base/signed-url.ts'
import type { BodySource } from '../content/content.ts'
import type { AdminOperation, DataOperation, OpenOperation, Operation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import type { AuditNote } from './audit-note.ts'
import type { Example } from './examples/example.ts'
import { JSON_BODY_BYTES_MAX } from './json-body.ts'
import { JSON_NAMES_MAX } from './json-names.ts'

/** The last two are not proved by the edge: createToken reads credentials itself, metrics may be public by configuration. */
export type AuthKind = 'none' | 'bearer' | 'signedUrl' | 'admin' | 'credentials' | 'metrics'

export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

/** `{name}` is one segment of the path, decoded; `{name...}` is the undecoded rest of it. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name extends `${infer Wild}...` ? Wild : Name]: string } & ParamsOf<Rest>
  : unknown

type RouteBody =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'json'
      readonly schema: TObject
      readonly required: boolean
      readonly bytesMax: number
      readonly namesMax: number
    }
  | { readonly kind: 'bytes' }

interface RouteSuccess {
  readonly status: number
  readonly description: string
  /** Absent: no body. */
  readonly content?: { readonly type: string; readonly schema: TSchema }
}

/** A header of the request or the answer, for the document only. */
export interface HeaderNote {
  readonly name: string
  readonly description: string
  /** Of its value, as JSON Schema; any text without it. */
  readonly schema?: TSchemaOptions
  readonly required?: true
}

/** What a handler is given. Header values are as Node gives them: one character a byte. */
interface Call<Path extends string, Query, Body> {
  readonly requestId: string
  /** A GET route may be asked by HEAD. */
  readonly method: string
  readonly params: ParamsOf<Path>
  readonly query: Query
  readonly body: Body
  readonly headers: IncomingHttpHeaders
  readonly clientAddress: string
  /** Proved by the client when it connected. */
  readonly clientCertificate: ClientCertificate | null
  /** The body as it arrives, for routes that take bytes. The client is asked to send it when the first byte is read. */
  readonly bytes: BodySource
  /** The fields behind the body; call it after the end of `bytes`. */
  readonly trailers: () => IncomingHttpHeaders
  /** Gives pieces that this node reads itself in turns with the work of other callers, for as long as the request may take. */
  readonly inTurns: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  /** What the audit log is to record of this request and cannot know by itself. */
  readonly note: (note: AuditNote) => void
}

export type Answer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
} & (
  | { readonly kind: 'json'; readonly body: object }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  /** Serialized before. */
  | { readonly kind: 'ready'; readonly contentType: string; readonly bytes: Buffer }
  | {
      readonly kind: 'bytes'
      readonly bytes: AsyncIterable<Uint8Array>
      readonly length: number
      /** The same in one piece and without a wait, where this node has them at hand; throws what reading them throws. Absent: it has not. */
      readonly atHand?: () => Uint8Array
    }
  /** Leave as they come, without a known length; the first is in hand before the status leaves. */
  | { readonly kind: 'stream'; readonly contentType: string; readonly pieces: AsyncGenerator<Uint8Array> }
  | { readonly kind: 'empty' }
)

export type AnyCall = Call<string, unknown, unknown>

export interface RouteDefinition {
  /** The operation that the route is for: its id, its rights, what it refuses. */
  readonly operation: Operation
  readonly method: Method
  /** Relative to the mount point of the server. */
  readonly path: string
  /** Where: under the mount point unless said otherwise; probes and scrapers look at the root. */
  readonly mountedAt?: 'prefix' | 'root' | 'both'
  /** What a parameter of the path must look like for this route to be meant; otherwise that segment may be anything. */
  readonly forms?: Readonly<Record<string, RegExp>>
  readonly summary: string
  readonly description?: string
  readonly auth: AuthKind
  /** Answered at any rate: who asks must not conclude from the requests of others that this node is dead. */
  readonly isProbe?: true
  /** With `consistency=local` it answers also without a leader, from what the asked node has. */
  readonly mayBeLocal?: boolean
  /** What to do when it is refused because there is no majority: the end of that sentence. */
  readonly inOutage?: string
  readonly query?: TObject
  readonly requestHeaders?: readonly HeaderNote[]
  readonly responseHeaders?: readonly HeaderNote[]
  readonly body: RouteBody
  readonly success: RouteSuccess
  /** Further statuses of success, such as 206 and 304: what they mean, and the JSON that comes with them. */
  readonly otherStatuses?: Readonly<
    Record<number, string | { readonly description: string; readonly schema: TSchema }>
  >
  /** One call that works. The document shows it, tests make it, the fuzzer starts from it. */
  readonly example: Example
  /** Further calls by names of their own, for examples that need an answer which `example` does not give. */
  readonly furtherExamples?: Readonly<Record<string, Example>>
  readonly handle: (services: Services, principal: Principal | null, call: AnyCall) => Promise<Answer>
}

export type Facts<Path extends string, Q extends TObject, B extends TObject> = Omit<
  RouteDefinition,
  'operation' | 'path' | 'query' | 'body' | 'auth' | 'handle'
> & {
  readonly path: Path
  readonly query?: Q
  readonly body?: JsonBody<B> | 'bytes'
}

interface JsonBody<B extends TObject> {
  readonly schema: B
  /** True unless said otherwise. */
  readonly required?: boolean
  /** JSON_BODY_BYTES_MAX unless said otherwise. */
  readonly bytesMax?: number
  /** Names in the whole document; JSON_NAMES_MAX unless said otherwise. */
  readonly namesMax?: number
}

type Handler<P, Path extends string, Q extends TObject, B extends TObject> = (
  services: Services,
  principal: P,
  call: Call<Path, Static<Q>, Static<B>>,
) => Promise<Answer>

/** A route of the data plane behind a bearer token. */
export function dataRoute<Path extends string, Q extends TObject, B extends TObject>(
  operation: DataOperation<never, unknown>,
  facts: Facts<Path, Q, B>,
  handle: Handler<AccessKeyPrincipal, Path, Q, B>,
): RouteDefinition {
  return define({ ...facts, operation, auth: 'bearer' }, (services, principal, call) => {
    assert(principal?.kind === 'accessKey', 'the edge proves the principal before the handler runs')
    return handle(services, principal, call)
  })
}

/** A route of the data plane that only the token in its URL opens; an Authorization header says nothing there. */
export function signedRoute<Path extends string, Q extends TObject, B extends TObject>(
  operation: DataOperation<never, unknown, SignedUrlPrincipal>,
  facts: Facts<Path, Q, B>,
  handle: Handler<SignedUrlPrincipal, Path, Q, B>,
): RouteDefinition {
  return define({ ...facts, operation, auth: 'signedUrl' }, (services, principal, call) => {
    assert(principal?.kind === 'accessKey', 'the edge proves the principal before the handler runs')
    const { signedUrl } = principal
    assert(signedUrl !== null, 'by a signed URL')
    return handle(services, { ...principal, signedUrl }, call)
  })
}

/** A route of the admin plane behind an admin token. */
export function adminRoute<Path extends string, Q extends TObject, B extends TObject>(
  operation: AdminOperation<never, unknown>,
  facts: Facts<Path, Q, B>,
  handle: Handler<AdminTokenPrincipal, Path, Q, B>,
): RouteDefinition {
  return define({ ...facts, operation, auth: 'admin' }, (services, principal, call) => {
    assert(principal?.kind === 'adminToken', 'the edge proves the principal before the handler runs')
    return handle(services, principal, call)
  })
}

/** A route that any client may call, or that looks after its own credentials. */
export function openRoute<Path extends string, Q extends TObject, B extends TObject>(
  operation: OpenOperation<never, unknown> | AdminOperation<never, unknown>,
  facts: Facts<Path, Q, B> & { readonly auth: Exclude<AuthKind, 'bearer' | 'signedUrl' | 'admin'> },
  handle: Handler<Principal | null, Path, Q, B>,
): RouteDefinition {
  return define({ ...facts, operation }, handle)
}

function define<Path extends string, Q extends TObject, B extends TObject>(
  facts: Facts<Path, Q, B> & Pick<RouteDefinition, 'operation' | 'auth'>,
  handle: Handler<Principal | null, Path, Q, B>,
): RouteDefinition {
  return {
    ...facts,
    body: bodyOf(facts.body),
    // The pipeline has validated query and body against the very schemas these types come from.
    handle: (services, principal, call) =>
      handle(services, principal, call as Call<Path, Static<Q>, Static<B>>),
  }
}

function bodyOf(body: JsonBody<TObject> | 'bytes' | undefined): RouteBody {
  if (body === undefined) return { kind: 'none' }
  if (body === 'bytes') return { kind: 'bytes' }
  const { schema, required = true, bytesMax = JSON_BODY_BYTES_MAX, namesMax = JSON_NAMES_MAX } = body
  return { kind: 'json', schema, required, bytesMax, namesMax }
}
