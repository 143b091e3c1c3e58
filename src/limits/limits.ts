/**
 * Limits of the data plane: which requests of proved callers are served now, later, or not at all.
 *
 * Owns: the callers of this node, the turns of their requests, and the refusals. Knows nothing of: HTTP, and of other nodes only
 * what SharedUse brings. Rules: a request is admitted once, right after its caller is proved; rates refuse at once, counts and turns let it wait
 * for a short time; what is refused names its limit.
 */
import { Condition } from '../../cluster/index.ts'
import { networkOf } from '../base/network-address.ts'
import { Refusal } from '../base/refusal.ts'
import type { CallerLimits, Config } from '../config/types.ts'
import { limitKeys } from '../state-machine/limits/keys.ts'
import type { TenantLimitsRecord } from '../state-machine/limits/records.ts'
import type { View } from '../state-machine/base/view.ts'
import { Admission } from './admission.ts'
import { limitsWith } from './caller-limits.ts'
import type { CallerUse, Scope } from './caller-use.ts'
import { Callers } from './callers.ts'
import { MemoryGate, type MemoryGateParts } from './memory-gate.ts'
import { type RateFields, rateFields } from './rate-fields.ts'
import { TenantPresence } from './tenant-presence.ts'
import { TenantTurns } from './tenant-turns.ts'
import { type NoTurn, Turns } from './turns.ts'

/** Remembered at the same time, of each kind. */
const CALLERS_MAX = 10_000
/** How old the limits of a tenant may be that hold. */
const LIMITS_MS_MAX = 1_000
/** A request that holds its turn for longer waits for something itself. */
const LEASE_MS = 250
/** Of the requests that a node works on, those of one tenant. */
const TENANT_SHARE = 3 / 4
/** Proposals, and pieces of answers that are read, of one tenant at once while others ask as well, as a part of the same number. */
const SHARED_SHARE = 1 / 16
/** Waiting requests of one tenant. */
const WAITING_MAX = 1_000
const RETRY_SECONDS = 1

export interface Caller {
  readonly tenantId: string
  readonly accessKeyId: string
  readonly address: string
}

export interface AdmissionRequest {
  readonly isUpload: boolean
  /** Of many rows, which are in memory together. */
  readonly isListing?: boolean | undefined
  readonly client: Client
}

/** `signal` is aborted when the client is gone. It is asked for only where the request waits: to make one takes as long as to admit it. */
export interface Client {
  readonly signal: AbortSignal
}

/** What the node refused, by the limit and whose it was. */
export type RefusedCounts = ReadonlyMap<
  string,
  { readonly limit: string; readonly scope: string; readonly count: number }
>

export interface LimitsParts {
  readonly settings: Config['callers']
  readonly state: View
  /** Absent: memory is not watched. */
  readonly memory?: Pick<MemoryGateParts, 'bytesMax' | 'measure' | 'onLevel'>
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** The limits of a tenant as this node applies them, and what it knows of their use. */
export interface LimitsReport {
  readonly applied: { readonly tenant: CallerLimits; readonly accessKey: CallerLimits }
  readonly use: {
    /** On all nodes, as far as they have reported. */
    readonly requestsAtOnce: number
    readonly uploadsAtOnce: number
    /** By this node since its start. */
    readonly refused: number
    /** How long ago this node refused or held back a request last; null: never. */
    readonly limitedWithinSeconds: number | null
  }
}

interface KnownTenant {
  readonly atMs: number
  readonly record: TenantLimitsRecord | undefined
  readonly tenant: CallerLimits
  readonly accessKey: CallerLimits
}

export class Limits {
  readonly #parts: LimitsParts
  readonly #turns: Turns<Admission>
  readonly #presence = new TenantPresence()
  /** Pieces of answers that are read. */
  readonly reads: TenantTurns
  /** Changes that wait for the log. */
  readonly proposals: TenantTurns
  readonly tenants = new Callers('tenant', {
    countMax: CALLERS_MAX,
    // Not looked up: a report must be read also while the state cannot be read.
    limitsOf: (name) => this.#known.get(name)?.tenant ?? this.#parts.settings.tenant,
  })
  /** Whose tenant other nodes do not report: the settings hold until the key is used here. */
  readonly accessKeys = new Callers('key', {
    countMax: CALLERS_MAX,
    limitsOf: () => this.#parts.settings.accessKey,
  })
  readonly addresses = new Callers('address', {
    countMax: CALLERS_MAX,
    limitsOf: () => this.#parts.settings.address,
  })
  /** By tenant, those of `tenants` at most. */
  readonly #known = new Map<string, KnownTenant>()
  readonly #refused = new Map<string, { limit: string; scope: string; count: number }>()
  readonly delays = { inSeconds: 0, outSeconds: 0 }
  readonly memory: MemoryGate | null

  constructor(parts: LimitsParts) {
    const { workAtOnce, queueWaitMs } = parts.settings
    const { memory, now } = parts
    const runningByTenant = (): Iterable<number> => this.#runningByTenant()
    this.memory = memory === undefined ? null : new MemoryGate({ ...memory, runningByTenant, now })
    this.#parts = parts
    const tenantWorkMax = Math.ceil(workAtOnce * TENANT_SHARE)
    const shared = {
      sharedWorkMax: Math.ceil(workAtOnce * SHARED_SHARE),
      presence: this.#presence,
      now: parts.now,
    }
    this.reads = new TenantTurns(shared)
    this.proposals = new TenantTurns(shared)
    this.#turns = new Turns({
      workMax: workAtOnce,
      tenantWorkMax: () => tenantWorkMax,
      leaseMs: LEASE_MS,
      waitingMax: WAITING_MAX,
      waitMsMax: queueWaitMs,
      mayBegin: (admission) => admission.mayBegin,
      now: parts.now,
    })
  }

  get turns(): Pick<Turns<Admission>, 'working' | 'waiting' | 'waitedSeconds' | 'waits' | 'advance'> {
    return this.#turns
  }

  get refused(): RefusedCounts {
    return this.#refused
  }

  /** Throws Refusal, Condition, or the reason of the signal. The caller releases the admission. */
  admit(caller: Caller, request: AdmissionRequest): Admission | Promise<Admission> {
    const { isUpload, client } = request
    const { now } = this.#parts
    const nowMs = now()
    const { uses, weight } = this.#usesOf(caller, nowMs)
    this.#checkMemory(request, uses)
    this.#presence.note(caller.tenantId, nowMs)
    this.#checkRates(uses, nowMs)
    for (const use of uses) use.chargeRequest(nowMs)
    // Uploads have a lane of their own: while as many run as may, others of the key are served.
    const lane = `${isUpload ? 'upload' : 'request'} ${caller.accessKeyId} ${caller.address}`
    const who = { tenant: caller.tenantId, lane, weight }
    const { delays, reads, proposals } = this
    const presence = this.#presence
    const parts = {
      turns: this.#turns,
      callers: uses,
      isUpload,
      client,
      now,
      delays,
      reads,
      proposals,
      presence,
    }
    const admission = new Admission(who, parts)
    const wait = this.#turns.take(admission, client)
    return wait === null ? admission : this.#waited(admission, wait, client.signal)
  }

  /** Of the caller's limit of requests that leaves the least. Empty without one. */
  fieldsOf(caller: Caller): RateFields {
    const nowMs = this.#parts.now()
    return rateFields(this.#usesOf(caller, nowMs).uses, nowMs)
  }

  /** `record`: what was set for the tenant. */
  reportOf(tenantId: string, record: TenantLimitsRecord | null): LimitsReport {
    const { settings, now } = this.#parts
    const tenant = limitsWith(settings.tenant, record?.tenant)
    const accessKey = limitsWith(settings.accessKey, record?.accessKey)
    const use = this.tenants.known(tenantId)
    const running = use?.runningEverywhere(now()) ?? { requests: 0, uploads: 0 }
    const { limitedAtMs = -Infinity, total } = use ?? {}
    return {
      applied: { tenant, accessKey },
      use: {
        requestsAtOnce: running.requests,
        uploadsAtOnce: running.uploads,
        refused: total?.refused ?? 0,
        limitedWithinSeconds: limitedAtMs === -Infinity ? null : Math.ceil((now() - limitedAtMs) / 1000),
      },
    }
  }

  async #waited(admission: Admission, wait: Promise<NoTurn | null>, signal: AbortSignal): Promise<Admission> {
    const why = await wait
    if (why === null) return admission
    if (why === 'gone') throw signal.reason
    const full = admission.fullCount()
    if (full !== null || why === 'full') noteLimited(admission.callers, this.#parts.now())
    if (full !== null) throw this.#tooMany(full)
    if (why === 'full')
      throw this.#refusal(
        { limit: 'waiting', scope: 'tenant' },
        `More than ${WAITING_MAX} requests of the tenant wait`,
        RETRY_SECONDS,
      )
    this.#count('work', 'node')
    throw new Condition('slow_down', 'This node works on as many requests as it may', {
      retryAfterMs: RETRY_SECONDS * 1000,
    })
  }

  #checkMemory({ isUpload, isListing = false }: AdmissionRequest, [tenant]: readonly CallerUse[]): void {
    const running = tenant?.running.requests ?? 0
    if (this.memory?.refuses({ isHeavy: isUpload || isListing, running }) !== true) return
    this.#count('memory', 'node')
    throw new Condition('slow_down', 'The memory of this node is in use; try again, or another node', {
      retryAfterMs: RETRY_SECONDS * 1000,
    })
  }

  *#runningByTenant(): Generator<number> {
    for (const { running } of this.tenants.all()) yield running.requests
  }

  #checkRates(uses: readonly CallerUse[], nowMs: number): void {
    for (const use of uses) {
      const waitMs = use.requestWaitMs(nowMs)
      if (waitMs === 0) continue
      const message = `More than ${use.limits.requestsPerSecond} requests a second ${whose(use.scope)}`
      noteLimited(uses, nowMs)
      throw this.#limited(use, 'requests_per_second', message, waitMs / 1000)
    }
  }

  #tooMany({ caller, what }: { readonly caller: CallerUse; readonly what: 'requests' | 'uploads' }): Refusal {
    const { requestsAtOnce, uploadsAtOnce } = caller.limits
    const max = what === 'requests' ? requestsAtOnce : uploadsAtOnce
    const message = `More than ${max} ${what} at the same time ${whose(caller.scope)}`
    return this.#limited(caller, `${what}_at_once`, message, RETRY_SECONDS)
  }

  #limited(use: CallerUse, limit: string, message: string, seconds: number): Refusal {
    return this.#refusal({ limit, scope: use.scope }, message, seconds)
  }

  #refusal(
    gate: { readonly limit: string; readonly scope: string },
    message: string,
    seconds: number,
  ): Refusal {
    this.#count(gate.limit, gate.scope)
    return new Refusal('rate_limited', message, {
      retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
      details: { gate: `${gate.scope}_${gate.limit}` },
    })
  }

  #count(limit: string, scope: string): void {
    const name = `${scope} ${limit}`
    const counted = this.#refused.get(name) ?? { limit, scope, count: 0 }
    counted.count += 1
    this.#refused.set(name, counted)
  }

  /** In the order tenant, key, address. */
  #usesOf(
    { tenantId, accessKeyId, address }: Caller,
    nowMs: number,
  ): { readonly uses: readonly CallerUse[]; readonly weight: number } {
    const { settings } = this.#parts
    const known = this.#tenant(tenantId, nowMs)
    const tenant = this.tenants.of(tenantId, known.tenant, nowMs)
    tenant.setLimits(known.tenant, nowMs)
    const accessKey = this.accessKeys.of(accessKeyId, known.accessKey, nowMs)
    accessKey.setLimits(known.accessKey, nowMs)
    // Of this tenant alone: several may be behind one proxy, and none is refused for what another does.
    const ofAddress = this.addresses.of(`${tenantId} ${networkOf(address)}`, settings.address, nowMs)
    return { uses: [tenant, accessKey, ofAddress], weight: known.record?.weight ?? 1 }
  }

  #tenant(tenantId: string, nowMs: number): KnownTenant {
    const known = this.#known.get(tenantId)
    if (known !== undefined && nowMs - known.atMs < LIMITS_MS_MAX) return known
    const { settings, state } = this.#parts
    const record = state.get(limitKeys.limits(tenantId))
    const isSame = known !== undefined && record?.updatedAt === known.record?.updatedAt
    const tenant = isSame ? known.tenant : limitsWith(settings.tenant, record?.tenant)
    const accessKey = isSame ? known.accessKey : limitsWith(settings.accessKey, record?.accessKey)
    const found = { atMs: nowMs, record, tenant, accessKey }
    // Those that are not remembered are looked up again.
    if (this.#known.size >= CALLERS_MAX) this.#known.clear()
    this.#known.set(tenantId, found)
    return found
  }
}

/** Whose limit it was does not matter: the request was of all of them. */
function noteLimited(uses: readonly CallerUse[], nowMs: number): void {
  for (const use of uses) {
    use.limitedAtMs = nowMs
    use.total.refused += 1
  }
}

function whose(scope: Scope): string {
  switch (scope) {
    case 'tenant':
      return 'of this tenant'
    case 'key':
      return 'of this access key'
    case 'address':
      return 'from this address'
    case 'token':
      return 'of this admin token'
  }
}
