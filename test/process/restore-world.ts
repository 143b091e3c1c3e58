/**
 * Tenants with everything that a restore has to bring back, and what their clients see of it.
 *
 * Owns: the contents, the way to look at them. Knows nothing of: backups. Rule: what is compared is what clients receive, version by version, without the ids that a restore
 * gives to versions.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { Agent, request } from 'undici'
import { pathOf } from '../helpers/object-client.ts'
import { type Answer, type Asked, type ProcessCluster, sha256 } from '../helpers/process-cluster.ts'

/** Bytes that no compression makes smaller, the same for each seed. */
export function bytesOf(seed: string, size: number): Buffer {
  const key = createHash('sha256').update(seed).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
}

export interface TenantCall {
  readonly method: Asked['method']
  /** Below /api/v1/buckets. */
  readonly path: string
  readonly body?: Uint8Array | object
  readonly headers?: Readonly<Record<string, string>>
}

/** A client of one tenant, at any node. */
export class TenantClient {
  readonly #cluster: ProcessCluster
  readonly #key: { readonly accessKeyId: string; readonly secretKey: string }
  readonly #agent = new Agent({ keepAliveTimeout: 1000 })
  #token = ''

  private constructor(
    cluster: ProcessCluster,
    key: { readonly accessKeyId: string; readonly secretKey: string },
  ) {
    this.#cluster = cluster
    this.#key = key
  }

  /** With a key of its own, which an owner makes. */
  static async of(cluster: ProcessCluster, nodeId: string, tenantId: string): Promise<TenantClient> {
    const body = { scopes: 'read,write,delete,admin' }
    const { status, body: text } = await cluster.admin(nodeId, {
      method: 'POST',
      path: `/tenants/${tenantId}/keys`,
      body,
    })
    if (status !== 201) throw new Error(`key of ${tenantId}: ${status} ${text.toString()}`)
    const { accessKeyId, secretKey } = JSON.parse(text.toString()) as {
      accessKeyId: string
      secretKey: string
    }
    const client = new TenantClient(cluster, { accessKeyId, secretKey })
    await client.login(nodeId)
    return client
  }

  async login(nodeId: string): Promise<void> {
    const { status, body } = await this.#ask(nodeId, {
      method: 'POST',
      path: '/auth/token',
      body: this.#key,
    })
    if (status !== 200) throw new Error(`no token: ${status} ${body.toString()}`)
    this.#token = (JSON.parse(body.toString()) as { token: string }).token
  }

  ask(nodeId: string, call: TenantCall): Promise<Answer> {
    return this.#ask(nodeId, { ...call, path: `/buckets${call.path}` })
  }

  /** Throws unless the answer is a success. */
  async must(nodeId: string, call: TenantCall): Promise<Answer> {
    const answer = await this.ask(nodeId, call)
    if (answer.status < 300) return answer
    throw new Error(`${call.method} ${call.path}: ${answer.status} ${answer.body.toString()}`)
  }

  async #ask(nodeId: string, call: TenantCall): Promise<Answer> {
    const { method, path, body, headers: more = {} } = call
    const isJson = body !== undefined && !(body instanceof Uint8Array)
    const headers = {
      ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...more,
    }
    const sent = isJson ? JSON.stringify(body) : (body ?? null)
    const url = `${this.#cluster.node(nodeId).dataUrl}/api/v1${path}`
    const answer = await request(url, { method, headers, body: sent, dispatcher: this.#agent })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, body: bytes }
  }
}

const CLIENT_KEY = createHash('sha256').update('a key of a client').digest()
const WITH_KEY = {
  'x-service-customer-algorithm': 'AES256',
  'x-service-customer-key': CLIENT_KEY.toString('base64'),
  'x-service-customer-key-md5': createHash('md5').update(CLIENT_KEY).digest('base64'),
}
/** Of the bucket `plain`: only its client has the key. */
export const SECRET = 'secret'

const PAST_A_YEAR = 400 * 86_400_000

/** A bucket with versions, locks and settings, one without versions, and one whose versioning was suspended. */
export async function fill(client: TenantClient, seed: string): Promise<void> {
  const put = (path: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    client.must('n2', { method: 'PUT', path, body, headers })
  const locked = { name: 'kept', versioning: 'Enabled', objectLockEnabled: true }
  for (const body of [locked, { name: 'plain' }, { name: 'mixed' }])
    await client.must('n1', { method: 'POST', path: '', body })
  const until = new Date(Date.now() + PAST_A_YEAR).toISOString()
  const retained = { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': until }
  for (let n = 0; n < 3; n++)
    for (const key of ['a', 'b', 'c/ü d'])
      await put(`/kept/objects/${pathOf(key)}`, bytesOf(`${seed}${key}${n}`, 40_000 + n), {
        'content-type': `text/x-${n}`,
        'x-service-meta-round': `${n}`,
        'x-service-tagging': `round=${n}&of=${seed}`,
        ...(n === 1 ? retained : {}),
        ...(n === 2 && key === 'a' ? { 'x-service-legal-hold': 'ON' } : {}),
      })
  await client.must('n1', { method: 'DELETE', path: '/kept/objects/b' })
  await put('/kept/objects/small', Buffer.from(`small of ${seed}`))
  await put('/kept/objects/none', Buffer.alloc(0))
  await put('/plain/objects/large', bytesOf(`${seed}large`, 9_500_000), { 'cache-control': 'no-store' })
  for (let n = 0; n < 70; n++) await put(`/plain/objects/s${n}`, Buffer.from(`${seed} ${n}`))
  await put(`/plain/objects/${SECRET}`, bytesOf(`${seed}secret`, 4_300_000), WITH_KEY)
  await assemble(client, seed)
  await put('/mixed/objects/x', Buffer.from(`first of ${seed}`))
  const versioning = (status: string) =>
    client.must('n3', { method: 'PUT', path: '/mixed/versioning', body: { status } })
  await versioning('Enabled')
  await put('/mixed/objects/x', bytesOf(`${seed}second`, 30_000))
  await put('/mixed/objects/y', bytesOf(`${seed}y`, 30_000))
  await versioning('Suspended')
  await put('/mixed/objects/y', Buffer.from(`null of ${seed}`))
  await client.must('n1', { method: 'DELETE', path: '/mixed/objects/x' })
  await settle(client)
}

async function assemble(client: TenantClient, seed: string): Promise<void> {
  const path = '/plain/multipart'
  const started = await client.must('n1', {
    method: 'POST',
    path: `${path}/film`,
    headers: { 'content-type': 'video/x' },
  })
  const { uploadId } = JSON.parse(started.body.toString()) as { readonly uploadId: string }
  const parts: { partNumber: number; etag: string }[] = []
  for (const [partNumber, size] of [
    [2, 6_000_000],
    [5, 5_300_000],
    [9, 1_000],
  ] as const) {
    const body = bytesOf(`${seed}film${partNumber}`, size)
    const put = await client.must('n3', {
      method: 'PUT',
      path: `${path}/${uploadId}/parts/${partNumber}/film`,
      body,
    })
    const { etag } = JSON.parse(put.body.toString()) as { readonly etag: string }
    parts.push({ partNumber, etag })
  }
  await client.must('n2', { method: 'POST', path: `${path}/${uploadId}/complete/film`, body: { parts } })
}

/** Settings of the bucket `kept`. */
async function settle(client: TenantClient): Promise<void> {
  const cors = {
    rules: [{ allowedOrigins: ['https://a.example'], allowedMethods: ['GET'], allowedHeaders: ['*'] }],
  }
  const lifecycle = {
    rules: [{ id: 'old', status: 'Enabled', filter: { prefix: 'tmp/' }, expiration: { days: 3650 } }],
  }
  await client.must('n1', { method: 'PUT', path: '/kept/cors', body: cors })
  await client.must('n1', { method: 'PUT', path: '/kept/lifecycle', body: lifecycle })
  const body = { defaultRetention: { mode: 'GOVERNANCE', days: 1 } }
  await client.must('n1', { method: 'PUT', path: '/kept/object-lock', body })
}

interface ListedVersion {
  readonly key: string
  readonly versionId: string
  readonly size?: number
}

/** Of a version: everything but its id. */
export type SeenVersion = Readonly<Record<string, unknown>>

const HEADERS_OF_ANSWERS = new Set([
  'x-service-version-id',
  'x-request-id',
  'x-served-by',
  'x-service-request-id',
  'date',
  'connection',
  'keep-alive',
])

/** Everything that clients see of a bucket, in the order of its listing. */
export async function versionsOf(
  client: TenantClient,
  nodeId: string,
  bucket: string,
): Promise<readonly SeenVersion[]> {
  const listing = await client.must(nodeId, { method: 'GET', path: `/${bucket}/versions?maxKeys=1000` })
  const { versions } = JSON.parse(listing.body.toString()) as { readonly versions: readonly ListedVersion[] }
  const seen: SeenVersion[] = []
  for (const { versionId, ...version } of versions) {
    const isNull = versionId === 'null'
    if (version.size === undefined) {
      seen.push({ ...version, isNull })
      continue
    }
    const at = `${pathOf(version.key)}?versionId=${versionId}`
    const key = version.key === SECRET ? WITH_KEY : {}
    const read = await client.ask(nodeId, { method: 'GET', path: `/${bucket}/objects/${at}`, headers: key })
    const tags = await client.ask(nodeId, { method: 'GET', path: `/${bucket}/object-tags/${at}` })
    const headers = Object.fromEntries(
      Object.entries(read.headers).filter(
        ([name]) => !HEADERS_OF_ANSWERS.has(name) && !name.startsWith('ratelimit'),
      ),
    )
    const status = read.status
    seen.push({ ...version, isNull, status, headers, tags: tagsIn(tags), digest: sha256(read.body) })
  }
  return seen
}

function tagsIn({ status, body }: Answer): unknown {
  return status === 200 ? (JSON.parse(body.toString()) as { tags: unknown }).tags : status
}

/** Settings that come back. */
export async function settingsOf(
  client: TenantClient,
  nodeId: string,
  bucket: string,
): Promise<{
  readonly versioning: unknown
  readonly cors: unknown
  readonly lock: unknown
  readonly rules: readonly { readonly status: string }[]
}> {
  const read = async (part: string): Promise<unknown> => {
    const { status, body } = await client.ask(nodeId, { method: 'GET', path: `/${bucket}/${part}` })
    return status === 200 ? JSON.parse(body.toString()) : status
  }
  const [versioning, cors, lock] = [await read('versioning'), await read('cors'), await read('object-lock')]
  const { rules = [] } = (await read('lifecycle')) as {
    readonly rules?: readonly { readonly status: string }[]
  }
  return { versioning, cors, lock, rules }
}
