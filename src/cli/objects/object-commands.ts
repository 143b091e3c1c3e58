/**
 * `holdfast cp`, `stat` and `sign`: commands about one object that do not transfer its bytes.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printLine, versionText } from '../base/printing.ts'
import { objectPath, type RemotePath, remotePath } from './remote-path.ts'

interface OneObjectOptions extends DataAccessOptions {
  readonly versionId?: string
  readonly json?: boolean
}

export type CopyOptions = OneObjectOptions
export type StatOptions = OneObjectOptions

export interface SignOptions extends DataAccessOptions {
  readonly method: 'GET' | 'PUT'
  /** Milliseconds. */
  readonly ttl?: number
  readonly contentType?: string
  readonly contentLengthMax?: number
  readonly reason?: string
  readonly json?: boolean
}

/** The service copies; no bytes pass through the client. */
export function copy(from: string, to: string, { versionId, json, ...access }: CopyOptions): Promise<number> {
  const source = objectPath(from)
  const named = remotePath(to)
  const isFolder = named.key === '' || named.key.endsWith('/')
  const key = isFolder ? named.key + (source.key.split('/').at(-1) ?? '') : named.key
  const version = versionId === undefined ? {} : { sourceVersionId: versionId }
  const body = { sourceBucket: source.bucket, sourceKey: source.key, ...version }
  return askData(access, async (client) => {
    const { answer } = await client.call('copyObject', { params: { bucket: named.bucket, key }, body })
    if (json) printJson(answer)
    else note(`${printable(`${answer.bucket}/${answer.key}`)}  ${versionText(answer)}copied`)
    return EXIT.done
  })
}

export function stat(path: string, { versionId, json, ...access }: StatOptions): Promise<number> {
  const params = objectPath(path)
  return askData(access, async (client) => {
    const query = versionId === undefined ? {} : { versionId }
    const { headers } = await client.call('headObject', { params, query })
    const facts = { ...params, ...factsOf(headers), ...(await exactTime(client, params, headers)) }
    if (json) printJson(facts)
    else printFacts(facts)
    return EXIT.done
  })
}

/** The time with milliseconds, as listings have it; the header has seconds. Nothing where this key may not list. */
async function exactTime(
  client: DataClient,
  { bucket, key }: RemotePath,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly lastModified?: string }> {
  const versionId = headers['x-service-version-id'] ?? 'null'
  const call = { params: { bucket }, query: { prefix: key, maxKeys: VERSIONS_SEARCHED } }
  try {
    const { answer } = await client.call('listObjectVersions', call)
    const listed = answer.versions.find((one) => one.key === key && one.versionId === versionId)
    return listed === undefined ? {} : { lastModified: listed.lastModified }
  } catch (cause) {
    if (cause instanceof ApiError && cause.status < 500) return {}
    throw cause
  }
}

/** The newest come first; an older version keeps the seconds of its header. */
const VERSIONS_SEARCHED = 100

const CHECKSUM = /^x-service-checksum-(?!type$)(.+)$/
const METADATA = /^x-service-meta-(.+)$/

/** The properties of an object, from its headers. */
export function factsOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const collected = (pattern: RegExp, nameOf: (found: string) => string) =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => {
        const found = pattern.exec(name)?.[1]
        return found === undefined ? [] : [[nameOf(found), value]]
      }),
    )
  const mode = headers['x-service-retention-mode']
  return {
    versionId: headers['x-service-version-id'] ?? null,
    size: Number(headers['x-service-object-length']),
    etag: (headers['etag'] ?? '').replaceAll('"', ''),
    contentType: headers['content-type'] ?? null,
    lastModified: new Date(headers['last-modified'] ?? '').toISOString(),
    checksums: collected(CHECKSUM, (name) => name.toUpperCase()),
    metadata: collected(METADATA, (name) => name),
    ...representationIn(headers),
    encryption: headers['x-service-encryption'] ?? null,
    compression: headers['x-service-compression'] ?? null,
    retention: mode === undefined ? null : { mode, retainUntil: headers['x-service-retain-until'] },
    legalHold: headers['x-service-legal-hold'] ?? null,
    tagCount: Number(headers['x-service-tag-count'] ?? 0),
    partsCount: Number(headers['x-service-parts-count'] ?? 1),
  }
}

/** Only what the object has. */
function representationIn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const members = {
    cacheControl: headers['cache-control'],
    contentDisposition: headers['content-disposition'],
    contentEncoding: headers['content-encoding'],
    contentLanguage: headers['content-language'],
    expires: headers['expires'],
  }
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

export function sign(path: string, options: SignOptions): Promise<number> {
  const { method, ttl, json = false } = options
  const { bucket, key } = remotePath(path)
  const isPrefix = key === '' || key.endsWith('/')
  if (isPrefix && method === 'GET')
    throw new CommandError(`'${path}' is not an object`, {
      code: 'invalid_argument',
      hint: 'Only a URL for uploads (--method PUT) can apply to a whole prefix.',
      exitCode: EXIT.usage,
    })
  const { contentType, contentLengthMax, reason } = options
  const requested = {
    method,
    bucket,
    ...(isPrefix ? { keyPrefix: key } : { key }),
    ...(ttl === undefined ? {} : { ttlSeconds: Math.ceil(ttl / 1000) }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(contentLengthMax === undefined ? {} : { contentLengthMax }),
    ...(reason === undefined ? {} : { reason }),
  }
  return askData(options, async (client) => {
    const { answer } = await client.call('signURL', { body: requested })
    if (json) printJson(answer)
    else {
      printLine(answer.url)
      const headers = Object.entries(answer.requiredHeaders).map(
        ([name, value]) => `, with ${name}: ${value}`,
      )
      note(`${method} until ${answer.expiresAt}${headers.join('')}. Anyone with this URL can use it.`)
    }
    return EXIT.done
  })
}
