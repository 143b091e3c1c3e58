/**
 * The two servers on loopback sockets over MemoryServices, and a client that sends exactly the given request.
 *
 * Rule: every answer of `call` is checked against the contract: a success against the schema of its route,
 * anything else against the problem body; both must carry the request id.
 */
import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { createAdminServer } from '../../src/api/server/admin-server.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { type Edge, PLAIN_EDGE } from '../../src/api/edge.ts'
import { pathsOf, type Plane } from '../../src/api/plane.ts'
import { type ProblemCode, STATUS_OF } from '../../src/api/problem.ts'
import { problemCodes } from '../../src/api/problem-codes.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import type { RouteDefinition } from '../../src/api/route.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { onEdges } from '../helpers/on-edges.ts'

interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

export interface Ask {
  readonly method?: string
  /** Sent verbatim. */
  readonly path: string
  readonly token?: string
  readonly headers?: http.OutgoingHttpHeaders
  /** A plain object is sent as JSON. */
  readonly body?: string | Buffer | object
  readonly admin?: boolean
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
  /** The body as JSON; {} when it is none. */
  readonly json: Record<string, unknown>
  readonly code: unknown
}

export const METRICS = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  render: async () => 'up 1\n',
  ...NO_METER,
}
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export class ApiWorld {
  readonly memory: MemoryServices
  readonly dataPort: number
  readonly adminPort: number
  readonly dataServer: ReturnType<typeof createDataServer>
  /** Problem codes received so far. */
  readonly codes = new Set<string>()
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #planes: { readonly data: Plane; readonly admin: Plane }

  static async start(
    t: Teardown,
    options: Parameters<typeof MemoryServices.start>[1] & { readonly edge?: Pick<Edge, 'threads'> } = {},
  ): Promise<ApiWorld> {
    const { edge = onEdges(), ...own } = options
    const memory = await MemoryServices.start(t, own)
    const data = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, ...edge })
    const admin = createAdminServer(memory.services, METRICS)
    await data.listen({ host: '127.0.0.1', port: 0 })
    await admin.listen({ host: '127.0.0.1', port: 0 })
    const world = new ApiWorld(memory, data, admin)
    t.teardown(async () => {
      world.#agent.destroy()
      await data.close()
      await admin.close()
    })
    return world
  }

  private constructor(
    memory: MemoryServices,
    data: ReturnType<typeof createDataServer>,
    admin: ReturnType<typeof createAdminServer>,
  ) {
    this.memory = memory
    this.dataServer = data
    this.dataPort = (data.server.address() as AddressInfo).port
    this.adminPort = (admin.server.address() as AddressInfo).port
    this.#planes = { data: dataPlane, admin: adminPlane(METRICS) }
  }

  /** With the tenant `acme`, its bucket `photos` and a bearer token for everything. */
  static async withBucket(
    t: Teardown,
    options: Parameters<typeof ApiWorld.start>[1] = {},
  ): Promise<{ world: ApiWorld; token: string }> {
    const world = await ApiWorld.start(t, options)
    await world.memory.tenant('acme')
    const token = await world.memory.bearer('acme')
    const made = await world.call({
      method: 'POST',
      path: '/api/v1/buckets',
      token,
      body: { name: 'photos' },
    })
    assert.equal(made.status, 201)
    return { world, token }
  }

  async call(ask: Ask): Promise<ApiAnswer> {
    const answer = await this.send(ask)
    this.#holdAgainstContract(ask, answer)
    return answer
  }

  send(ask: Ask): Promise<ApiAnswer> {
    const { method = 'GET', path, token, body, admin = false } = ask
    const isPlain = typeof body === 'object' && !Buffer.isBuffer(body)
    // Bytes, because Node writes the headers in the encoding of a first text.
    const payload = body === undefined ? undefined : Buffer.from(isPlain ? JSON.stringify(body) : body)
    const given: http.OutgoingHttpHeaders = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(isPlain ? { 'content-type': 'application/json' } : {}),
      ...(payload === undefined ? {} : { 'content-length': payload.length }),
      ...ask.headers,
    }
    const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    const port = admin ? this.adminPort : this.dataPort
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, headers, agent: this.#agent }
      const request = http.request(options, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => resolve(answerFrom(response, Buffer.concat(pieces))))
      })
      request.on('error', reject)
      request.end(payload)
    })
  }

  /** Writes bytes to a socket of its own and reads until the server closes it. */
  raw(text: string | Buffer, admin = false): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(admin ? this.adminPort : this.dataPort, '127.0.0.1')
      const pieces: Buffer[] = []
      socket.on('data', (piece) => pieces.push(piece))
      socket.on('error', reject)
      socket.on('close', () => resolve(Buffer.concat(pieces).toString('latin1')))
      socket.write(text)
    })
  }

  #holdAgainstContract(ask: Ask, answer: ApiAnswer): void {
    const { status, headers, json, bytes } = answer
    const method = ask.method ?? 'GET'
    const summary = `${method} ${ask.path} -> ${status} ${bytes.subarray(0, 300).toString()}`
    assert.match(String(headers['x-request-id']), REQUEST_ID, summary)
    assert.equal(headers['x-served-by'], 'n1', summary)
    this.#checkRate(ask, answer, summary)
    if (status >= 400) {
      assert.equal(headers['content-type'], 'application/problem+json', summary)
      if (status === 401) assert.ok(headers['www-authenticate'], summary)
      if (status === 503) assert.match(`${headers['retry-after']}`, /^[1-9]\d*$/, summary)
      if (method !== 'HEAD') this.#checkProblem(json, answer)
      this.#checkListed(ask, answer, summary)
      return
    }
    const route = this.#routeOf(ask)
    assert.ok(route, `no route for ${summary}`)
    const statuses = [route.success.status, ...Object.keys(route.otherStatuses ?? {}).map(Number)]
    assert.ok(statuses.includes(status), summary)
    const schema = schemaOf(route, status)
    if (schema !== undefined && method !== 'HEAD') {
      assert.equal(headers['content-type'], 'application/json', summary)
      const faults = errorsOf(schema, json)
      assert.deepEqual(faults, [], summary)
    }
  }

  /** An answer to a valid admin token carries its remaining requests. */
  #checkRate(ask: Ask, { status, headers }: ApiAnswer, summary: string): void {
    const isProved = ask.token !== undefined && (status < 400 || status === 403)
    if (ask.admin !== true || this.#routeOf(ask)?.auth !== 'admin' || !isProved) return
    assert.match(String(headers['ratelimit-policy']), /^"default";q=\d+;w=60;burst=\d+$/, summary)
    assert.match(String(headers['ratelimit']), /^"default";r=\d+;t=\d+$/, summary)
  }

  #checkProblem(json: Record<string, unknown>, answer: ApiAnswer): void {
    assert.equal(json['status'], answer.status)
    assert.equal(json['requestId'], answer.headers['x-request-id'])
    assert.equal(json['detail'], json['message'])
    for (const name of ['type', 'title', 'instance', 'message'])
      assert.equal(typeof json[name], 'string', name)
    const { code } = json
    assert.ok(typeof code === 'string' && Object.hasOwn(STATUS_OF, code), `${String(code)} is a known code`)
    assert.ok(!/\bat .*\.ts:\d+/.test(answer.bytes.toString()), 'no stack leaves the server')
    this.codes.add(code)
  }

  /** The document lists the codes that each route may answer. */
  #checkListed(ask: Ask, { code, status }: ApiAnswer, summary: string): void {
    const route = this.#routeOf(ask)
    if (route === undefined) return
    const listed = problemCodes(route)
    if (typeof code === 'string') assert.ok(listed.includes(code as ProblemCode), `not listed: ${summary}`)
    else
      assert.ok(
        listed.some((one) => STATUS_OF[one] === status),
        `not listed: ${summary}`,
      )
  }

  #routeOf(ask: Ask): RouteDefinition | undefined {
    const plane = ask.admin === true ? this.#planes.admin : this.#planes.data
    const path = ask.path.split('?')[0] ?? ''
    const method = ask.method ?? 'GET'
    // The longest template is the most specific one.
    const exact = plane.routes
      .filter((route) => route.method === method && isAt(plane, route, path))
      .toSorted((a, b) => b.path.split('/').length - a.path.split('/').length)[0]
    return exact ?? plane.routes.find((route) => method === 'HEAD' && isAt(plane, route, path))
  }
}

/** Of the JSON that comes with this status of success. */
function schemaOf({ success, otherStatuses = {} }: RouteDefinition, status: number): TSchema | undefined {
  const other = otherStatuses[status]
  if (typeof other === 'object') return other.schema
  return success.content?.type === 'application/json' ? success.content.schema : undefined
}

function answerFrom(response: http.IncomingMessage, bytes: Buffer): ApiAnswer {
  const { headers, statusCode = 0 } = response
  const json = asJson(bytes)
  return { status: statusCode, headers, bytes, json, code: json['code'] }
}

function asJson(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function isAt(plane: Plane, route: RouteDefinition, path: string): boolean {
  return pathsOf(plane, route).some((template) => {
    const segment = (_: string, name: string): string =>
      route.forms?.[name]?.source.replace(/^\^|\$$/g, '') ?? '[^/]+'
    const pattern = template.replace(/\{\w+\.\.\.\}/, '.*').replace(/\{(\w+)\}/g, segment)
    return new RegExp(`^${pattern}$`, 's').test(path)
  })
}

/** `format` is not checked by the compiler's default; only the shape counts here. */
function errorsOf(schema: TSchema, value: unknown): readonly unknown[] {
  return Compile(schema).Errors(value)
}
