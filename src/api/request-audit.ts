/**
 * Collects the facts of one request for its row of the audit log; the edge writes the row regardless of how the request ends.
 *
 * Owns: what is known of the request so far, and whether the entry of its change records it already.
 * Knows nothing of: where rows go. Rules: every request that starts has its row written; a request leaves no row here only
 * where apply has written one that says how it ended. A body does not know of it: what it proposes while it serves a request
 * carries the origin of the request.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../access/base/principal.ts'
import type { CallerKind, RowClass } from '../audit/audit-trail.ts'
import { outcomeOf } from '../operations/audit/outcome.ts'
import type { Services } from '../operations/base/services.ts'
import type { AuditRow } from '../state-machine/audit/records.ts'
import type { Basis } from '../state-machine/buckets/basis.ts'
import type { Command, Reply } from '../state-machine/commands.ts'
import { mayOmitBarrier } from '../state-machine/command-without-barrier.ts'
import type { Caller } from '../state-machine/tenants/callers.ts'
import { Attached } from '../base/attached.ts'
import { networkOf } from '../base/network-address.ts'
import type { AuditNote } from './audit-note.ts'
import { Exchange } from './exchange.ts'
import { NeedsBarrier } from './needs-barrier.ts'
import type { RawRequest, RawSocket } from './raw/raw-pair.ts'
import { type AskedFor, type AuditedRoute, factsOf, type RequestFacts } from './request-origin.ts'

/** The client left before it had its answer. */
export const CLIENT_GONE = 'client_gone'

/** A caller that goes too fast may ask without an end. */
const IS_LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'slow_down'])

const AUDITS = new Attached<RawRequest, RequestAudit>()
/** Connections with a request that has not ended: what breaks on one is recorded in the row of that request. */
const UNDER_WAY = new Attached<RawSocket, true>()

export function hasRequestUnderWay(socket: RawSocket): boolean {
  return UNDER_WAY.get(socket) === true
}

export class RequestAudit {
  principal: Principal | null = null
  query: unknown = undefined
  body: unknown = undefined
  /** What the authorization of this request rests on; null: on a read barrier. */
  basis: Basis | null = null
  readonly #services: Services
  readonly #api: AskedFor['api']
  readonly #pair: { readonly request: FastifyRequest; readonly reply: FastifyReply }
  #route: AuditedRoute | null = null
  #readParams: () => AskedFor['params'] = () => ({})
  #params: AskedFor['params'] | null = null
  #note: AuditNote = {}
  #code: string | null = null
  #changes = { asked: 0, answered: 0, isLastRefused: false }
  #isWritten = false

  /** From here on the row is written when the connection is done with the request, at the latest. */
  static begin(
    services: Services,
    api: AskedFor['api'],
    pair: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): RequestAudit {
    const audit = new RequestAudit(services, api, pair)
    const { socket } = pair.request.raw
    AUDITS.set(pair.request.raw, audit)
    UNDER_WAY.set(socket, true)
    pair.reply.raw.once('close', () => {
      UNDER_WAY.set(socket, undefined)
      audit.#finish()
    })
    return audit
  }

  static of(request: FastifyRequest): RequestAudit {
    const audit = AUDITS.get(request.raw)
    if (audit === undefined) throw new Error('every request is registered before it is served')
    return audit
  }

  private constructor(
    services: Services,
    api: AskedFor['api'],
    pair: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ) {
    this.#services = services
    this.#api = api
    this.#pair = pair
  }

  /** `route` null: none is known yet. `readParams` may throw; then the row does without. */
  routed(route: AuditedRoute | null, readParams: () => AskedFor['params']): void {
    this.#route = route
    this.#readParams = readParams
    this.#params = null
  }

  /** Throws what reading them throws. */
  get params(): AskedFor['params'] {
    this.#params ??= this.#readParams()
    return this.#params
  }

  facts(): RequestFacts {
    const { request, reply } = this.#pair
    const { nodeId } = this.#services.cluster
    const { principal, query, body } = this
    const exchange = Exchange.of(request.raw, reply.raw)
    const isProved = this.#caller === 'known'
    const asked = {
      api: this.#api,
      route: this.#route,
      principal,
      isProved,
      query,
      body,
      request,
      exchange,
    }
    return factsOf({ ...asked, params: this.knownParams() }, nodeId)
  }

  note(note: AuditNote): void {
    this.#note = { ...this.#note, ...note }
  }

  /** The services of the node, through which every proposal carries its origin and its caller. */
  services(route: AuditedRoute): Services {
    const propose = (command: Command): Promise<Reply> => this.#propose(command, route)
    // Which reply belongs to which command is the promise of what it is handed on to.
    return { ...this.#services, propose: propose as Services['propose'] }
  }

  /** The id of the operation that was asked for; `unknown`: none was meant. */
  get operation(): string {
    return (this.#route?.operation ?? this.#pair.request.routeOptions.config.operation)?.id ?? 'unknown'
  }

  /** A change of this request was proposed, and may be decided. */
  get isAsked(): boolean {
    return this.#changes.asked > 0
  }

  /** What was learned of a request that is served from its proof on again. */
  forget(): void {
    this.principal = null
    this.basis = null
    this.query = undefined
    this.body = undefined
    this.#note = {}
  }

  failed(code: string): void {
    this.#code = code
  }

  /** Called before an answer leaves. Resolves when its row is durable, where that is asked for. Throws Condition. */
  async beforeAnswer(status: number, bytesOut: number): Promise<void> {
    if (!this.#services.audit.isStrict || !this.#isOwed()) return
    const { kept } = this.#write(status, bytesOut)
    if (kept === 'none') return
    await this.#services.audit.durable(this.#caller)
  }

  async #propose(command: Command, route: AuditedRoute): Promise<Reply> {
    const { basis } = this
    if (basis !== null && !mayOmitBarrier(command)) throw new NeedsBarrier()
    const origin = { ...this.facts(), elapsedMs: this.#elapsedMs(), successStatus: route.success.status }
    this.#changes.asked++
    const propose = (): Promise<Reply> =>
      this.#services.propose(command, origin, callerOf(this.principal), basis ?? undefined)
    const { request, reply: answer } = this.#pair
    const { admission } = Exchange.of(request.raw, answer.raw)
    const reply = await (admission === null ? propose() : admission.propose(propose))
    if (!reply.ok && reply.code === 'basis_gone') {
      this.#changes.asked--
      throw new NeedsBarrier()
    }
    this.#changes.answered++
    this.#changes.isLastRefused = !reply.ok
    return reply
  }

  #elapsedMs(): number {
    const { request, reply } = this.#pair
    return Math.round(performance.now() - Exchange.of(request.raw, reply.raw).startedMs)
  }

  #finish(): void {
    const { request, reply } = this.#pair
    const { statusCode, headersSent, writableFinished } = reply.raw
    if (!writableFinished) this.#code ??= CLIENT_GONE
    if (!this.#isOwed()) return
    this.#write(headersSent ? statusCode : null, Exchange.of(request.raw, reply.raw).sentBytes)
  }

  #isOwed(): boolean {
    if (this.#isWritten) return false
    const { asked, answered, isLastRefused } = this.#changes
    if (asked > 0 && asked === answered) {
      const isReported = this.#code === null || this.#code === CLIENT_GONE || isLastRefused
      return !isReported
    }
    return true
  }

  /** An exchange of credentials names its actor when they were right. */
  get #caller(): CallerKind {
    return this.principal !== null || this.#note.actor !== undefined ? 'known' : 'unproved'
  }

  #write(status: number | null, bytesOut: number): RowClass {
    this.#isWritten = true
    const row: AuditRow = {
      time: this.#services.cluster.time.now(),
      ...this.facts(),
      status,
      code: this.#code,
      bytesOut,
      durationMs: this.#elapsedMs(),
      details: isDryRun(this.query) ? { dryRun: true } : null,
      ...this.#note,
    }
    const how = this.#classOf(row)
    this.#services.audit.append(row, how)
    return how
  }

  #classOf(row: AuditRow): RowClass {
    const isDenied = outcomeOf(row) === 'denied'
    const isRoutine = this.#route?.operation.isRoutine === true && !isDenied
    const caller = this.#caller
    if (caller === 'unproved')
      return { caller, kept: isRoutine ? 'none' : 'first', by: networkOf(row.sourceIp ?? '') }
    const isRefused = isDenied || IS_LIMITED.has(row.code ?? '')
    return { caller, kept: isRoutine ? 'none' : isRefused ? 'first' : 'each', by: row.actor.id ?? '' }
  }

  /** Those that can be read. */
  knownParams(): AskedFor['params'] {
    try {
      return this.params
    } catch {
      return this.#pair.request.params as AskedFor['params']
    }
  }
}

/** Of a bearer token. A signed URL holds what its key could do when its request began. [decisions 8] */
function callerOf(principal: Principal | null): Caller | undefined {
  if (principal?.kind !== 'accessKey' || principal.signedUrl !== null) return undefined
  const { accessKeyId, keyVersion, session } = principal
  return { accessKeyId, keyVersion, ...(session === undefined ? {} : { endsAt: session.endsAt }) }
}

function isDryRun(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'dryRun' in query && query.dryRun === true
}
