/**
 * What an operation is: one definition that states its id, its rights and its refusals, and can be called.
 *
 * Owns: the order of every call: `authorize`, then the body. Rules: the target is a required member, so an operation without
 * authorization does not compile; a body authorizes only what it does as another operation, with the rights of that operation.
 * Routes, API documents, the table of problem codes and the audit log read what they need from here. [decisions 13]
 */
import type { ConditionCode } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Target } from '../../access/base/target.ts'
import { type AdminRights, type DataRights, NOTHING, type Rights } from '../../access/rights.ts'
import type { RefusalCode } from '../../base/refusal.ts'
import type { Services } from './services.ts'

interface Outcomes {
  /** The codes that the operation itself answers, beside those that follow from its route. */
  readonly refuses: readonly (RefusalCode | ConditionCode)[]
  /**
   * Machines ask for it every few seconds and see no stored data: equal requests of a caller share one counted row a minute in the
   * audit log, but for denials, and they are answered while there is no space for rows. docs/guide/audit.md names them.
   */
  readonly isRoutine?: true
  /**
   * Its one command names the bucket that the request names, and decides again whatever the body asks of the state, so that a success needs no
   * read barrier of its own: `src/api/request-basis.ts`.
   */
  readonly isDecidedByEntry?: true
  /** It holds many rows in memory together, so it is refused before others where memory is scarce. */
  readonly isListing?: true
}

/** The facts of an operation, without what it does. */
export type Operation = Rights & Outcomes

type Call<P, I, R> = (services: Services, principal: P, input: I) => Promise<R>

/** Of the data plane. `P`: by a bearer token, or only by a signed URL. */
export type DataOperation<I, R, P = AccessKeyPrincipal> = DataRights & Outcomes & Call<P, I, R>
/** Of the admin plane, by an admin token. */
export type AdminOperation<I, R> = AdminRights & Outcomes & Call<AdminTokenPrincipal, I, R>
/** Of a plane, without a principal. */
export type OpenOperation<I, R> = AdminRights & Outcomes & ((services: Services, input: I) => Promise<R>)

interface Aimed<I> {
  /** What a call aims at. */
  readonly target: (input: I) => Target
}

/** `run` is the body: it starts when the call is authorized. */
export function dataOperation<R, I = void, P extends AccessKeyPrincipal = AccessKeyPrincipal>(
  { target, ...facts }: DataRights & Outcomes & Aimed<I>,
  run: Call<P, I, R>,
): DataOperation<I, R, P> {
  const check = ({ state }: Services, principal: P, input: I) =>
    authorize(principal, facts, target(input), state)
  return Object.assign(checked(check, run), facts)
}

export function adminOperation<R, I = void>(
  { target, ...facts }: AdminRights & Outcomes & Aimed<I>,
  run: Call<AdminTokenPrincipal, I, R>,
): AdminOperation<I, R> {
  const check = (_: Services, principal: AdminTokenPrincipal, input: I) =>
    authorize(principal, facts, target(input))
  return Object.assign(checked(check, run), facts)
}

/** An operation that any client may call. */
export function openOperation<R, I = void>(
  { id, ...outcomes }: Pick<Rights, 'id'> & Outcomes,
  run: (services: Services, input: I) => Promise<R>,
): OpenOperation<I, R> {
  return Object.assign(
    checked<[Services, I], R>(() => undefined, run),
    { id, requires: NOTHING, ...outcomes },
  )
}

/** What the check throws rejects the promise, as what the body throws does. */
function checked<Args extends readonly unknown[], R>(
  check: (...args: Args) => void,
  run: (...args: Args) => Promise<R>,
): (...args: Args) => Promise<R> {
  return (...args) => {
    try {
      check(...args)
    } catch (error) {
      return Promise.reject(error)
    }
    return run(...args)
  }
}
