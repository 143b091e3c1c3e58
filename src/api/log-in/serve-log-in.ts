/**
 * The addresses of the log-in on the admin listener: which ways there are, the way to the provider and back, renewal and end of a session.
 *
 * Rules: they are for browsers and no part of the contract; what needs no session takes from the bucket of its address; what has one is checked as a request
 * of the admin plane is. A log-out clears the cookie even if the session is not valid.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { type Operation, openOperation } from '../../operations/base/operation.ts'
import type { Services } from '../../operations/base/services.ts'
import { endSession, renewSession } from '../../operations/sessions/own-session.ts'
import { clientAddress } from '../admission/client-address.ts'
import { Exchange } from '../exchange.ts'
import type { LogIn } from '../plane.ts'
import { connectionOf, type Gate, reportBroken } from '../proved-request.ts'
import { rateHeadersOf } from '../rate-headers.ts'
import { RequestAudit } from '../request-audit.ts'
import { originForm, parseQuery } from '../request-target.ts'
import type { Method } from '../route.ts'
import { sendAnswer } from '../send-answer.ts'
import { CALLBACK, type ConsoleLogIn, LOG_IN, type LogInAnswer } from './console-log-in.ts'
import { requireOwnPage } from '../sessions/own-page.ts'

const nothing = async (): Promise<undefined> => undefined
const getLogInOptions = openOperation({ id: 'getLogInOptions', refuses: [], isRoutine: true }, nothing)
const beginLogIn = openOperation({ id: 'beginLogIn', refuses: [] }, nothing)
const finishLogIn = openOperation({ id: 'finishLogIn', refuses: [] }, nothing)

interface Asked {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly audit: RequestAudit
}

interface Served {
  readonly services: Services
  /** null: no provider is set. */
  readonly logIn: ConsoleLogIn | null
  readonly gate: Gate
  readonly unknown: (request: FastifyRequest) => Promise<never>
}

interface LogInRoute {
  readonly operation: Operation
  readonly method: Method
  readonly path: string
  readonly success: { readonly status: number }
  readonly serve: (
    served: Served & { readonly logIn: ConsoleLogIn },
    asked: Asked & { readonly route: LogInRoute },
  ) => Promise<LogInAnswer>
}

const ROUTES: readonly LogInRoute[] = [
  {
    operation: beginLogIn,
    method: 'GET',
    path: LOG_IN,
    success: { status: 303 },
    serve: ({ logIn }) => logIn.begin(),
  },
  {
    operation: finishLogIn,
    method: 'GET',
    path: CALLBACK,
    success: { status: 303 },
    serve: ({ logIn }, { request, audit, route }) =>
      logIn.finish(request, (principal) => {
        audit.principal = principal
        return audit.services(route)
      }),
  },
  {
    operation: renewSession,
    method: 'POST',
    path: `${LOG_IN}/renew`,
    success: { status: 200 },
    serve: renew,
  },
  { operation: endSession, method: 'POST', path: `${LOG_IN}/end`, success: { status: 200 }, serve: end },
]

const OPTIONS = { operation: getLogInOptions, path: `${LOG_IN}/options`, success: { status: 200 } }

/** `logIn` null: no provider is set, and the page learns that. */
export function logInOf(logIn: ConsoleLogIn | null): LogIn {
  return { routes: (given) => routesOf({ ...given, logIn }) }
}

function routesOf(served: Served): ReturnType<LogIn['routes']> {
  return [
    {
      method: 'GET' as const,
      url: OPTIONS.path,
      operation: getLogInOptions,
      handler: optionsHandler(served),
    },
    ...ROUTES.map((route) => ({
      method: route.method,
      url: route.path,
      operation: route.operation,
      handler: handlerOf(route, served),
    })),
  ]
}

function handlerOf(route: LogInRoute, served: Served) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { logIn, unknown } = served
    if (logIn === null) return unknown(request)
    const audit = RequestAudit.of(request)
    audit.routed(route, () => ({}))
    if (route.method === 'GET') countUnproved(served, request)
    const { answer, cookies, code } = await route.serve(
      { ...served, logIn },
      { request, reply, audit, route },
    )
    if (code !== undefined) audit.failed(code)
    reply.header('set-cookie', [...cookies]).header('cache-control', 'no-store')
    return send(served, { request, reply, audit }, answer, route.success.status)
  }
}

/** What the page offers before a person has logged in. It looks at nothing but the settings and whether there is a cookie. */
function optionsHandler(served: Served) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { logIn, services } = served
    const audit = RequestAudit.of(request)
    audit.routed(OPTIONS, () => ({}))
    countUnproved(served, request)
    const { oidc } = services.config.console
    const hasSession = logIn !== null && logIn.jar.session(request.headers.cookie) !== null
    const body = { provider: oidc === null ? null : { name: oidc.name }, hasSession }
    reply.header('cache-control', 'no-store')
    return send(served, { request, reply, audit }, { kind: 'json', body }, OPTIONS.success.status)
  }
}

async function renew(
  { services, logIn }: Parameters<LogInRoute['serve']>[0],
  asked: Parameters<LogInRoute['serve']>[1],
): Promise<LogInAnswer> {
  const former = logIn.jar.session(asked.request.headers.cookie) ?? ''
  const principal = await proved(services, former, asked)
  const { record, secret } = await renewSession(asked.audit.services(asked.route), principal, { former })
  const left = logIn.secondsLeft(record.session?.endsAt ?? 0)
  return {
    answer: { kind: 'json', body: {} },
    cookies: secret === null ? [] : [logIn.jar.keepSession(secret, left)],
  }
}

async function end(
  { services, logIn }: Parameters<LogInRoute['serve']>[0],
  asked: Parameters<LogInRoute['serve']>[1],
): Promise<LogInAnswer> {
  const { request, audit, route } = asked
  requireOwnPage(request, services.config.console.url)
  const isEverywhere = parseQuery(originForm(request.originalUrl))['everywhere'] === 'true'
  const gone = { answer: { kind: 'empty', status: 204 }, cookies: [logIn.jar.forgetSession] } as const
  try {
    const principal = await proved(services, logIn.jar.session(request.headers.cookie) ?? '', asked)
    await endSession(audit.services(route), principal, { isEverywhere })
    const location = await logIn.providerEnd()
    return location === null ? gone : { ...gone, answer: { kind: 'json', body: { location } } }
  } catch (error) {
    if (!(error instanceof Refusal) || !ENDED.has(error.code)) throw error
    return { ...gone, code: error.code }
  }
}

/** The session is none, or is over. */
const ENDED: ReadonlySet<string> = new Set(['token_invalid', 'token_expired'])

async function proved(
  services: Services,
  secret: string,
  { request, reply, audit }: Asked,
): Promise<AdminTokenPrincipal> {
  requireOwnPage(request, services.config.console.url)
  const proof = services.access.openSession(secret)
  await services.cluster.readBarrier()
  const principal = proof(connectionOf(request))
  audit.principal = principal
  reply.headers(rateHeadersOf(services, principal))
  return principal
}

function countUnproved({ gate }: Served, request: FastifyRequest): void {
  const refusal = gate.unproved.count(clientAddress(request))
  if (refusal !== null) throw refusal
}

async function send(
  { services }: Served,
  { request, reply, audit }: Asked,
  answer: LogInAnswer['answer'],
  status: number,
): Promise<FastifyReply> {
  const exchange = Exchange.of(request.raw, reply.raw)
  const onBroken = (error: Error): void => reportBroken(services, request, error)
  const onReady = (found: number, bytes: number): Promise<void> => audit.beforeAnswer(found, bytes)
  await sendAnswer(reply, answer, { status, exchange, onReady, onBroken })
  return reply
}
