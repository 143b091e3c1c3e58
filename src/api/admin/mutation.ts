/**
 * Routes that change something: each takes `dryRun`, those that answer a long operation take `wait` as well. [decisions 12]
 *
 * Owns: both parameters, what they answer, their place in the document. Knows nothing of: any operation.
 * Rule: a route gives its operation and its plan; whether the operation is done or rehearsed is decided here and nowhere else.
 */
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { type DryRun, dryRun, type Plan } from '../../operations/base/dry-run.ts'
import type { AdminOperation, Operation } from '../../operations/base/operation.ts'
import type { Services } from '../../operations/base/services.ts'
import { awaitOperation } from '../../operations/repair/await-operation.ts'
import { isFinished } from '../../state-machine/long-operations/operations.ts'
import type { AuditDetails } from '../../state-machine/audit/records.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { adminRoute, type Answer, type Facts, type RouteDefinition } from '../route.ts'
import { orNull } from '../wire.ts'
import { LongOperationView, longOperationView } from './operation-view.ts'
import { DRY_RUN } from './queries.ts'
import { WAIT_PARAMETER, waitOf } from './wait.ts'

export const BlockerView = Type.Object({
  code: Type.String(),
  message: Type.String(),
  count: Type.Optional(Type.Integer({ minimum: 0, description: 'Of how many things this is so' })),
  earliestRelease: Type.Optional(
    orNull(
      Type.String({
        format: 'date-time',
        description: 'None is resolved before; null: unknown',
      }),
    ),
  ),
  approvalId: Type.Optional(Type.String({ description: 'The approval that is missing' })),
})

const OPERATION_QUERY = Type.Object(
  {
    ...DRY_RUN.properties,
    wait: WAIT_PARAMETER('Answer when the operation is finished, at the latest after this time: 1ms to 60s'),
  },
  { additionalProperties: false },
)

export type MutationFacts<Path extends string, B extends TObject, P extends TObject> = Omit<
  Facts<Path, TObject, B>,
  'query' | 'success' | 'otherStatuses' | 'responseHeaders' | 'body'
> & {
  readonly body?: {
    readonly schema: B
    readonly required?: boolean
    readonly bytesMax?: number
    readonly namesMax?: number
  }
  /** Of the plan that a dry run answers. */
  readonly plan: P
}

type CallOf<Path extends string, B extends TObject> = Pick<
  Parameters<Parameters<typeof adminRoute<Path, TObject, B>>[2]>[2],
  'params' | 'body'
>

export interface Steps<Path extends string, B extends TObject, P extends TObject, R> {
  readonly run: (services: Services, principal: AdminTokenPrincipal, call: CallOf<Path, B>) => Promise<R>
  /** `outcome`: what `run` would have answered; null when it is blocked. */
  readonly plan: (services: Services, call: CallOf<Path, B>, outcome: R | null) => Promise<Plan<Static<P>>>
}

/** By lower-case names. */
type Headers = Readonly<Record<string, string>>

/** A change that is done when it is answered. */
export function changeRoute<Path extends string, B extends TObject, P extends TObject, R>(
  operation: AdminOperation<never, unknown>,
  { plan, ...facts }: MutationFacts<Path, B, P> & { readonly answers: string; readonly view: TSchema },
  steps: Steps<Path, B, P, R> & {
    readonly answer: (result: R) => object
    readonly headers?: Headers
    /** Of a change without a command: what its row in the audit log says besides. */
    readonly note?: (result: R, call: CallOf<Path, B>) => AuditDetails
  },
): RouteDefinition {
  const { answers, view, ...route } = facts
  const schema = Type.Union([view, dryRunView(plan)])
  const success = { status: 200, description: answers, content: { type: 'application/json', schema } }
  return adminRoute<Path, typeof DRY_RUN, B>(
    operation,
    { ...route, query: DRY_RUN, success },
    async (services, principal, call) => {
      if (call.query.dryRun === true) return rehearse({ ...steps, operation, call }, services, principal)
      const result = await steps.run(services, principal, call)
      if (steps.note !== undefined) call.note({ details: steps.note(result, call) })
      return { kind: 'json', headers: steps.headers ?? {}, body: steps.answer(result) }
    },
  )
}

/** Something new, at a path of its own. */
export function creationRoute<Path extends string, B extends TObject, P extends TObject, R>(
  operation: AdminOperation<never, unknown>,
  { plan, ...facts }: MutationFacts<Path, B, P> & { readonly answers: string; readonly view: TSchema },
  steps: Steps<Path, B, P, R> & {
    readonly answer: (made: R) => { readonly path: string; readonly headers?: Headers; readonly body: object }
  },
): RouteDefinition {
  const { answers, view, ...route } = facts
  return adminRoute<Path, typeof DRY_RUN, B>(
    operation,
    {
      ...route,
      query: DRY_RUN,
      responseHeaders: [{ name: 'Location', description: 'Path of what was made' }],
      success: { status: 201, description: answers, content: { type: 'application/json', schema: view } },
      otherStatuses: { 200: { description: 'The plan of a dry run', schema: dryRunView(plan) } },
    },
    async (services, principal, call) => {
      if (call.query.dryRun === true) return rehearse({ ...steps, operation, call }, services, principal)
      const { path, headers, body } = steps.answer(await steps.run(services, principal, call))
      return { kind: 'json', headers: { ...headers, location: `/admin/api/v1${path}` }, body }
    },
  )
}

/** A change after which there is nothing to show. */
export function removalRoute<Path extends string, P extends TObject>(
  operation: AdminOperation<never, unknown>,
  { plan, ...route }: MutationFacts<Path, TObject, P>,
  steps: Steps<Path, TObject, P, null>,
): RouteDefinition {
  const success = { status: 204, description: 'It is gone' }
  const otherStatuses = { 200: { description: 'The plan of a dry run', schema: dryRunView(plan) } }
  return adminRoute<Path, typeof DRY_RUN, TObject>(
    operation,
    { ...route, query: DRY_RUN, success, otherStatuses },
    async (services, principal, call) => {
      if (call.query.dryRun === true) return rehearse({ ...steps, operation, call }, services, principal)
      await steps.run(services, principal, call)
      return { kind: 'empty' }
    },
  )
}

interface Instead {
  readonly instead: object
}

/** A change that starts, or acts upon, a long operation. `status`: 202 for one that continues after the answer. */
export function longOperationRoute<
  Path extends string,
  B extends TObject,
  P extends TObject,
  R extends LongOperation | Instead,
>(
  operation: AdminOperation<never, unknown>,
  {
    plan,
    status,
    instead,
    first,
    ...route
  }: MutationFacts<Path, B, P> & {
    readonly status: 200 | 202
    /** The answer waits until this is done, though not indefinitely: the caller asked for more than that an operation starts. */
    readonly first?: { readonly waitMs: number; readonly isDone: (operation: LongOperation) => boolean }
    /** What may be answered when there is nothing to begin. */
    readonly instead?: TSchema
  },
  steps: Steps<Path, B, P, R>,
): RouteDefinition {
  const plans = instead === undefined ? dryRunView(plan) : Type.Union([dryRunView(plan), instead])
  const described = responsesOf(status, plans)
  return adminRoute<Path, typeof OPERATION_QUERY, B>(
    operation,
    { ...route, ...described, query: OPERATION_QUERY },
    async (services, principal, call) => {
      const { dryRun: isDry, wait } = call.query
      const waitMs = wait === undefined ? 0 : waitOf(wait)
      if (isDry === true) return rehearse({ ...steps, operation, call }, services, principal)
      const started = await steps.run(services, principal, call)
      if ('instead' in started) return { kind: 'json', status: 200, body: started.instead }
      const { signal } = call
      const done = first && { waitMs: first.waitMs, signal, isOver: first.isDone }
      const seen: LongOperation = done === undefined ? started : await awaitOperation(services, started, done)
      return longOperationAnswer(await awaitOperation(services, seen, { waitMs, signal }), status)
    },
  )
}

export function longOperationAnswer(operation: LongOperation, status: 200 | 202 = 200): Answer {
  const body = longOperationView(operation, Date.now())
  if (status === 200) return { kind: 'json', body }
  const location = `/admin/api/v1/cluster/operations/${operation.operationId}`
  return { kind: 'json', status: isFinished(operation.status) ? 200 : status, headers: { location }, body }
}

function responsesOf(
  status: 200 | 202,
  plan: TSchema,
): Pick<RouteDefinition, 'success' | 'otherStatuses' | 'responseHeaders'> {
  const type = 'application/json'
  const either = Type.Union([LongOperationView, plan])
  if (status === 200)
    return {
      success: {
        status,
        description: 'The operation, or the plan of a dry run',
        content: { type, schema: either },
      },
    }
  const description = 'The operation when it ended while it was waited for, or the plan of a dry run'
  return {
    responseHeaders: [{ name: 'Location', description: 'Path of the operation' }],
    success: {
      status,
      description: 'The operation, which continues by itself',
      content: { type, schema: LongOperationView },
    },
    otherStatuses: { 200: { description, schema: either } },
  }
}

function dryRunView(plan: TObject): TSchema {
  return Type.Object(
    {
      dryRun: Type.Boolean({ description: 'true: nothing was changed' }),
      operation: Type.String(),
      tenantId: orNull(Type.String()),
      allowed: Type.Boolean(),
      plan,
      blockers: Type.Array(BlockerView),
      warnings: Type.Array(Type.String()),
    },
    { additionalProperties: false },
  )
}

interface Rehearsal<Path extends string, B extends TObject, P extends TObject, R>
  extends Steps<Path, B, P, R> {
  readonly operation: Operation
  readonly call: CallOf<Path, B>
}

async function rehearse<Path extends string, B extends TObject, P extends TObject, R>(
  { run, plan, operation, call }: Rehearsal<Path, B, P, R>,
  services: Services,
  principal: AdminTokenPrincipal,
): Promise<Answer> {
  const rehearsed: DryRun<Static<P>> = await dryRun(
    services,
    (instead) => run(instead, principal, call),
    (outcome) => plan(services, call, outcome),
  )
  const { tenantId = null, ...said } = rehearsed
  return {
    kind: 'json',
    status: 200,
    body: { dryRun: true, operation: operation.id, tenantId, ...said },
  }
}
