/**
 * What distinguishes one HTTP surface from the other: where it is mounted, which routes it has, whose tokens it takes.
 *
 * Owns: matching a path against the templates of the routes, for 404 and 405. The router of the server does the same
 * for requests that have a route; here it is asked which methods a path would have had.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Proof } from '../access/access.ts'
import type { Principal } from '../access/base/principal.ts'
import type { Operation } from '../operations/base/operation.ts'
import type { Services } from '../operations/base/services.ts'
import type { Config } from '../config/types.ts'
import type { Gate } from './proved-request.ts'
import type { Answer, AuthKind, Method, RouteDefinition } from './route.ts'

export interface Plane {
  /** How figures and logs name it. */
  readonly api: 'native' | 'admin'
  readonly mount: string
  readonly routes: readonly RouteDefinition[]
  /** What must be proved before a caller may learn that a path does not exist. [decisions 14] */
  readonly unknownPathAuth: AuthKind
  /** Path of the routes that take their token from the URL: what does not exist below it is answered to any client. [decisions 14] */
  readonly openBelow?: string
  /** What of a token needs no state. Throws Refusal, as the proof does. */
  readonly openToken: (services: Services, authorization: string | undefined) => Proof<Principal>
  /** The S3 API on the same listener. */
  readonly compatibilityApi?: CompatibilityApi
  /** What browsers find on the same listener. */
  readonly pages?: Pages
  /** How people log in on the same listener. */
  readonly logIn?: LogIn
}

/** Files and pages for people, without a credential; no part of the contract. */
export interface Pages {
  /** As the router spells them. Below `open` everything is answered; at `asked` only what a browser asks for, and the rest as if there were no such path. */
  readonly open: readonly string[]
  readonly asked: readonly string[]
  /** null: this request is not for a page. */
  readonly answer: (config: Config, request: FastifyRequest) => Promise<Answer> | null
}

/** Addresses for browsers, without which no person gets a session; no part of the contract. */
export interface LogIn {
  readonly routes: (served: {
    readonly services: Services
    readonly gate: Gate
    /** Refuses a request as one for a path that does not exist. */
    readonly unknown: (request: FastifyRequest) => Promise<never>
  }) => readonly {
    readonly method: Method
    readonly url: string
    readonly operation: Operation
    readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  }[]
}

/** An error as it goes out. */
export interface ErrorAnswer {
  /** For the audit log and figures. */
  readonly code: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  readonly bytes: Buffer
}

/** The signature-based compatibility API of the contract. It finds its routes by itself: the router knows one path for all of its requests. */
export interface CompatibilityApi {
  readonly api: 's3'
  /** `target`: of the request line. */
  readonly isMeant: (config: Config, target: string, host: string | undefined) => boolean
  /** Whether what is asked for is handed out to a browser that follows a link. */
  readonly isLink: (target: string) => boolean
  readonly serve: (
    services: Services,
    gate: Gate,
  ) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  readonly errorAnswer: (services: Services, request: FastifyRequest, error: unknown) => ErrorAnswer
}

/** What must be proved before a caller may learn that this path does not exist. */
export function unknownPathAuthAt({ mount, openBelow, unknownPathAuth }: Plane, path: string): AuthKind {
  const open = openBelow === undefined ? null : `${mount}${openBelow}`
  return open !== null && (path === open || path.startsWith(`${open}/`)) ? 'none' : unknownPathAuth
}

/** The paths at which a route is mounted. */
export function pathsOf(plane: Plane, route: RouteDefinition): readonly string[] {
  const mounted = `${plane.mount}${route.path}`
  switch (route.mountedAt ?? 'prefix') {
    case 'prefix':
      return [mounted]
    case 'root':
      return [route.path]
    case 'both':
      return [mounted, route.path]
  }
}

/** GET routes answer HEAD as well, unless the table has a HEAD route of its own for the path. [RFC 9110 9.3.2] */
export function methodsOf(plane: Plane, route: RouteDefinition): readonly Method[] {
  if (route.method !== 'GET') return [route.method]
  const hasOwnHead = plane.routes.some(({ method, path }) => method === 'HEAD' && path === route.path)
  return hasOwnHead ? ['GET'] : ['GET', 'HEAD']
}

/** Every method that some route takes at this path; empty when there is no such path. */
export function allowedMethods(plane: Plane, path: string): readonly Method[] {
  const found = plane.routes
    .filter((route) => pathsOf(plane, route).some((template) => matches(route, template, path)))
    .flatMap((route) => methodsOf(plane, route))
  return [...new Set(found)].sort()
}

/** Number of segments before the wildcard of a template, or null when it has none. */
export function wildcardDepth(template: string): number | null {
  return /\{[a-z]+\.\.\.\}$/i.test(template) ? template.split('/').length - 2 : null
}

function matches({ forms = {} }: RouteDefinition, template: string, path: string): boolean {
  const wanted = template.split('/')
  const given = path.split('/')
  const depth = wildcardDepth(template)
  if (depth === null ? given.length !== wanted.length : given.length < wanted.length) return false
  const fixed = depth === null ? wanted : wanted.slice(0, depth + 1)
  return fixed.every((segment, i) => {
    const [, name, verb = ''] = /^\{(\w+)\}(:\w+)?$/.exec(segment) ?? []
    const text = given[i] ?? ''
    if (name === undefined) return segment === text
    return text.endsWith(verb) && (forms[name]?.test(text.slice(0, text.length - verb.length)) ?? true)
  })
}
