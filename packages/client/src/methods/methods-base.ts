/**
 * What the generated methods have in common: one call, and all pages of a listing.
 *
 * Owns: how answers are handed out. Knows nothing of: any operation; the generated table of routes defines them.
 * Rule: a listing ends when the service says so, and fails when it does not advance.
 */
import { HoldfastError, NotModifiedError } from '../call/errors.ts'
import type { Sent } from '../call/api-client.ts'
import { callOf, type MethodOptions } from '../call/methods.ts'
import type { Call, Route } from '../call/operation.ts'
import { objectHeadOf } from './object-head.ts'

export type Routes = Readonly<Record<string, Route>>
export type Send = (operation: string, call: Call, options: MethodOptions) => Promise<Sent>

/** The answer to a dry run. */
export interface Planned {
  readonly dryRun: boolean
}

type PageTable<P> = { readonly [K in keyof P]: { readonly input: object; readonly page: object } }

class Runs {
  readonly #routes: Routes
  readonly #send: Send

  constructor(routes: Routes, send: Send) {
    this.#routes = routes
    this.#send = send
  }

  /** `A` is the answer that the generated method declares: both are of one document. */
  async sent<A>(
    operation: string,
    input: object | undefined,
    options: MethodOptions,
    more: Call = {},
  ): Promise<A> {
    const route = this.route(operation)
    const call = callOf(operation, route, input)
    const sent = await this.#send(operation, { ...call, query: { ...call.query, ...more.query } }, options)
    const { status, headers, answer } = sent
    options.onAnswer?.({ status, headers, requestId: headers['x-request-id'] ?? null })
    if (status === 304) throw new NotModifiedError(operation, { status, headers, bytes: new Uint8Array() })
    return handedOut(route, headers, answer) as A
  }

  route(operation: string): Route {
    const route = Object.hasOwn(this.#routes, operation) ? this.#routes[operation] : undefined
    if (route === undefined) throw new HoldfastError(`There is no operation '${operation}'`)
    return route
  }
}

function handedOut({ answer: kind, method }: Route, headers: Sent['headers'], answer: unknown): unknown {
  if (kind === 'bytes') return { ...objectHeadOf(headers), body: answer }
  return method === 'HEAD' ? objectHeadOf(headers) : answer
}

/** `P`: the operations with pages. */
export abstract class Methods<P extends PageTable<P>> {
  readonly #runs: Runs

  constructor(routes: Routes, send: Send) {
    this.#runs = new Runs(routes, send)
  }

  /** The pages of a listing, from the first to the last: `for await (const page of client.pages('listObjects', { bucket }))`. */
  async *pages<K extends Extract<keyof P, string>>(
    operation: K,
    input?: P[K]['input'],
    options: MethodOptions = {},
  ): AsyncGenerator<P[K]['page'], void, undefined> {
    const { cursors } = this.#runs.route(operation)
    let from: Readonly<Record<string, unknown>> = {}
    for (;;) {
      const page = await this.#runs.sent<Awaited<P[K]['page']>>(operation, { ...input, ...from }, options)
      yield page
      const next = nextOf(page, cursors)
      if (next === null) return
      if (JSON.stringify(next) === JSON.stringify(from))
        throw new HoldfastError(
          `${operation} was answered with the same page again: the listing does not advance`,
        )
      from = next
    }
  }

  protected run<A>(operation: string, input: object | undefined, options: MethodOptions = {}): Promise<A> {
    return this.#runs.sent<A>(operation, input, options)
  }

  protected async *each<T>(
    operation: string,
    input: object | undefined,
    options: MethodOptions = {},
  ): AsyncGenerator<T, void, undefined> {
    const { items } = this.#runs.route(operation)
    const pages = this.pages(operation as Extract<keyof P, string>, input as P[keyof P]['input'], options)
    for await (const page of pages) yield* (page as Readonly<Record<string, readonly T[]>>)[items ?? ''] ?? []
  }
}

function nextOf(page: object, cursors: readonly string[]): Readonly<Record<string, unknown>> | null {
  const values = page as Readonly<Record<string, unknown>>
  if (values['isTruncated'] !== true) return null
  const next = cursors.flatMap((name) => {
    const value = values[`next${name[0]?.toUpperCase()}${name.slice(1)}`]
    return value === undefined || value === null ? [] : [[name, value] as const]
  })
  return next.length === 0 ? null : Object.fromEntries(next)
}

/** Operations with `dryRun`: they return what they would do. */
export class DryMethods {
  readonly #runs: Runs

  constructor(routes: Routes, send: Send) {
    this.#runs = new Runs(routes, send)
  }

  protected run<A>(operation: string, input: object | undefined, options: MethodOptions = {}): Promise<A> {
    // Nothing changes, so it may be repeated whatever the method is.
    return this.#runs.sent<A>(
      operation,
      input,
      { isRepeatable: true, ...options },
      { query: { dryRun: true } },
    )
  }
}
